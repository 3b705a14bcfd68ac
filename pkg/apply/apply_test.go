package apply_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
)

func widget(size any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w", "namespace": "n"},
		"spec": map[string]any{"size": size},
	}}
}

func made(t *testing.T, o apply.Options) *apply.Planner {
	t.Helper()
	if o.Manager == "" {
		o.Manager = "shop"
	}
	p, err := apply.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// planned is a plan, and the live object that it leads to.
func planned(t *testing.T, p *apply.Planner, desired, live any) (*apply.Plan, *unstructured.Unstructured) {
	t.Helper()
	plan, err := p.Plan(t.Context(), desired, live)
	if err != nil {
		t.Fatal(err)
	}
	u, err := plan.Object()
	if err != nil {
		t.Fatal(err)
	}
	u.SetResourceVersion("1")
	return plan, u
}

func TestNumbersAreExact(t *testing.T) {
	p := made(t, apply.Options{})
	for _, size := range []any{int64(math.MaxInt64), int64(math.MinInt64), int64(9007199254740993), 0.1, 3.0, 1e300, -2.5e-10} {
		first, u := planned(t, p, widget(size), nil)
		if got, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "size"); got != size && !(size == 3.0 && got == int64(3)) {
			t.Errorf("%v (%T) became %v (%T)", size, size, got, got)
		}
		if again, _ := planned(t, p, widget(size), u); !first.Changed() || again.Changed() {
			t.Errorf("%v: %s, then %s", size, first, again)
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	p := made(t, apply.Options{})
	renamed, elsewhere := widget(int64(1)), widget(int64(1))
	renamed.SetName("v")
	elsewhere.SetNamespace("m")
	older := widget(int64(1))
	older.SetAPIVersion("example.com/v1alpha1")
	deleting := widget(int64(1))
	deleting.SetDeletionTimestamp(&metav1.Time{})
	deleting.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	for _, tt := range []struct {
		reason        string
		desired, live any
		want          string
	}{
		{"2^53 + 1 decoded as float64", widget(float64(9007199254740993)), nil, "desired: widget.example.com/w: spec.size: float64: may have been rounded"},
		{"no number", widget(math.NaN()), nil, "spec.size: float64: is no number of JSON"},
		{"a Go type that unstructured does not hold", widget(3), nil, "spec.size: is a Go int: unstructured holds"},
		{"the same in live", widget(int64(1)), widget(3), "live: widget.example.com/w: spec.size"},
		{"another name", widget(int64(1)), renamed, "live: widget.example.com/v: is not widget.example.com/w"},
		{"another version", widget(int64(1)), older, "live: widget.example.com/w: is of the version example.com/v1alpha1, and desired of example.com/v1: read it in that version"},
		{"another namespace", widget(int64(1)), elsewhere, "live: widget.example.com/w: is not"},
		{"nothing", nil, nil, "desired: the object: apiVersion: is not set"},
		{"a nil pointer", (*appsv1.Deployment)(nil), nil, "desired: the object: apiVersion: is not set"},
		{"no name", &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod"}}, nil, "metadata.name: is not set"},
		{"no object", 3, nil, "desired: a int is not an object"},
		{"no JSON", []byte("{"), nil, "desired: is not JSON"},
		{"what JSON cannot hold", func() {}, nil, "cannot be written as JSON"},
		{"an object that is being deleted", widget(int64(1)), deleting, "is being deleted since 2026-01-01"},
	} {
		_, err := p.Plan(t.Context(), tt.desired, tt.live)
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, apply.ErrDeleting) != (tt.live == deleting) {
			t.Errorf("%s: got %v, want %q in it", tt.reason, err, tt.want)
		}
	}
	bare := widget(int64(1))
	bare.SetNamespace("")
	if _, err := p.Plan(t.Context(), bare, elsewhere); err != nil {
		t.Errorf("a namespace that desired leaves out is live's: %v", err)
	}
	unbound := widget(int64(1))
	if plan, err := p.Plan(t.Context(), widget(int64(2)), unbound); err != nil {
		t.Error(err)
	} else if _, err := plan.Request(); err == nil || !strings.HasPrefix(err.Error(), "widget.example.com/w: metadata.resourceVersion") {
		t.Errorf("nothing binds the write: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct {
		o    apply.Options
		want string
	}{
		{apply.Options{}, "Manager: is not set"},
		{apply.Options{Manager: "m", Policy: "best"}, `"best"`},
		{apply.Options{Manager: "m", Rules: []byte("- winner: live\n")}, "Rules: "},
		{apply.Options{Manager: "m", ServerSide: true, Annotation: "a/b"}, "Annotation: "},
	} {
		if _, err := apply.New(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q in it", err, tt.want)
		}
	}
	if _, err := made(t, apply.Options{ServerSide: true}).Since(nil).Plan(t.Context(), widget(int64(1)), nil); err == nil {
		t.Error("server-side apply has no record of the caller's")
	}
}

func TestPlanNeverModifiesItsArguments(t *testing.T) {
	p := made(t, apply.Options{Labels: map[string]string{"a": "b"}}).OwnedBy(metav1.OwnerReference{Name: "o", UID: "1"})
	desired, live := widget(int64(2)), widget(int64(1))
	d, l := desired.DeepCopy(), live.DeepCopy()
	_, u := planned(t, p, desired, live)
	if err := unstructured.SetNestedField(u.Object, int64(7), "spec", "size"); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(desired, d) || !reflect.DeepEqual(live, l) {
		t.Error("an argument was modified")
	}
}

// TestOwners: an owner is added once, in whichever order the two state it.
func TestOwners(t *testing.T) {
	a, b := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "a", UID: "1"}, metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "b", UID: "2"}
	stated := widget(int64(1))
	stated.SetOwnerReferences([]metav1.OwnerReference{a})
	for _, server := range []bool{false, true} {
		p := made(t, apply.Options{ServerSide: server})
		for _, tt := range []struct {
			reason  string
			p       *apply.Planner
			desired *unstructured.Unstructured
			want    []metav1.OwnerReference
		}{
			{"desired states it", p.OwnedBy(a), stated, []metav1.OwnerReference{a}},
			{"desired states one of two", p.OwnedBy(b, a), stated, []metav1.OwnerReference{a, b}},
			{"twice", p.OwnedBy(a).OwnedBy(a), widget(int64(1)), []metav1.OwnerReference{a}},
			{"two", p.OwnedBy(a).OwnedBy(b), widget(int64(1)), []metav1.OwnerReference{a, b}},
		} {
			_, u := planned(t, tt.p, tt.desired, nil)
			if got := u.GetOwnerReferences(); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("server-side %v, %s: got %v, want %v", server, tt.reason, got, tt.want)
			}
			if again, _ := planned(t, tt.p, tt.desired, u); again.Changed() && !server {
				t.Errorf("%s: again: %s", tt.reason, again)
			}
		}
	}
}

