package ask

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// keys is a user who answers one question after the other, and is gone after the last.
type keys struct {
	answers []string
	end     error
	asked   []string // the questions; hidden ones begin with "hidden: "
}

var errGone = errors.New("the terminal is gone")

func (k *keys) Prompt(_ context.Context, text string) (string, error) {
	k.asked = append(k.asked, text)
	if len(k.answers) == 0 {
		return "", k.end
	}
	next := k.answers[0]
	k.answers = k.answers[1:]
	return next, nil
}

func (k *keys) Hidden(ctx context.Context, text string) (string, error) {
	return k.Prompt(ctx, "hidden: "+text)
}

// session is a run of saved objects, merged, and the asker of a user with these answers.
type session struct {
	*Asker
	plan *run.Plan
	keys *keys
	out  bytes.Buffer
}

// setup merges local into live objects, both YAML.
func setup(t *testing.T, local, liveText string, answers ...string) *session {
	t.Helper()
	saved := filepath.Join(t.TempDir(), "live.yaml")
	if err := os.WriteFile(saved, []byte(liveText), 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := source.ReadSaved(t.Context(), source.Inputs{Files: []string{saved}})
	if err != nil {
		t.Fatal(err)
	}
	locals, err := source.Parse("local.yaml", []byte(local))
	if err != nil {
		t.Fatal(err)
	}
	policy, err := merge.PolicyNamed("strict")
	if err != nil {
		t.Fatal(err)
	}
	job := &run.Job{
		Concurrency: 1,
		Planner:     &apply.Planner{Policy: policy},
		Live: &live.Files{Saved: objects, Kind: func(_, _, _ string) (schema.Kind, bool) {
			return schema.Kind{Resource: "widgets", Namespaced: true}, true
		}},
	}
	s := &session{keys: &keys{answers: answers, end: errGone}}
	if s.plan, err = job.Resolve(t.Context(), locals); err == nil {
		s.plan.Merge(t.Context())
		err = s.plan.Failed()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Asker = &Asker{Terminal: s.keys, Out: &s.out, Width: 80, Report: func(p apply.Planned) diff.Report {
		return diff.Report{Object: p.Name, Local: p.Value, Live: p.Live, Plan: p.Plan, Type: p.Type}
	}}
	return s
}

func (s *session) settle(t *testing.T, file string) error {
	t.Helper()
	return s.Settle(t.Context(), s.plan, file)
}

// data are the data of the n-th object as it would be written.
func (s *session) data(n int) any {
	return s.plan.Items[n].Planned.Result.(map[string]any)["data"]
}

func (s *session) printed(t *testing.T, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(s.out.String(), w) {
			t.Errorf("%q was not printed:\n%s", w, s.out.String())
		}
	}
}

// conf is a ConfigMap of the input.
func conf(name, data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: shop}\ndata: " + data + "\n---\n"
}

// saved is a live object; applied, in JSON, is the data that its annotation has as applied last.
func saved(kind, name, applied, data string) string {
	return "apiVersion: v1\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n  namespace: shop\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n" +
		`      {"apiVersion":"v1","kind":"` + kind + `","metadata":{"annotations":{},"name":"` + name + `","namespace":"shop"},"data":` + applied + "}\ndata: " + data + "\n---\n"
}

const (
	both   = `{a: "2", b: "2", quiet: "2"}`
	was    = `{"a":"1","b":"1","quiet":"1"}`
	theirs = `{a: "3", b: "3", quiet: "1"}`
)

// TestAnswers: each answer decides the value that was asked about, and no other one.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		answers []string
		want    map[string]any
		asked   int
		printed []string
	}{
		{"local's value", []string{"l", "l"}, map[string]any{"a": "2", "b": "2", "quiet": "2"}, 3, nil},
		{"live's value, in capitals", []string{"V", "l"}, map[string]any{"a": "3", "b": "2", "quiet": "2"}, 3, nil},
		{"what was applied last, which the file does not have", []string{"o", "l"}, map[string]any{"a": "1", "b": "2", "quiet": "2"}, 3,
			[]string{"note: configmap/conf: data.a: what was applied last is not in local.yaml: write it there, or the next merge takes the file's\n"}},
		{"a typed value stays text where both sides have text", []string{"e", "42", "v"}, map[string]any{"a": "42", "b": "3", "quiet": "2"}, 4,
			[]string{"note: configmap/conf: data.a: the value typed is not in local.yaml"}},
		{"no value leads back to the question", []string{"e", "", "v", "v"}, map[string]any{"a": "3", "b": "3", "quiet": "2"}, 5, nil},
		{"so does what is no YAML", []string{"e", "[1, 2", "v", "v"}, map[string]any{"a": "3", "b": "3", "quiet": "2"}, 5, []string{"error: cannot be read: "}},
		{"and what is several documents", []string{"e", "--- 1\n--- 2", "v", "v"}, map[string]any{"a": "3", "b": "3", "quiet": "2"}, 5, []string{"error: is not one value\n"}},
		{"an unknown key is answered with the known ones", []string{"x", "l", "?", "v"}, map[string]any{"a": "2", "b": "3", "quiet": "2"}, 5,
			[]string{"l - local: take local's value\nv - live: keep live's value\no - original: go back to what was applied last\ne - edit: type another value\n", "s - skip: ", "q - quit: ", "? - help: "}},
		{"the difference is shown, and asked about again", []string{"d", "l", "v"}, map[string]any{"a": "2", "b": "3", "quiet": "2"}, 4, []string{"-\"3\"\n+\"2\"\n"}},
	} {
		s := setup(t, conf("conf", both), saved("ConfigMap", "conf", was, theirs), append(tt.answers, "")...) // the last: saves no rules
		if err := s.settle(t, ""); err != nil {
			t.Errorf("%s: %v", tt.reason, err)
			continue
		}
		if d := cmp.Diff(tt.want, s.data(0)); d != "" || Needed(s.plan) {
			t.Errorf("%s: %s", tt.reason, d)
		}
		if len(s.keys.asked) != tt.asked {
			t.Errorf("%s: asked %q", tt.reason, s.keys.asked)
		}
		s.printed(t, tt.printed...)
	}
}

