package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/yamldoc"
)

// Parse reads the objects of one file's content; name stands in the errors. kind:
// List comes back as its items. The good objects come back beside an error.
func Parse(name string, data []byte) ([]Object, error) {
	return parse(name, data, func(o Object) (Object, bool) { return o, true })
}

// keeping is what an object is kept as, as soon as it is read; false leaves it out.
type keeping func(Object) (Object, bool)

// parse holds one document, or one item of a list, at a time besides what is kept.
func parse(name string, data []byte, keep keeping) ([]Object, error) {
	chunks, err := split(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := parser{file: name, keep: keep}
	for _, c := range chunks {
		if !p.list(c) {
			p.whole(c)
		}
	}
	return p.objects, errors.Join(p.errs...)
}

// parser reads the objects of one file.
type parser struct {
	file    string
	keep    keeping
	reader  yamldoc.Reader
	objects []Object
	errs    []error
}

// whole reads a chunk in one piece.
func (p *parser) whole(c chunk) {
	docs, err := c.documents(&p.reader)
	for _, d := range docs {
		p.document(d)
	}
	if err != nil && bytes.Contains(c.text, []byte("{{")) {
		err = fmt.Errorf("%w: {{ }} is a template's, as Helm's charts have them: render it first (helm template CHART | kubectl merge -f -)", err)
	}
	if err != nil {
		p.errs = append(p.errs, fmt.Errorf("%s: %w", p.file, err))
	}
}

// kustomization: o says how objects are to be made, by its kind or, where that is left
// out, by the name of its file.
func (o Object) kustomization() bool {
	if o.Group() == "kustomize.config.k8s.io" {
		return true
	}
	return o.Kind() == "" && slices.Contains([]string{"kustomization.yaml", "kustomization.yml", "Kustomization"}, filepath.Base(o.Origin.File))
}

// list reads a list object item by item. Where that cannot be done it reads nothing,
// and is false.
func (p *parser) list(c chunk) bool {
	frame, items, ok := c.apart()
	if !ok {
		return false
	}
	reader := p.reader
	docs, err := frame.documents(&reader)
	if err != nil || len(docs) != 1 {
		return false
	}
	list := Object{}
	list.Value, _ = docs[0].Value.(map[string]any)
	if left, ok := list.items(); !ok || len(left) != 1 || left[0] != apartMark {
		return false
	}
	before := *p
	for _, item := range items {
		d, ok := item.entry(&reader)
		if !ok {
			p.objects, p.errs = before.objects, before.errs
			return false
		}
		d.Value = list.item(d.Value)
		p.document(d)
	}
	p.reader = reader
	return true
}

// document takes the objects of one document: itself, or a list's items.
func (p *parser) document(d Document) {
	at := Origin{File: p.file, Document: d.Nth, Line: d.Line, Many: d.Many}
	m, ok := d.Value.(map[string]any)
	if !ok {
		p.errs = append(p.errs, fmt.Errorf("%s: is %s, not an object: an object begins with apiVersion and kind", at, describe(d.Value)))
		return
	}
	o := Object{Value: m, Origin: at}
	if items, ok := o.items(); ok {
		for i, v := range items {
			item := d
			item.Value, item.Items = o.item(v), nil
			if i < len(d.Items) {
				item.Line = d.Items[i]
			}
			p.document(item)
		}
		return
	}
	if o.kustomization() {
		p.errs = append(p.errs, fmt.Errorf("%s: is a kustomization, not an object: give its folder with -k", o.Origin))
		return
	}
	if err := o.check(); err != nil {
		p.errs = append(p.errs, err)
		return
	}
	if o, ok := p.keep(o); ok {
		p.objects = append(p.objects, o)
	}
}

// items are the items of a list object; false for any other object.
func (o Object) items() ([]any, bool) {
	items, ok := o.Value["items"].([]any)
	return items, ok && strings.HasSuffix(o.Kind(), "List")
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