// TestForms: the forms in which an object may be given mean the same.
func TestForms(t *testing.T) {
	p := made(t, apply.Options{})
	_, u := planned(t, p, widget(int64(1)), nil)
	for _, there := range []any{u, *u, u.Object} {
		if again, _ := planned(t, p, widget(int64(1)), there); again.Changed() {
			t.Errorf("live is a %T: %s", there, again)
		}
		if plan, _ := planned(t, p, there, nil); plan.String() != "create: it is not there" {
			t.Errorf("desired is a %T: %s", there, plan)
		}
	}
	for _, none := range []any{nil, []byte(nil), []byte("null"), map[string]any(nil), unstructured.Unstructured{}, (*unstructured.Unstructured)(nil)} {
		if plan, _ := planned(t, p, widget(int64(1)), none); plan.String() != "create: it is not there" {
			t.Errorf("live is a %T: %s", none, plan)
		}
	}
}

// TestTyped: typed objects as a cache has them, without TypeMeta and with empty values where the
// client found nothing.
func TestTyped(t *testing.T) {
	p := made(t, apply.Options{Scheme: scheme.Scheme})
	bare := deployment(3, "web:1")
	bare.TypeMeta = metav1.TypeMeta{}
	bare.UID = "mine"
	first, u := planned(t, p, bare, &appsv1.Deployment{})
	if u.GetKind() != "Deployment" || u.GetAPIVersion() != "apps/v1" || first.String() != "create: it is not there" {
		t.Errorf("%s of %s %s", first, u.GetAPIVersion(), u.GetKind())
	}
	if text, err := json.Marshal(u); err != nil || strings.Contains(string(text), "status") || strings.Contains(string(text), "creationTimestamp") {
		t.Errorf("what is the server's is sent: %s", text)
	}
	if w := first.Warnings(); len(w) != 1 || !strings.Contains(w[0], "metadata.uid") {
		t.Errorf("warnings: %q", w)
	}
	cached := deployment(3, "web:1")
	cached.TypeMeta, cached.ResourceVersion, cached.UID = metav1.TypeMeta{}, "1", types.UID("1")
	cached.Annotations = u.GetAnnotations()
	cached.Status.Replicas = 3
	cached.Spec.Template.Spec.RestartPolicy, cached.Spec.Template.Spec.Containers[0].ImagePullPolicy = corev1.RestartPolicyAlways, corev1.PullIfNotPresent
	if again, _ := planned(t, p, bare, cached); again.Changed() {
		t.Errorf("again: %s", again)
	}
	zeros, _ := planned(t, p, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "db"}}, nil)
	if w := zeros.Warnings(); len(w) > 0 {
		t.Errorf("a status that was never set: %q", w)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}}}
	_, u = planned(t, p, service, nil)
	balanced := service.DeepCopy()
	balanced.Annotations, balanced.ResourceVersion = u.GetAnnotations(), "1"
	balanced.Spec.Ports[0].NodePort, balanced.Spec.ExternalTrafficPolicy = 30080, corev1.ServiceExternalTrafficPolicyCluster
	service.Spec.Type = ""
	local, _ := planned(t, p, service, balanced)
	if got := local.String(); !strings.Contains(got, "nodePort: 30080 removed: excluded by what else changes") || strings.Count(got, "no longer states it") > 1 {
		t.Errorf("desired has stated the type alone: %s", got)
	}
	if _, err := p.Plan(t.Context(), &corev1.Pod{}, nil); err == nil || !strings.Contains(err.Error(), "metadata.name") {
		t.Errorf("got %v", err)
	}
	if _, err := made(t, apply.Options{}).Plan(t.Context(), bare, nil); err == nil || !strings.Contains(err.Error(), "apiVersion") {
		t.Errorf("no scheme: %v", err)
	}
}

