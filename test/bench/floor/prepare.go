package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// prepare writes the requests that create the objects of base and set, list and get them,
// and make those of base those of changed and back. What is written has the annotation
// that kubectl apply would add, so that the objects are as large as the others'.
func prepare(base, changed, set string) error {
	before, err := read(base)
	if err != nil {
		return err
	}
	after, err := read(changed)
	if err != nil {
		return err
	}
	others, err := read(set)
	if err != nil {
		return err
	}
	return errors.Join(
		write(base+".create", creates(before)),
		write(base+".list", lists(before)),
		write(base+".get", gets(before)),
		write(changed+".patch", patches(before, after)),
		write(base+".patch", patches(after, before)),
		write(set+".create", creates(others)),
		write(set+".list", lists(others)),
	)
}

// read reads the objects of a file and annotates each with itself.
func read(file string) ([]unstructured.Unstructured, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []unstructured.Unstructured
	for d := utilyaml.NewYAMLOrJSONDecoder(bufio.NewReader(f), 4096); ; {
		var obj map[string]any
		if err := d.Decode(&obj); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		o := unstructured.Unstructured{Object: obj}
		if err := unstructured.SetNestedMap(obj, map[string]any{}, "metadata", "annotations"); err != nil { // as kubectl apply has it
			return nil, err
		}
		text, err := json.Marshal(obj)
		if err != nil {
			return nil, err
		}
		o.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": string(text) + "\n"})
		all = append(all, o)
	}
}

func write(file string, all []request) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for _, r := range all {
		if err := e.Encode(r); err != nil {
			return err
		}
	}
	return os.WriteFile(file, b.Bytes(), 0o600)
}

// about is a request about the object.
func about(o unstructured.Unstructured, body any) request {
	resource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	r := request{Resource: resource, Namespace: o.GetNamespace(), Names: []string{o.GetName()}}
	if body != nil {
		r.Body, _ = json.Marshal(body) // it was read from JSON
	}
	return r
}

func creates(objects []unstructured.Unstructured) []request {
	var all []request
	for _, o := range objects {
		all = append(all, about(o, o.Object))
	}
	return all
}

func gets(objects []unstructured.Unstructured) []request {
	var all []request
	for _, o := range objects {
		all = append(all, about(o, nil))
	}
	return all
}

// lists has one list for each kind and namespace.
func lists(objects []unstructured.Unstructured) []request {
	type place struct{ kind, namespace string }
	at := map[place]int{}
	var all []request
	for _, o := range objects {
		p := place{o.GetKind(), o.GetNamespace()}
		if i, ok := at[p]; ok {
			all[i].Names = append(all[i].Names, o.GetName())
			continue
		}
		at[p] = len(all)
		all = append(all, about(o, nil))
	}
	return all
}

// patches are JSON merge patches of the objects that differ.
func patches(from, to []unstructured.Unstructured) []request {
	var all []request
	for i, o := range to {
		if difference := differing(from[i].Object, o.Object); len(difference) > 0 {
			all = append(all, about(o, difference))
		}
	}
	return all
}

// differing is the JSON merge patch that makes one map the other.
func differing(from, to map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range to {
		a, isMap := from[key].(map[string]any)
		b, areMaps := value.(map[string]any)
		switch {
		case reflect.DeepEqual(from[key], value):
		case isMap && areMaps:
			out[key] = differing(a, b)
		default:
			out[key] = value
		}
	}
	for key := range from {
		if _, there := to[key]; !there {
			out[key] = nil
		}
	}
	return out
}
