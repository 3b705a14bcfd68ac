package play

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

const (
	namespace = "shop"
	set       = "shop" // the parent's name: a Secret
	partOf    = "applyset.kubernetes.io/part-of"
	keeps     = "helm.sh/resource-policy"
	admitted  = "admitted" // an annotation that a hook sets
	applied   = "kubectl.kubernetes.io/last-applied-configuration"
)

// planted begins every value of a Secret.
const planted = "planted-value-"

// plurals are the resources of refs, by their kind.
var plurals = map[string]string{"configmap": "configmaps", "secret": "secrets", "serviceaccount": "serviceaccounts", "deployment": "deployments"}

// split gives resource and name of a ref.
func split(ref string) (resource, name string) {
	kind, name, _ := strings.Cut(ref, "/")
	return plurals[kind], name
}

// printed is how the program names an object.
func printed(ref string) string {
	if name, ok := strings.CutPrefix(ref, "deployment/"); ok {
		return "deployment.apps/" + name
	}
	return ref
}

// refOf is the ref of an object of a resource.
func refOf(resource, name string) string { return strings.TrimSuffix(resource, "s") + "/" + name }

// manifest is an object as a file has it. Every value is of this version alone, so that it can be
// seen who has written it.
func manifest(ref string, version int) map[string]any {
	kind, name, _ := strings.Cut(ref, "/")
	value := func(key string) string { return fmt.Sprintf("file%d-%s-%s", version, name, key) }
	meta := map[string]any{"name": name, "namespace": namespace}
	out := map[string]any{"apiVersion": "v1", "metadata": meta}
	switch kind {
	case "configmap":
		out["kind"], out["data"] = "ConfigMap", map[string]any{"v": value("v"), fmt.Sprint("only", version): value("only")}
		meta["labels"] = map[string]any{"tier": value("tier")}
	case "secret":
		out["kind"], out["data"] = "Secret", map[string]any{"v": encoded(value("v")), fmt.Sprint("only", version): encoded(value("only"))}
	case "serviceaccount":
		out["kind"] = "ServiceAccount"
		meta["annotations"] = map[string]any{"note": value("note")}
	case "deployment":
		out["apiVersion"], out["kind"] = "apps/v1", "Deployment"
		out["spec"] = map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": name}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": name}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": value("image")}}},
			},
		}
	}
	return out
}

func encoded(value string) string {
	return base64.StdEncoding.EncodeToString([]byte(planted + value))
}

// file is the text of a version of the input.
func file(refs []string, version int) string {
	var b strings.Builder
	for _, ref := range refs {
		key := fmt.Sprint(ref, version)
		found, ok := texts.Load(key)
		if !ok {
			found, _ = texts.LoadOrStore(key, "---\n"+text(manifest(ref, version))+"\n") // JSON is YAML
		}
		b.WriteString(found.(string))
	}
	return b.String()
}

func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // made here
	}
	return string(out)
}

// versions are the values and the texts of manifests, by ref and version.
var versions, texts sync.Map

// stated are the values of an object as a file has it. They are not to be changed.
func stated(ref string, version int) map[string]string {
	key := fmt.Sprint(ref, version)
	found, ok := versions.Load(key)
	if !ok {
		found, _ = versions.LoadOrStore(key, leaves(manifest(ref, version)))
	}
	return found.(map[string]string)
}

// leaves are the values of an object of the model, which never changes. They are not to be changed.
func (w *world) leaves(o runtime.Object) map[string]string {
	if o == nil {
		return nil
	}
	found, ok := w.values[o]
	if !ok {
		found = leaves(o)
		w.values[o] = found
	}
	return found
}

// leaves are the values of an object's configuration, by their paths: of what the server keeps, and
// of the annotation of the last configuration, nothing.
func leaves(o any) map[string]string {
	out := map[string]string{}
	var v map[string]any
	if doc, ok := o.(map[string]any); ok {
		v = doc
	} else if err := json.Unmarshal([]byte(text(o)), &v); err != nil {
		panic(err) // an object
	}
	meta, _ := v["metadata"].(map[string]any)
	for _, part := range []string{"labels", "annotations"} {
		walk(out, "metadata."+part, meta[part])
	}
	delete(out, "metadata.annotations."+applied)
	for key, value := range v {
		if key != "metadata" && key != "status" && key != "kind" && key != "apiVersion" {
			walk(out, key, value)
		}
	}
	return out
}

func walk(out map[string]string, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			walk(out, at+"."+k, e)
		}
	case []any:
		for i, e := range v {
			walk(out, fmt.Sprintf("%s[%d]", at, i), e)
		}
	case nil:
	default:
		out[at] = fmt.Sprint(v)
	}
}