// TestOriginals: what was applied last is found in kubectl's annotation, in another one, in the
// caller's record, or in managedFields, and what desired has dropped since is removed.
func TestOriginals(t *testing.T) {
	config := func(data string) []byte {
		return []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n"},"data":` + data + `}`)
	}
	for _, tt := range []struct {
		reason string
		o      apply.Options
		since  bool
	}{
		{reason: "kubectl's annotation"},
		{reason: "another annotation", o: apply.Options{Annotation: "shop.example.com/applied"}},
		{reason: "the caller's record", since: true},
		{reason: "managedFields", o: apply.Options{ServerSide: true}},
	} {
		p := made(t, tt.o)
		at := func(plan *apply.Plan) *apply.Planner {
			if tt.since && plan == nil {
				return p.Since(nil)
			} else if tt.since {
				return p.Since(plan.Applied())
			}
			return p
		}
		first, u := planned(t, at(nil), config(`{"a":"1","b":"2"}`), nil)
		if err := unstructured.SetNestedField(u.Object, "3", "data", "theirs"); err != nil {
			t.Fatal(err)
		}
		u.SetAnnotations(mapWith(u.GetAnnotations(), "theirs", "x"))
		if tt.o.ServerSide {
			u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "shop", Operation: "Apply", APIVersion: "v1", FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:a":{},"f:b":{}}}`)}})
		}
		second, v := planned(t, at(first), config(`{"a":"1"}`), u)
		data, _, _ := unstructured.NestedStringMap(v.Object, "data")
		if want := map[string]string{"a": "1", "theirs": "3"}; !reflect.DeepEqual(data, want) || second.String() != `data.b: "2" removed: desired no longer states it` && !tt.o.ServerSide {
			t.Errorf("%s: %v: %s", tt.reason, data, second)
		}
		_, kubectls := v.GetAnnotations()["kubectl.kubernetes.io/last-applied-configuration"]
		if own := v.GetAnnotations()[tt.o.Annotation]; kubectls != (tt.o.Annotation == "" && !tt.since && !tt.o.ServerSide) || (own != "") != (tt.o.Annotation != "") || v.GetAnnotations()["theirs"] != "x" {
			t.Errorf("%s: annotations %v", tt.reason, v.GetAnnotations())
		}
		if third, _ := planned(t, at(second), config(`{"a":"1"}`), v); third.Changed() && !tt.o.ServerSide {
			t.Errorf("%s: again: %s", tt.reason, third)
		}
	}
	broken := widget(int64(1))
	broken.SetAnnotations(map[string]string{"own": "{"})
	plan, _ := planned(t, made(t, apply.Options{Annotation: "own"}), widget(int64(1)), broken)
	if w := plan.Warnings(); len(w) != 1 || !strings.HasPrefix(w[0], "last-applied: what was recorded does not hold a configuration") {
		t.Errorf("warnings: %q", w)
	}
	if plan.String() != "record: only what is known of the last apply changes" {
		t.Errorf("got %s", plan)
	}
}

