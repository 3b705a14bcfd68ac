package ask

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

// review has the user confirm the run of one object that changes, one that is created and one
// of which only what is recorded as applied last is spelled differently.
func review(t *testing.T, answers ...string) (*session, *Reviewer) {
	t.Helper()
	s := setup(t, conf("c", `{a: "2", b: "2"}`)+conf("new", `{a: "1"}`)+conf("same", `{a: "1"}`),
		saved("ConfigMap", "c", `{"a":"1","b":"1"}`, `{a: "1", b: "1"}`)+saved("ConfigMap", "same", `{"a":"1"}`, `{a: "1"}`), answers...)
	return s, &Reviewer{Terminal: s.keys, Out: &s.out, Spelling: plandoc.Spelling{ShowSecrets: true}}
}

// TestConfirm: all, nothing, or single changes and objects of a run.
func TestConfirm(t *testing.T) {
	kept := map[string]any{"a": "1", "b": "2"}
	for _, tt := range []struct {
		what    string
		answers []string
		err     error
		data    any    // of the object that changes
		skipped string // names
	}{
		{"yes", []string{"y"}, nil, map[string]any{"a": "2", "b": "2"}, ""},
		{"no", []string{"NO"}, ErrNo, nil, ""},
		{"quit", []string{"Q"}, ErrQuit, nil, ""},
		{"help comes first", []string{"what", "yes"}, nil, nil, ""},
		{"each, all wanted", []string{"a", "y", "y", "y", "y"}, nil, map[string]any{"a": "2", "b": "2"}, ""},
		{"the rest of an object", []string{"a", "a", "y", "y"}, nil, nil, ""},
		{"one change not wanted", []string{"a", "n", "y", "y", "y"}, nil, kept, ""},
		{"no change wanted", []string{"a", "n", "n", "y", "y"}, nil, nil, "c"},
		{"an object skipped", []string{"a", "s", "y", "y"}, nil, nil, "c"},
		{"an object not created", []string{"a", "y", "y", "n", "y"}, nil, nil, "new"},
		{"quit at a change", []string{"a", "q"}, ErrQuit, nil, ""},
		{"quit at an object", []string{"a", "a", "?", "q"}, ErrQuit, nil, ""},
		{"the terminal is gone", []string{"a", "y"}, errGone, nil, ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			s, r := review(t, tt.answers...)
			if err := r.Confirm(t.Context(), s.plan); !errors.Is(err, tt.err) {
				t.Fatalf("%v, want %v", err, tt.err)
			}
			if tt.data != nil && !cmp.Equal(tt.data, s.data(0)) {
				t.Error(cmp.Diff(tt.data, s.data(0)))
			}
			var skipped []string
			for _, i := range s.plan.Items {
				if i.Skipped {
					skipped = append(skipped, i.Target.Name)
				}
			}
			if got := strings.Join(skipped, " "); got != tt.skipped && tt.err == nil {
				t.Errorf("skipped %q, want %q", got, tt.skipped)
			}
		})
	}
}

func TestConfirmDeletions(t *testing.T) {
	for _, answer := range []string{"y", "n"} {
		s, r := review(t, "a", "a", "y", "y", answer)
		old := &run.Item{Details: &run.Details{}, Surplus: &run.Surplus{Reason: "is not in the input"}}
		s.plan.Others = []*run.Item{old}
		if !Writes(s.plan) {
			t.Error("a run that changes and deletes writes nothing")
		}
		if err := r.Confirm(t.Context(), s.plan); err != nil {
			t.Fatal(err)
		}
		if kept := old.Action() == apply.Keep; kept != (answer == "n") || old.Skipped != kept {
			t.Errorf("%s: kept %t, skipped %t", answer, kept, old.Skipped)
		}
	}
	if Writes(&run.Plan{}) {
		t.Error("a run without objects writes something")
	}
}

// TestShown: each change with its values, and why it is one.
func TestShown(t *testing.T) {
	s, r := review(t, "a", "y", "y", "y", "y")
	if err := r.Confirm(t.Context(), s.plan); err != nil {
		t.Fatal(err)
	}
	s.printed(t, `configmap/c: data.a: "1"`, `configmap/c: data.b: "1"`)
	if asked := s.keys.asked[3]; !strings.HasPrefix(asked, "configmap/new: create it [y,n,q,?]") {
		t.Error(asked)
	}
	if paths := r.changes(s.plan.Items[0]); len(paths) != 2 || paths[0].Path != "data.a" {
		t.Errorf("%v", paths)
	}
}
