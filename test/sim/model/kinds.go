package model

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// kind is a row of what the model stores.
type kind struct {
	schema.GroupVersionKind
	defaults func(runtime.Object)                      // fills in what the server does
	strange  func(runtime.Object) string               // what of an object the model does not cover; "" for nothing
	carry    func(live, o runtime.Object)              // keeps what a write does not change; live is nil for a new object
	returned bool                                      // when it is deleted
	reset    map[fieldpath.APIVersion]fieldpath.Filter // what no writer of the object owns
}

// kinds are what the model stores, by resource. Of the others that a client looks at it knows that
// there are none.
var kinds = map[string]kind{
	"configmaps":      {GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), strange: strangeConfigMap},
	"secrets":         {GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), defaults: defaultSecret, strange: strangeSecret},
	"serviceaccounts": {GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ServiceAccount"), strange: strangeServiceAccount, returned: true},
	"deployments": {GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("Deployment"), defaults: defaultDeployment, strange: strangeDeployment, carry: carryDeployment,
		reset: map[fieldpath.APIVersion]fieldpath.Filter{"apps/v1": fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("status")))}},
}

func strangeConfigMap(o runtime.Object) string {
	c := o.(*corev1.ConfigMap)
	if c.Immutable != nil || len(c.BinaryData) > 0 {
		return "immutable, binaryData"
	}
	return strangeKeys(c.Data)
}

func strangeKeys[T any](data map[string]T) string {
	for k := range data {
		if len(validation.IsConfigMapKey(k)) > 0 {
			return "an invalid key"
		}
	}
	return ""
}

func defaultSecret(o runtime.Object) {
	if s := o.(*corev1.Secret); s.Type == "" {
		s.Type = corev1.SecretTypeOpaque
	}
}

func strangeSecret(o runtime.Object) string {
	s := o.(*corev1.Secret)
	if s.Immutable != nil || len(s.StringData) > 0 || s.Type != corev1.SecretTypeOpaque {
		return "immutable, stringData, and types other than Opaque"
	}
	return strangeKeys(s.Data)
}

func strangeServiceAccount(o runtime.Object) string {
	if s := o.(*corev1.ServiceAccount); len(s.Secrets)+len(s.ImagePullSecrets) > 0 || s.AutomountServiceAccountToken != nil {
		return "what a ServiceAccount has besides metadata"
	}
	return ""
}

// defaultDeployment does what the API server's defaulting functions do to the fields that
// strangeDeployment lets pass.
func defaultDeployment(o runtime.Object) {
	spec := &o.(*appsv1.Deployment).Spec
	set(&spec.Replicas, 1)
	set(&spec.RevisionHistoryLimit, 10)
	set(&spec.ProgressDeadlineSeconds, 600)
	if spec.Strategy.Type == "" {
		spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	}
	if spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		if spec.Strategy.RollingUpdate == nil {
			spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{}
		}
		set(&spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
		set(&spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
	}
	pod := &spec.Template.Spec
	if pod.RestartPolicy == "" {
		pod.RestartPolicy = corev1.RestartPolicyAlways
	}
	if pod.DNSPolicy == "" {
		pod.DNSPolicy = corev1.DNSClusterFirst
	}
	if pod.SchedulerName == "" {
		pod.SchedulerName = corev1.DefaultSchedulerName
	}
	set(&pod.TerminationGracePeriodSeconds, 30)
	set(&pod.SecurityContext, corev1.PodSecurityContext{})
	for i := range pod.Containers {
		defaultContainer(&pod.Containers[i])
	}
}

func defaultContainer(c *corev1.Container) {
	if c.TerminationMessagePath == "" {
		c.TerminationMessagePath = corev1.TerminationMessagePathDefault
	}
	if c.TerminationMessagePolicy == "" {
		c.TerminationMessagePolicy = corev1.TerminationMessageReadFile
	}
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = corev1.PullIfNotPresent
		if name := c.Image[strings.LastIndexByte(c.Image, '/')+1:]; !strings.Contains(name, ":") || strings.HasSuffix(name, ":latest") {
			c.ImagePullPolicy = corev1.PullAlways
		}
	}
}

func set[T any](to **T, v T) {
	if *to == nil {
		*to = &v
	}
}

// strangeDeployment lets a Deployment pass that states replicas, and containers with name, image
// and env values.
func strangeDeployment(o runtime.Object) string {
	d := o.(*appsv1.Deployment)
	plain := &appsv1.Deployment{ObjectMeta: d.ObjectMeta, TypeMeta: d.TypeMeta, Status: d.Status}
	app := d.Name
	plain.Spec.Replicas, plain.Spec.Selector = d.Spec.Replicas, d.Spec.Selector
	plain.Spec.Template.Labels = map[string]string{"app": app}
	for _, c := range d.Spec.Template.Spec.Containers {
		named := corev1.Container{Name: c.Name, Image: c.Image, ImagePullPolicy: c.ImagePullPolicy}
		for _, e := range c.Env {
			named.Env = append(named.Env, corev1.EnvVar{Name: e.Name, Value: e.Value})
		}
		if c.Name == "" || c.Image == "" || len(named.Env) != len(slices.CompactFunc(slices.Clone(named.Env), func(a, b corev1.EnvVar) bool { return a.Name == b.Name })) {
			return "a container without name or image, or with one variable twice"
		}
		plain.Spec.Template.Spec.Containers = append(plain.Spec.Template.Spec.Containers, named)
	}
	defaultDeployment(plain)
	switch s := d.Spec.Selector; {
	case s == nil || len(s.MatchLabels) != 1 || s.MatchLabels["app"] != app || d.Spec.Replicas != nil && *d.Spec.Replicas < 0 || len(d.Spec.Template.Spec.Containers) == 0:
		return "a Deployment whose selector is not its name, or without containers"
	case !equality.Semantic.DeepEqual(plain, d):
		return "what a Deployment has besides replicas, names, images and variables"
	}
	return ""
}

// carryDeployment counts generations, and leaves status to its subresource.
func carryDeployment(live, o runtime.Object) {
	d := o.(*appsv1.Deployment)
	if live == nil {
		d.Status, d.Generation = appsv1.DeploymentStatus{}, 1
		return
	}
	was := live.(*appsv1.Deployment)
	d.Status, d.Generation = was.Status, was.Generation
	if !equality.Semantic.DeepEqual(was.Spec, d.Spec) || !equality.Semantic.DeepEqual(was.Annotations, d.Annotations) {
		d.Generation++
	}
}
