package diff_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// deployment is a type with what explanations speak of: a keyed list, an atomic
// list, maps.
var deployment = &merge.Type{Kind: merge.Object, Source: merge.SourceBuiltin, Fields: map[string]merge.Field{
	"apiVersion": {}, "kind": {},
	"metadata": {Type: &merge.Type{Kind: merge.Object, Open: true, Fields: map[string]merge.Field{
		"labels": {Type: &merge.Type{Kind: merge.Map}}, "annotations": {Type: &merge.Type{Kind: merge.Map}},
	}}},
	"spec": {Type: &merge.Type{Kind: merge.Object, Fields: map[string]merge.Field{
		"replicas": {}, "paused": {},
		"containers": {Type: &merge.Type{
			Kind: merge.Keyed, Keys: []merge.Key{{Name: "name"}}, Source: merge.SourceBuiltin,
			Elem: &merge.Type{Kind: merge.Object, Fields: map[string]merge.Field{
				"name": {}, "image": {}, "args": {Type: &merge.Type{Kind: merge.List, Source: merge.SourceBuiltin}},
			}},
		}},
	}}},
}}

const (
	wasApplied = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"old":"x","team":"a"}},"spec":{"replicas":3,"paused":true,
		"containers":[{"name":"web","image":"web:1","args":["-v"]}]}}`
	isLocal = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"team":"b"}},"spec":{"replicas":3,
		"containers":[{"name":"web","image":"web:2","args":["-v","--long-option-name=with-a-value-that-does-not-fit-into-any-column"]}]}}`
	isLive = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","resourceVersion":"7","labels":{"old":"x","team":"c\u001b[31m","mine":"1"},"managedFields":[
		{"manager":"kubectl-client-side-apply","operation":"Update","time":"2026-01-02T03:04:05Z","fieldsV1":{"f:metadata":{"f:labels":{"f:old":{}}},"f:spec":{"f:paused":{}}}},
		{"manager":"kubectl-scale","operation":"Update","subresource":"scale","time":"2026-02-03T04:05:06Z","fieldsV1":{"f:spec":{"f:replicas":{}}}},
		{"manager":"kubectl-set","operation":"Update","time":"2026-03-04T05:06:07Z","fieldsV1":{"f:metadata":{"f:labels":{"f:team":{},"f:mine":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:image":{}},"k:{\"name\":\"side\"}":{".":{},"f:name":{},"f:image":{}}}}}}]},
		"spec":{"replicas":5,"paused":false,"containers":[{"name":"web","image":"web:hotfix","args":["-v"]},{"name":"side","image":"side:1"}]}}`
)

// reported merges the three under a policy, explained.
func reported(t testing.TB, policy string) diff.Report {
	t.Helper()
	return reportOf(t, policy, read(t, wasApplied), read(t, isLocal), read(t, isLive))
}

func reportOf(t testing.TB, policy string, original, local, live any) diff.Report {
	t.Helper()
	p, err := merge.PolicyNamed(policy)
	if err != nil {
		t.Fatal(err)
	}
	plan := merge.Three(merge.Triple{
		Original: original, Local: local, Live: live,
		Owners: ownership.Of(live), Appliers: []string{"kubectl-client-side-apply"},
	}, deployment, p, true)
	return diff.Report{Object: "deployment.apps/web", Namespace: "prod", Local: local, Live: live, Plan: plan}
}

func yamlText(notes []diff.Note) string {
	var b strings.Builder
	for _, n := range notes {
		b.WriteString(n.String() + "\n")
	}
	return b.String()
}

func TestNotes(t *testing.T) {
	for _, policy := range []string{"apply", "live", "merge3"} {
		t.Run(policy, func(t *testing.T) {
			golden(t, "notes-"+policy+".txt", yamlText(diff.Notes(reported(t, policy))))
		})
	}
	t.Run("the form for programs", func(t *testing.T) {
		golden(t, "notes.json", strings.ReplaceAll(show(t, diff.Notes(reported(t, "apply"))), "},{", "},\n{")+"\n")
	})
	t.Run("what is the server's and what could not be compared", func(t *testing.T) {
		x := reported(t, "apply")
		x.Plan = merge.Plan{Undecided: []merge.Removal{
			{Path: merge.Path{merge.Named("data"), merge.Named("LEGACY")}, Value: "x", Owner: &merge.Owner{Manager: "kubectl-create"}},
			{Path: merge.Path{merge.Named("data"), merge.Named("OTHER")}, Value: strings.Repeat("ü", 100)},
		}}
		for range 10 {
			x.Ignored = append(x.Ignored, merge.Path{merge.Named("metadata"), merge.Named("uid")})
		}
		x.Uncompared = x.Ignored[:1]
		x.Adoptable = x.Plan.Undecided[:1]
		x.Adoption = diff.Adoption{Owners: []string{"helm", "kubectl-create"}, Named: []string{"helm"}, Rest: true}
		golden(t, "notes-other.txt", yamlText(diff.Notes(x)))
	})
	t.Run("nothing happened", func(t *testing.T) {
		if n := diff.Notes(diff.Report{Object: "x"}); n != nil {
			t.Errorf("got %v", n)
		}
	})
}

func TestBrief(t *testing.T) {
	var notes []diff.Note
	for _, object := range []string{"a", "a", "a", "b", "c", "c", "c", "c"} {
		notes = append(notes, diff.Note{Object: object, Message: "x"})
	}
	const want = "a: x\na: x\na: and 1 more: --notes=json prints all\nb: x\nc: x\nc: x\nc: and 2 more: --notes=json prints all\n"
	if got := yamlText(diff.Brief(notes, 2, true)); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := diff.Brief(notes, 0, true); len(got) != len(notes) {
		t.Errorf("no cap: %d of %d", len(got), len(notes))
	}
}

func TestConflicts(t *testing.T) {
	got := diff.Conflicts(reported(t, "strict"))
	golden(t, "conflicts.txt", yamlText(got))
	for _, n := range got {
		if lines := strings.Count(n.String(), "\n") + 1; lines > 3 {
			t.Errorf("%d lines: %s", lines, n)
		}
	}
	t.Run("a path and a name that a shell would read are quoted", func(t *testing.T) {
		x := reported(t, "strict")
		x.Plan.Conflicts = []merge.Disagreement{{
			Kind: merge.Dropped, Path: merge.Path{merge.Named("metadata"), merge.Named("labels"), merge.Named("a'b/c")},
			Original: merge.Some("1"), Live: merge.Some("2"),
		}}
		golden(t, "conflicts-quoted.txt", yamlText(diff.Conflicts(x)))
	})
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		golden, policy string
		width          int
		color          bool
	}{
		{"explain-80.txt", "apply", 80, false},
		{"explain-160.txt", "apply", 160, false},
		{"explain-pipe.txt", "apply", 0, false},
		{"explain-colour.txt", "strict", 100, true},
		{"explain-40.txt", "apply", 40, false},
	} {
		t.Run(c.golden, func(t *testing.T) {
			text := diff.Explain(reported(t, c.policy)).Table(c.width, c.color)
			golden(t, c.golden, text)
			for line := range strings.Lines(text) {
				if n := len([]rune(strip(line))) - 1; c.width > 0 && n > c.width {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
	t.Run("for programs", func(t *testing.T) {
		text, err := json.MarshalIndent([]diff.Explanation{diff.Explain(reported(t, "apply"))}, "", "    ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "explain.json", string(text)+"\n")
		list, err := merge.ReadJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if text, err = yamldoc.Encode(list); err != nil {
			t.Fatal(err)
		}
		golden(t, "explain.yaml", string(text))
	})
}

// strip takes colours out.
func strip(s string) string {
	for _, c := range []string{"1", "31", "32", "33", "36", "0"} {
		s = strings.ReplaceAll(s, "\x1b["+c+"m", "")
	}
	return s
}

func TestExplainSomeFields(t *testing.T) {
	for _, c := range []struct {
		reason, path string
		want         int
	}{
		{"a field", "spec.replicas", 1},
		{"all below", "metadata.labels", 3},
		{"an entry", "spec.containers[name=side]", 2},
		{"a field of an entry", "spec.containers[name=web].image", 1},
		{"what stands inside one value: the row of that value", "spec.containers[name=web].args[0]", 1},
		{"nothing inside one value", "spec.containers[name=web].args[7]", 0},
		{"nothing of that name", "spec.replica", 0},
		{"book-keeping where asked", "metadata.resourceVersion", 1},
	} {
		t.Run(c.reason, func(t *testing.T) {
			p, err := merge.ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			if got := diff.Explain(reported(t, "apply"), p).Fields; len(got) != c.want {
				t.Errorf("%d rows, want %d: %s", len(got), c.want, show(t, got))
			}
		})
	}
}

func sections(t testing.TB) []diff.Section {
	changed, open := reported(t, "apply"), reported(t, "strict")
	open.Object = "deployment.apps/careful"
	made := diff.Report{Object: "configmap/a|b", Plan: merge.Plan{Result: read(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"readme":"`+"```\\n</details>\\n```"+`"}}`)}}
	of := func(x diff.Report, word string) diff.Section {
		return diff.Section{Report: x, Outcome: word, Doc: diff.Doc{Name: diff.DocName(x.Plan.Result), Live: x.Live, Result: x.Plan.Result}}
	}
	same := of(diff.Report{Object: "service/same", Live: map[string]any{}, Plan: merge.Plan{Result: map[string]any{}}}, "unchanged")
	return []diff.Section{of(changed, "configured"), of(open, "not written"), of(made, "created"), same}
}

