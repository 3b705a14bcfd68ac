package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Parse reads the objects of one file's content; name stands in the errors.
func Parse(name string, data []byte) ([]Object, error) {
	var objects []Object
	err := parse(name, data, func(o Object) { objects = append(objects, o) })
	return objects, err
}

// parse hands each object over as soon as it is read, so that no more than one
// document needs to be held.
func parse(name string, data []byte, take func(Object)) error {
	var bad []error
	err := decode(data, func(d Document) {
		origin := Origin{File: name, Document: d.Nth, Line: d.Line, Many: d.Many}
		got, errs := origin.objects(d)
		bad = append(bad, errs...)
		for _, o := range got {
			take(o)
		}
	})
	return errors.Join(append(located(name, err), bad...)...)
}

// located puts the file's name before each of the errors joined in err.
func located(name string, err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var errs []error
		for _, e := range joined.Unwrap() {
			errs = append(errs, fmt.Errorf("%s: %w", name, e))
		}
		return errs
	}
	return []error{fmt.Errorf("%s: %w", name, err)}
}

// objects are the objects of one document: itself, or a list's items.
func (at Origin) objects(d Document) ([]Object, []error) {
	m, ok := d.Value.(map[string]any)
	if !ok {
		return nil, []error{fmt.Errorf("%s: is %s, not an object: an object begins with apiVersion and kind", at, describe(d.Value))}
	}
	o := Object{Value: m, Origin: at}
	items, ok := m["items"].([]any)
	if !ok || !strings.HasSuffix(o.Kind(), "List") {
		if err := o.check(); err != nil {
			return nil, []error{err}
		}
		return []Object{o}, nil
	}
	var (
		objects []Object
		errs    []error
	)
	for i, v := range items {
		at := at
		if i < len(d.Items) {
			at.Line = d.Items[i]
		}
		got, bad := at.objects(Document{Value: o.item(v)})
		objects = append(objects, got...)
		errs = append(errs, bad...)
	}
	return objects, errs
}

// item fills in what a list of one kind (PodList) leaves out in its items.
func (o Object) item(v any) any {
	m, ok := v.(map[string]any)
	kind := strings.TrimSuffix(o.Kind(), "List")
	if !ok || kind == "" || m["kind"] != nil || m["apiVersion"] != nil {
		return v
	}
	m = clone(m)
	m["kind"], m["apiVersion"] = kind, o.APIVersion()
	return m
}

// With is the object with another value, read at the same place. The error says what
// keeps the value from being an object of the API.
func (o Object) With(value any) (Object, error) {
	m, ok := value.(map[string]any)
	if !ok {
		return o, fmt.Errorf("%s: is %s, not an object", o.place(), describe(value))
	}
	o.Value, o.packed = m, nil
	return o, o.check()
}

// check tells what keeps o from being an object of the API.
func (o Object) check() error {
	fail := func(path, what string) error { return fmt.Errorf("%s: %s: %s", o.place(), path, what) }
	for _, key := range []string{"apiVersion", "kind"} {
		switch v := o.Value[key]; v.(type) {
		case nil:
			return fail(key, "is not set; every object begins with apiVersion and kind")
		case string:
			if v == "" {
				return fail(key, "is empty")
			}
		default:
			return fail(key, "is "+describe(v)+", not a string")
		}
	}
	if strings.Count(o.APIVersion(), "/") > 1 {
		return fail("apiVersion", fmt.Sprintf("%q is not group/version", o.APIVersion()))
	}
	switch v := o.Value["metadata"].(type) {
	case nil:
		return fail("metadata.name", "is not set; every object needs a name")
	case map[string]any:
		return o.checkMeta(v, fail)
	default:
		return fail("metadata", "is "+describe(v)+", not a mapping")
	}
}

func (o Object) checkMeta(meta map[string]any, fail func(path, what string) error) error {
	for _, key := range []string{"name", "namespace"} {
		if v := meta[key]; v != nil {
			if _, ok := v.(string); !ok {
				return fail("metadata."+key, "is "+describe(v)+", not a string; quote it")
			}
		}
	}
	if o.Name() == "" {
		if text(meta, "generateName") != "" {
			return fail("metadata.generateName", "cannot use generate name with merge: an object without a name of its own cannot be found again; set metadata.name, or use `kubectl create`")
		}
		return fail("metadata.name", "is not set; every object needs a name")
	}
	for _, key := range []string{"labels", "annotations"} {
		m, ok := meta[key].(map[string]any)
		if !ok && meta[key] != nil {
			return fail("metadata."+key, "is "+describe(meta[key])+", not a mapping")
		}
		for k, v := range m {
			if _, ok := v.(string); !ok && v != nil {
				return fail(fmt.Sprintf("metadata.%s[%q]", key, k), "is "+describe(v)+", not a string; quote it")
			}
		}
	}
	return nil
}

// place is where the object stands, with its kind and name where it has them.
func (o Object) place() string {
	if o.Kind() == "" || o.Name() == "" {
		return o.Origin.String()
	}
	return fmt.Sprintf("%s: %s", o.Origin, o)
}

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case json.Number:
		return "the number " + v.String()
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "a mapping"
}

// Repeated tells of every object that stands in the input more than once, with
// both places. Versions do not count. nil: none does.
func Repeated(objects []Object) error {
	first := make(map[Identity]Object, len(objects))
	var errs []error
	for _, o := range objects {
		was, twice := first[o.ID()]
		if !twice {
			first[o.ID()] = o
			continue
		}
		errs = append(errs, fmt.Errorf("%s: is the same object as at %s; keep one of them, as the second would undo the first", o.place(), was.Origin))
	}
	return errors.Join(errs...)
}
