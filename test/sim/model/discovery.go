package model

import (
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// served are the resources of discovery, by group and version: those of kinds, and those of which
// there are never any objects.
var served = map[string][]metav1.APIResource{
	"v1": {
		resource("configmaps", "ConfigMap"), resource("secrets", "Secret"), resource("serviceaccounts", "ServiceAccount"), resource("pods", "Pod"),
		resource("events", "Event"), {Name: "namespaces", SingularName: "namespace", Kind: "Namespace", Verbs: verbs},
	},
	"apps/v1":        {resource("deployments", "Deployment"), {Name: "deployments/status", Namespaced: true, Kind: "Deployment", Verbs: metav1.Verbs{"get", "patch", "update"}}, resource("replicasets", "ReplicaSet")},
	"autoscaling/v2": {resource("horizontalpodautoscalers", "HorizontalPodAutoscaler")},
}

var verbs = metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

func resource(plural, kind string) metav1.APIResource {
	return metav1.APIResource{Name: plural, SingularName: strings.ToLower(kind), Kind: kind, Namespaced: true, Verbs: verbs}
}

// discovered answers what kinds there are, in the oldest of the forms that clients take. Schemas it
// does not serve: no kind that it has needs one.
func discovered(req *http.Request) (*http.Response, error) {
	path := strings.Trim(req.URL.Path, "/")
	group, named := strings.CutPrefix(path, "apis/")
	if !named {
		group = strings.TrimPrefix(path, "api/")
	}
	switch {
	case path == "api":
		return Response(req, 200, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}), nil
	case path == "apis":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for _, gv := range []string{"apps/v1", "autoscaling/v2"} {
			name, version, _ := strings.Cut(gv, "/")
			v := metav1.GroupVersionForDiscovery{GroupVersion: gv, Version: version}
			list.Groups = append(list.Groups, metav1.APIGroup{Name: name, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
		}
		return Response(req, 200, list), nil
	case served[group] != nil:
		return Response(req, 200, metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: group, APIResources: served[group]}), nil
	}
	return nil, Uncovered("the path " + req.URL.Path)
}

// aNamespace answers for the namespaces that there are: the model's and that of the cluster's
// identity.
func (m *Model) aNamespace(req *http.Request, a Asked) (*http.Response, error) {
	if a.Name != "kube-system" && a.Name != m.namespace {
		status := apierrors.NewNotFound(schema.GroupResource{Resource: a.Resource}, a.Name).ErrStatus
		return Response(req, 404, status), nil
	}
	return Response(req, 200, map[string]any{"kind": "Namespace", "apiVersion": "v1", "metadata": map[string]any{"name": a.Name, "uid": "uid-of-" + a.Name, "resourceVersion": "1"}, "status": map[string]any{"phase": "Active"}}), nil
}

// nothing answers a list of a resource that the model has no objects of.
func (m *Model) nothing(req *http.Request, a Asked) (*http.Response, error) {
	for gv, resources := range served {
		for _, r := range resources {
			if group, _, named := strings.Cut(gv, "/"); r.Name == a.Resource && a.Verb == "list" && (named && group == a.Group || a.Group == "") {
				kind, items := r.Kind+"List", []any{}
				if strings.Contains(req.Header.Get("Accept"), "as=PartialObjectMetadata") {
					kind, gv, items = "PartialObjectMetadataList", "meta.k8s.io/v1", nil
				}
				return Response(req, 200, map[string]any{"kind": kind, "apiVersion": gv, "metadata": metav1.ListMeta{ResourceVersion: m.version()}, "items": items}), nil
			}
		}
	}
	return nil, Uncovered(a.Verb + " " + req.URL.Path)
}