// comment is that about some objects.
func comment(t testing.TB, o diff.MarkdownOptions, all ...diff.Section) string {
	t.Helper()
	c := diff.NewComment(o)
	for _, s := range all {
		if err := c.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestMarkdownOfMany: a comment for a thousand changed objects fits, and says what it
// leaves out.
func TestMarkdownOfMany(t *testing.T) {
	one := sections(t)[0]
	var many []diff.Section
	for range 1000 {
		many = append(many, one)
	}
	text := comment(t, diff.MarkdownOptions{}, many...)
	rows := strings.Count(text, "\n| `")
	if len(text) > 62000 || rows < 100 || !strings.Contains(text, fmt.Sprintf("\nAnd %d objects more: the table would be too long.\n", 1000-rows)) {
		t.Errorf("%d bytes, %d rows; it ends with %q", len(text), rows, text[len(text)-200:])
	}
}

func TestMarkdown(t *testing.T) {
	for _, c := range []struct {
		golden string
		o      diff.MarkdownOptions
	}{
		{"comment.md", diff.MarkdownOptions{Title: "Preview of *prod* <1>"}},
		{"comment-short.md", diff.MarkdownOptions{Limit: 2000}},
	} {
		t.Run(c.golden, func(t *testing.T) {
			text := comment(t, c.o, sections(t)...)
			golden(t, c.golden, text)
			if c.o.Limit > 0 && len(text) > c.o.Limit+200 {
				t.Errorf("%d bytes", len(text))
			}
		})
	}
}

// TestNotesForProgramsAreComplete: what a line for people counts is whole in JSON.
func TestNotesForProgramsAreComplete(t *testing.T) {
	var paths []merge.Path
	var list []any
	for i := range 12 {
		paths = append(paths, merge.Path{merge.Named("metadata"), merge.Named(fmt.Sprint("field", i))})
		list = append(list, fmt.Sprint("entry-", i))
	}
	r := diff.Report{Object: "x", Ignored: paths, Plan: merge.Plan{Removed: []merge.Removal{{Path: paths[0], Value: list}}}}
	r.Preview = true
	for _, n := range diff.Notes(r) {
		if !strings.Contains(n.Text(), "and 4 more") {
			t.Errorf("%s: not cut for people", n.Text())
		}
		text, err := n.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Paths []string
			Live  []string
		}
		if err := json.Unmarshal(text, &m); err != nil || len(m.Paths)+len(m.Live) != 12 {
			t.Errorf("%s: %v", text, err)
		}
	}
}