// TestQuestion: a question names object and field, whose move it was, and the three values;
// keys without a meaning for it are not offered.
func TestQuestion(t *testing.T) {
	s := setup(t, conf("conf", `{a: "2"}`), saved("ConfigMap", "conf", `{"a":"1","dropped":"1"}`, `{a: "3", dropped: "2"}`), "v", "v", "")
	if err := s.settle(t, ""); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"(1/2) Take which [l,v,o,e,d,s,q,?]? ",
		"(2/2) Take which [l,v,o,e,d,s,q,?]? ",
		"Save the answers as rules for --rules? FILE (empty: no): ",
	}
	if d := cmp.Diff(want, s.keys.asked); d != "" {
		t.Error(d)
	}
	const printed = `
configmap/conf: data.a: local and live both moved
  original "1"
  live     "3"
  local    "2"

configmap/conf: data.dropped: local removed what live changed
  original "1"
  live     "2"
  local    - (taken out)

`
	if got := strings.ReplaceAll(s.out.String(), "  original  ", "  original "); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(printed), " ") {
		t.Errorf("printed\n%s\nwant\n%s", s.out.String(), printed)
	}

	drift := setup(t, conf("conf", `{a: "1"}`), saved("ConfigMap", "conf", `{"a":"1"}`, `{a: "3"}`), "?", "o", "v", "")
	if err := drift.settle(t, ""); err != nil {
		t.Fatal(err)
	}
	drift.printed(t, "configmap/conf: data.a: only live moved\n")
	if q := drift.keys.asked[0]; q != "(1/1) Take which [l,v,e,d,s,q,?]? " || strings.Contains(drift.out.String(), "go back to what was applied last") {
		t.Errorf("going back to local's own value is offered: %s\n%s", q, drift.out.String())
	}
}

// TestColor: only a terminal with colors gets any.
func TestColor(t *testing.T) {
	s := setup(t, conf("conf", both), saved("ConfigMap", "conf", was, theirs), "d", "v", "v", "")
	s.Color = true
	if err := s.settle(t, ""); err != nil {
		t.Fatal(err)
	}
	s.printed(t, "\x1b[1mconfigmap/conf: data.a: local and live both moved\x1b[0m\n", "\x1b[31m-\"3\"")
}

// TestSkip: a skipped object keeps its conflicts and blocks no other one; the other ones
// are asked about.
func TestSkip(t *testing.T) {
	s := setup(t, conf("one", both)+conf("two", both)+conf("same", `{a: "1"}`),
		saved("ConfigMap", "one", was, theirs)+saved("ConfigMap", "two", was, theirs)+saved("ConfigMap", "same", `{"a":"1"}`, `{a: "1"}`), "l", "s", "l", "v", "")
	if err := s.settle(t, ""); err != nil {
		t.Fatal(err)
	}
	one, two := s.plan.Items[0], s.plan.Items[1]
	if !one.Skipped || len(one.Planned.Conflicts) == 0 || two.Skipped || len(two.Planned.Conflicts) > 0 {
		t.Errorf("one: skipped %v, %d conflicts; two: skipped %v, %d conflicts", one.Skipped, len(one.Planned.Conflicts), two.Skipped, len(two.Planned.Conflicts))
	}
	if strings.Contains(s.out.String(), "configmap/same") {
		t.Errorf("an object without conflicts was asked about:\n%s", s.out.String())
	}
}

// TestEnd: if the user quits, interrupts or closes the terminal, the run ends: no later object
// is asked about, and no answer is saved.
func TestEnd(t *testing.T) {
	interrupted := errors.New("interrupted: nothing was written")
	for _, tt := range []struct {
		reason  string
		answers []string
		end     error
		want    error
	}{
		{"quit", []string{"l", "q"}, nil, ErrQuit},
		{"quit, after help", []string{"l", "?", "Q"}, nil, ErrQuit},
		{"the end of input", []string{"l"}, errGone, errGone},
		{"interrupted at the question", []string{"l"}, interrupted, interrupted},
		{"interrupted while typing a value", []string{"l", "e"}, interrupted, interrupted},
		{"interrupted when all is answered but the file's name", []string{"l", "l", "l", "l"}, interrupted, interrupted},
	} {
		s := setup(t, conf("one", both)+conf("two", both), saved("ConfigMap", "one", was, theirs)+saved("ConfigMap", "two", was, theirs), tt.answers...)
		s.keys.end = tt.end
		file := filepath.Join(t.TempDir(), "rules.yaml")
		if len(tt.answers) == 4 {
			file = ""
		}
		if err := s.settle(t, file); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.reason, err, tt.want)
		}
		if file == "" {
			continue
		}
		if strings.Contains(s.out.String(), "configmap/two") {
			t.Errorf("%s: asked on:\n%s", tt.reason, s.out.String())
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s: answers were saved", tt.reason)
		}
	}
}
