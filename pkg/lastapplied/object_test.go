package lastapplied_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
)

func TestWithAndWithout(t *testing.T) {
	for _, c := range []struct{ reason, in, with, without string }{
		{
			"nothing there", `{"kind":"X"}`,
			`{"kind":"X","metadata":{"annotations":{"` + lastapplied.Annotation + `":"T"}}}`, `{"kind":"X","metadata":{}}`,
		},
		{
			"other annotations stay", `{"metadata":{"annotations":{"a":"b"},"name":"n"}}`,
			`{"metadata":{"annotations":{"a":"b","` + lastapplied.Annotation + `":"T"},"name":"n"}}`, `{"metadata":{"annotations":{"a":"b"},"name":"n"}}`,
		},
		{
			"one that is there is replaced", `{"metadata":{"annotations":{"` + lastapplied.Annotation + `":"old"}}}`,
			`{"metadata":{"annotations":{"` + lastapplied.Annotation + `":"T"}}}`, `{"metadata":{}}`,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			in := read(t, c.in)
			with := lastapplied.With(in, "T")
			if d := cmp.Diff(show(t, read(t, c.with)), show(t, with)); d != "" {
				t.Errorf("With: %s", d)
			}
			if d := cmp.Diff(c.without, show(t, lastapplied.Without(with))); d != "" {
				t.Errorf("Without: %s", d)
			}
			if d := cmp.Diff(show(t, read(t, c.in)), show(t, in)); d != "" {
				t.Errorf("the input was changed: %s", d)
			}
		})
	}
}

func TestStrip(t *testing.T) {
	for _, c := range []struct {
		reason, in, want, reported string
		status                     bool
	}{
		{reason: "nothing of the server's", in: `{"metadata":{"name":"a"},"status":{"x":1}}`, want: `{"metadata":{"name":"a"},"status":{"x":1}}`, reported: "[]"},
		{
			reason: "an exported file", status: true, reported: "[metadata.generation metadata.resourceVersion metadata.uid status]",
			in:   `{"metadata":{"name":"a","uid":"u","resourceVersion":"1","generation":2,"creationTimestamp":null,"labels":{"l":"v"}},"status":{"x":1}}`,
			want: `{"metadata":{"labels":{"l":"v"},"name":"a"}}`,
		},
		{reason: "an empty status is not worth telling", status: true, in: `{"status":{},"metadata":{}}`, want: `{"metadata":{}}`, reported: "[]"},
		{
			reason: "the metadata of a template is configuration", reported: "[]", status: true,
			in:   `{"spec":{"template":{"metadata":{"uid":"u"},"status":1}}}`,
			want: `{"spec":{"template":{"metadata":{"uid":"u"},"status":1}}}`,
		},
		{reason: "no object", in: `[1]`, want: `[1]`, reported: "[]"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			in := read(t, c.in)
			got, reported := lastapplied.Strip(in, c.status)
			if d := cmp.Diff(c.want, show(t, got)); d != "" {
				t.Error(d)
			}
			if s := fmt.Sprint(reported); s != c.reported {
				t.Errorf("reported %s, want %s", s, c.reported)
			}
			if d := cmp.Diff(show(t, read(t, c.in)), show(t, in)); d != "" {
				t.Errorf("the input was changed: %s", d)
			}
		})
	}
}

func TestFoldStringData(t *testing.T) {
	for _, c := range []struct{ reason, in, want string }{
		{"becomes data", `{"kind":"Secret","apiVersion":"v1","stringData":{"a":"hunter2"}}`, `{"apiVersion":"v1","data":{"a":"aHVudGVyMg=="},"kind":"Secret"}`},
		{"wins over data", `{"kind":"Secret","data":{"a":"eA==","b":"eQ=="},"stringData":{"a":"hunter2"}}`, `{"data":{"a":"aHVudGVyMg==","b":"eQ=="},"kind":"Secret"}`},
		{"a null clears the key", `{"kind":"Secret","data":{"a":"eA=="},"stringData":{"a":null}}`, `{"data":{"a":null},"kind":"Secret"}`},
		{"a null stringData says nothing", `{"kind":"Secret","stringData":null,"data":{}}`, `{"data":{},"kind":"Secret"}`},
		{"an empty one too", `{"kind":"Secret","stringData":{}}`, `{"kind":"Secret"}`},
		{"a blanked one keeps its keys", `{"kind":"Secret","stringData":{"a":""}}`, `{"data":{"a":""},"kind":"Secret"}`},
		{"what is no string is left to the server to refuse", `{"kind":"Secret","stringData":{"a":1,"b":"x"}}`, `{"data":{"b":"eA=="},"kind":"Secret","stringData":{"a":1}}`},
		{"no map is left alone", `{"kind":"Secret","stringData":["x"]}`, `{"kind":"Secret","stringData":["x"]}`},
		{"data that is no map is left alone", `{"data":7,"kind":"Secret","stringData":{"a":"x"}}`, `{"data":7,"kind":"Secret","stringData":{"a":"x"}}`},
		{"only Secrets have it", `{"apiVersion":"x.io/v1","kind":"Secret","stringData":{"a":"x"}}`, `{"apiVersion":"x.io/v1","kind":"Secret","stringData":{"a":"x"}}`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			in := read(t, c.in)
			if d := cmp.Diff(c.want, show(t, lastapplied.FoldStringData(in))); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(show(t, read(t, c.in)), show(t, in)); d != "" {
				t.Errorf("the input was changed: %s", d)
			}
		})
	}
}

func TestSet(t *testing.T) {
	for _, c := range []struct{ reason, in, want, id string }{
		{"of a set", `{"metadata":{"labels":{"applyset.kubernetes.io/part-of":"x","a":"b"}}}`, `{"metadata":{"labels":{"a":"b"}}}`, "x"},
		{"no other label", `{"metadata":{"name":"n","labels":{"applyset.kubernetes.io/part-of":"x"}}}`, `{"metadata":{"name":"n"}}`, "x"},
		{"of no set", `{"metadata":{"labels":{}}}`, `{"metadata":{"labels":{}}}`, ""},
		{"no object", `[1]`, `[1]`, ""},
	} {
		in := read(t, c.in)
		if d := cmp.Diff(c.want, show(t, lastapplied.WithoutSet(in))); d != "" {
			t.Errorf("%s: %s", c.reason, d)
		}
		if got := lastapplied.SetOf(in); got != c.id {
			t.Errorf("%s: part of %q, want %q", c.reason, got, c.id)
		}
		if _, isObject := in.(map[string]any); isObject && lastapplied.SetOf(lastapplied.WithSet(in, "y")) != "y" {
			t.Errorf("%s: has not become part of y", c.reason)
		}
		if d := cmp.Diff(show(t, read(t, c.in)), show(t, in)); d != "" {
			t.Errorf("the input was changed: %s", d)
		}
	}
}