func mapWith(m map[string]string, k, v string) map[string]string {
	out := map[string]string{k: v}
	for a, b := range m {
		out[a] = b
	}
	return out
}

// TestKubectlIsAnother: with an annotation of its own, the caller treats what kubectl has applied
// as another manager's. With kubectl's annotation it continues kubectl's work.
func TestKubectlIsAnother(t *testing.T) {
	for _, tt := range []struct {
		annotation string
		conflict   bool
	}{{"own", true}, {"", false}} {
		p := made(t, apply.Options{Annotation: tt.annotation, Policy: "strict"})
		_, u := planned(t, p, widget(int64(3)), nil)
		u.SetAnnotations(mapWith(u.GetAnnotations(), "kubectl.kubernetes.io/last-applied-configuration",
			`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","namespace":"n"},"spec":{"size":9}}`))
		if err := unstructured.SetNestedField(u.Object, int64(9), "spec", "size"); err != nil {
			t.Fatal(err)
		}
		u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl-client-side-apply", Operation: "Update", APIVersion: "example.com/v1", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}},"f:spec":{"f:size":{}}}`)}})
		_, err := p.Plan(t.Context(), widget(int64(4)), u)
		var conflict *apply.ConflictError
		if errors.As(err, &conflict) != tt.conflict || tt.conflict && conflict.Conflicts[0].Owner != "kubectl-client-side-apply" {
			t.Errorf("%q: %v", tt.annotation, err)
		}
	}
}

// TestSecretsAreMasked: nothing that is meant for logs and Events has a value in it.
func TestSecretsAreMasked(t *testing.T) {
	secret := func(pw string) *corev1.Secret {
		return &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Name: "s", ResourceVersion: "1"},
			Data: map[string][]byte{"pw": []byte(pw)}}
	}
	p, strict := made(t, apply.Options{}), made(t, apply.Options{Policy: "strict"})
	first, _ := planned(t, p.Since(nil), secret("first-password"), nil)
	plan, _ := planned(t, p.Since(first.Applied()), secret("second-password"), secret("others-password"))
	rows, err := json.Marshal(plan.Changes())
	if err != nil {
		t.Fatal(err)
	}
	var conflict *apply.ConflictError
	if _, err := strict.Plan(t.Context(), secret("second-password"), secret("others-password")); !errors.As(err, &conflict) {
		t.Fatalf("got %v", err)
	}
	conflicts, err := json.Marshal(conflict)
	if err != nil {
		t.Fatal(err)
	}
	all := plan.String() + string(rows) + string(first.Applied()) + conflict.Error() + string(conflicts)
	for _, value := range []string{"first-password", "second-password", "others-password", "Zmlyc3QtcGFzc3dvcmQ=", "c2Vjb25kLXBhc3N3b3Jk", "b3RoZXJzLXBhc3N3b3Jk"} {
		if strings.Contains(all, value) {
			t.Errorf("%q is in %s", value, all)
		}
	}
	if !strings.Contains(plan.String(), `data.pw: "*** (before)" -> "*** (after)"`) {
		t.Errorf("got %s", plan)
	}
	request, err := plan.Request()
	if err != nil || !strings.Contains(string(request.Body), "c2Vjb25kLXBhc3N3b3Jk") {
		t.Errorf("the write has no value: %v", err)
	}
}

