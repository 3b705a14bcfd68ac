package object

import (
	"reflect"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

func TestPackedAndWhole(t *testing.T) {
	for _, tt := range []struct {
		reason, text string
		stays        bool
	}{
		{"what an object may hold", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: prod, labels: {a: "1"}}, spec: {a: [1, 2.50, {b: null}], "<&>": "\u2028\x00ü", n: 9007199254740992, e: {}, l: []}}`, false},
		{"no namespace", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}`, false},
		{"no name, which is an error elsewhere", `{apiVersion: v1, kind: ConfigMap, data: {k: v}}`, false},
		{"others may be of its kind", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}, spec: {group: example.com}}`, true},
		{"bytes that are no text have become characters when they were read", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: !!binary /w==}}`, false},
		{"a character that looks like them", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: "\uFFFD"}}`, false},
	} {
		f, err := new(yamldoc.Reader).Parse(tt.text, 1)
		if err != nil || len(f.Documents()) != 1 {
			t.Fatalf("%s: %v", tt.reason, err)
		}
		value, _ := f.Documents()[0].Value().(map[string]any)
		o := Object{Value: value, Origin: Origin{File: "a.yaml"}}
		p := o.Packed()
		if stays := reflect.DeepEqual(p, o); stays != tt.stays {
			t.Errorf("%s: stays as it is: %t, want %t", tt.reason, stays, tt.stays)
		}
		if p.ID() != o.ID() || p.APIVersion() != o.APIVersion() || p.String() != o.String() || p.Origin != o.Origin {
			t.Errorf("%s: what says which one it is has gone: %+v", tt.reason, p)
		}
		if again := p.Packed(); !reflect.DeepEqual(again, p) {
			t.Errorf("%s: packed twice is not packed once", tt.reason)
		}
		if whole, err := p.Whole(); err != nil || !reflect.DeepEqual(whole, o) {
			t.Errorf("%s: came back as %v, %v; want %v", tt.reason, whole, err, o)
		}
		if moved, err := p.InNamespace("test").Whole(); err != nil || !reflect.DeepEqual(moved, o.InNamespace("test")) {
			t.Errorf("%s: packed, moved and whole is %v, %v; want %v", tt.reason, moved, err, o.InNamespace("test"))
		}
	}
}