// TestServerSide: the request of server-side apply, for an object that is there and one that is not.
func TestServerSide(t *testing.T) {
	p := made(t, apply.Options{ServerSide: true})
	first, u := planned(t, p, widget(int64(1)), nil)
	r, err := first.Request()
	if err != nil || r.Type != types.ApplyYAMLPatchType || r.Force || r.Again || string(r.Body) != `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","namespace":"n","resourceVersion":"1"},"spec":{"size":1}}` {
		t.Errorf("%+v %s, %v", r, r.Body, err)
	}
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "shop", Operation: "Apply", APIVersion: "example.com/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{".":{},"f:size":{}}}`)}})
	if again, _ := planned(t, p, widget(int64(1)), u); again.Changed() {
		t.Errorf("again: %s", again)
	}
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "rival", Operation: "Apply", APIVersion: "example.com/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{".":{},"f:size":{}}}`)}})
	taken, _ := planned(t, p, widget(int64(2)), u)
	if r, err := taken.Request(); err != nil || !r.Force || !strings.Contains(taken.String(), "(set by rival)") {
		t.Errorf("%s: %+v, %v", taken, r, err)
	}
	if same, err := p.Plan(t.Context(), widget(int64(1)), u); err != nil || same.String() != "record: only what is known of the last apply changes" {
		t.Errorf("%s, %v", same, err)
	}
}

// TestStrings: the rows of a plan say what changes, and have room in an Event.
func TestStrings(t *testing.T) {
	p := made(t, apply.Options{})
	data := func(n int, value string) *corev1.ConfigMap {
		c := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "c", ResourceVersion: "1"}, Data: map[string]string{}}
		for i := range n {
			c.Data["key"+strings.Repeat("x", i)] = value
		}
		return c
	}
	many, _ := planned(t, p, data(100, "a"), data(100, "b"))
	if s := many.String(); len(s) > 1000 || !strings.Contains(s, " more") || !strings.HasPrefix(s, `data.key: "b" -> "a": differs, and was not applied before; `) {
		t.Errorf("%d bytes: %s", len(s), s)
	}
	long, _ := planned(t, p, data(1, strings.Repeat("long\n", 500)), data(0, ""))
	if s := long.String(); len(s) > 1000 || !strings.Contains(s, "data") {
		t.Errorf("%d bytes: %s", len(s), s)
	}
}

// TestTypes: a source of types is asked once, and again after an error and after Forget.
func TestTypes(t *testing.T) {
	asked, down := 0, true
	kinds := &apply.Types{Fetch: func(context.Context, string, string) ([]byte, error) {
		if asked++; down {
			return nil, errors.New("no server")
		}
		return []byte(`{"openapi":"3.0.0","components":{"schemas":{"com.example.v1.Widget":{"type":"object","x-kubernetes-group-version-kind":
			[{"group":"example.com","version":"v1","kind":"Widget"}],"properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"}}}}}}}}`), nil
	}}
	p := made(t, apply.Options{Types: kinds})
	if _, err := p.Plan(t.Context(), widget(int64(1)), nil); err == nil || !strings.Contains(err.Error(), "no server") {
		t.Errorf("got %v", err)
	}
	down = false
	for range 3 {
		planned(t, p, widget(int64(1)), nil)
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
	kinds.Forget()
	misspelt := widget(int64(1))
	misspelt.Object["spec"].(map[string]any)["sise"] = int64(1)
	if plan, _ := planned(t, p, misspelt, nil); len(plan.Warnings()) != 1 || asked != 3 {
		t.Errorf("asked %d times: %q", asked, plan.Warnings())
	}
	if err := kinds.Add(widget(1.5)); err == nil {
		t.Error("a Widget is no definition")
	}
}
