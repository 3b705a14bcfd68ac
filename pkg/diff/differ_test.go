package diff

import (
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func value(t *testing.T, text string) merge.Opt {
	t.Helper()
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return merge.Some(v)
}

// TestDifference: what is lost is in the line, and first.
func TestDifference(t *testing.T) {
	const rbac = `"apiGroup":"rbac.authorization.k8s.io"`
	long := strings.Repeat("0123456789", 10)
	for _, tt := range []struct{ reason, from, to, want string }{
		{"subjects by kind and name", `[{` + rbac + `,"kind":"User","name":"alice"},{` + rbac + `,"kind":"User","name":"bob"}]`,
			`[{` + rbac + `,"kind":"User","name":"alice"},{` + rbac + `,"kind":"Group","name":"ops"}]`, "User bob removed; Group ops added"},
		{"one name, another field", `[{"kind":"User","name":"a","apiGroup":"x"}]`, `[{"kind":"User","name":"a","apiGroup":"y"}]`, `User a.apiGroup: "x" → "y"`},
		{"a taint by key and effect", `[{"effect":"NoSchedule","key":"gpu","value":"` + long + `"},{"effect":"NoExecute","key":"gpu","value":"` + long + `"}]`,
			`[{"effect":"NoSchedule","key":"gpu","value":"` + long + `"}]`, "key=gpu:NoExecute removed"},
		{"metrics of one type by what they measure", `[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}},{"type":"Resource","resource":{"name":"memory","target":{"type":"Utilization","averageUtilization":50}}}]`,
			`[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":60}}}]`, "[type=Resource,resource.name=memory] removed; [type=Resource,resource.name=cpu].resource.target.averageUtilization: 50 → 60"},
		{"a metric of an object by both names", `[{"type":"Object","object":{"describedObject":{"kind":"Ingress","name":"main"},"metric":{"name":"requests"},"target":{"type":"Value","value":"10k"}}}]`,
			`[]`, "[type=Object,object.describedObject.name=main,object.metric.name=requests] removed"},
		{"rules of a role by what they are about", `[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]`, `[{"apiGroups":["apps"],"resources":["deployments","replicasets"],"verbs":["get"]}]`,
			"[resources=pods] removed; [apiGroups=apps resources=deployments,replicasets] added"},
		{"a rule that allows more", `[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]`, `[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]}]`,
			`[resources=pods].verbs: "list" added`},
		{"many lines of a text", `"a\nb\nc\nd\ne\n"`, `"A\nB\nC\nD\ne\nf\n"`, `5 lines differ, the first is line 1: "a" → "A"`},
		{"a text of another field", `{"x":"a\nb\nc\nd\n","y":"1"}`, `{"x":"e\n","y":"1"}`, `x: 4 lines differ, the first is line 1: "a" → "e"`},
		{"plain entries", `["-v","--flag"]`, `["-v"]`, `"--flag" removed`},
		{"entries without a name, by order", `[{"ports":[{"protocol":"TCP"}]}]`, `[{"ports":[{"protocol":"UDP"}]}]`, `ports.protocol: "TCP" → "UDP"`},
		{"order only", `["a","b"]`, `["b","a"]`, "the order of the entries"},
		{"fields of a map", `{"uid":"1","name":"a","kind":"x"}`, `{"name":"b","kind":"x","new":1}`, `uid: "1" removed; name: "a" → "b"; new: 1 added`},
		{"an odd key", `{"a.b/c":"1"}`, `{}`, `["a.b/c"]: "1" removed`},
		{"lines of a text", `"a\nb\nc\n"`, `"a\nB\nc\nd\n"`, `line 2: "b" → "B"; line 4: "d" added`},
		{"the end of the last line", `"a\nb\n"`, `"a\nb"`, `line 2: "b\n" → "b"`},
		{"another shape", `["a"]`, `"a"`, `["a"] → "a"`},
		{"many", `[1,2,3,4,5,6,7,8,9,10]`, `[]`, "1 removed; 2 removed; 3 removed; 4 removed; 5 removed; 6 removed; 7 removed; 8 removed; and 2 more"},
		{"the same entry twice", `["a","a"]`, `["a"]`, `"a" removed`},
	} {
		if got := difference(value(t, tt.from), value(t, tt.to), mostParts); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.reason, got, tt.want)
		}
	}
}

// TestBeside: two values that differ are not printed alike, wherever they differ.
func TestBeside(t *testing.T) {
	const image = "registry.example.com/a-long-team-name/a-long-repository-name/app:1."
	for _, tt := range []struct {
		reason string
		values []string
		want   []string
	}{
		{"what fits is whole", []string{"a", "b"}, []string{`"a"`, `"b"`}},
		{"a tag at the end", []string{image + "2", image + "3"}, []string{`"…g-repository-name/app:1.2"`, `"…g-repository-name/app:1.3"`}},
		{"one is the other's beginning", []string{image, image + "2"}, []string{`"…g-repository-name/app:1."`, `"…g-repository-name/app:1.2"`}},
		{"a space that is none", []string{"a b", "a\u00a0b"}, []string{`"a b"`, `"a\u00a0b"`}},
	} {
		var all []merge.Opt
		for _, v := range tt.values {
			all = append(all, merge.Some(v))
		}
		got := beside(shownAt, all...)
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s: got %s, want %s", tt.reason, got[i], tt.want[i])
			}
		}
	}
	x := strings.Repeat("ü", 500)
	three := beside(shownAt, merge.Some(x), merge.Some(x[:200]+"a"+x[200:]), merge.Some(x+"b"))
	if three[0] == three[1] || three[1] == three[2] || three[0] == three[2] {
		t.Errorf("alike: %q", three)
	}
	for _, s := range three {
		if len([]rune(s)) > 3*shownAt {
			t.Errorf("%d characters: %s", len([]rune(s)), s)
		}
	}
}

// TestNotesOfLongValues: a reader sees what is lost, and by whose hand it was set.
func TestNotesOfLongValues(t *testing.T) {
	subject := func(name string) any {
		return map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}
	}
	text := func(edits map[int]string) any {
		var b strings.Builder
		for i := 1; i <= 60; i++ {
			if edits[i] != "" {
				b.WriteString(edits[i] + "\n")
			} else {
				b.WriteString("line: some configuration = value\n")
			}
		}
		return b.String()
	}
	owner := &merge.Owner{Manager: "kubectl-patch"}
	list := merge.Disagreement{
		Kind: merge.Drift, Path: merge.Path{merge.Named("subjects")}, Owner: owner, Winner: merge.LocalSide,
		Original: merge.Some([]any{subject("alice")}), Local: merge.Some([]any{subject("alice")}), Live: merge.Some([]any{subject("alice"), subject("bob")}),
	}
	conf := merge.Disagreement{
		Kind: merge.Both, Path: merge.Path{merge.Named("data"), merge.Named("conf")}, Owner: owner,
		Original: merge.Some(text(nil)), Local: merge.Some(text(map[int]string{50: "ours"})), Live: merge.Some(text(map[int]string{31: "THEIRS"})),
	}
	report := Report{Object: "x/y", Plan: merge.Plan{Settled: []merge.Disagreement{list}, Conflicts: []merge.Disagreement{conf, list}}}
	if got, want := Notes(report)[0].Text(), "subjects: list of 2 entries (kubectl-patch) overwritten: User bob removed"; got != want {
		t.Errorf("got %s", got)
	}
	report.Preview = true
	if got, want := Notes(report)[0].Text(), "subjects: list of 2 entries (kubectl-patch) would be overwritten: User bob removed"; got != want {
		t.Errorf("got %s", got)
	}
	conflicts := Conflicts(report)
	for i, want := range []string{
		`data.conf: conflict: live (kubectl-patch) changed line 31: "line: some configuration = value" → "THEIRS", and local changed line 50: "line: some configuration = value" → "ours"`,
		`subjects: conflict: live (kubectl-patch) changed what was applied last: User bob added`,
	} {
		if got := conflicts[i].Text(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestBriefAfterAWrite: what is lost cannot be had again, so none of it is left out.
func TestBriefAfterAWrite(t *testing.T) {
	var notes []Note
	for _, kind := range []NoteKind{NoteOverwritten, NoteRemoved, NoteUndecided, NoteUndecided} {
		notes = append(notes, Note{Object: "a", Kind: kind, Path: merge.Path{merge.Named(string(kind))}, Message: "x"})
	}
	notes = append(notes, Note{Object: "a", Kind: NoteRemoved, Own: true})
	got := Brief(notes, 1, false)
	if len(got) != 3 || got[2].Kind != NoteMore || got[2].Text() != "and 2 more are left as they are: undecided, undecided" {
		t.Errorf("got %v", got)
	}
	if got := Brief(notes, 1, true); len(got) != 2 || got[1].Text() != "and 3 more: --notes=json prints all" {
		t.Errorf("got %v", got)
	}
}

// TestNoTwoReadAlike: entries, fields and names that differ at their very end still
// read differently.
func TestNoTwoReadAlike(t *testing.T) {
	flag := `"--a-flag-with-a-name=` + strings.Repeat("0123456789", 12)
	name := strings.Repeat("n", 60)
	deep := `{"x":{"y":["` + strings.Repeat("z", 200)
	for _, tt := range []struct{ reason, from, to string }{
		{"long plain entries", `["a",` + flag + `1"]`, `["a",` + flag + `2"]`},
		{"lists in a list", `[["` + name + name + `1"]]`, `[["` + name + name + `2"]]`},
		{"entries with long names", `[{"name":"` + name + `1","x":` + flag + `"}]`, `[{"name":"` + name + `2","x":` + flag + `"}]`},
		{"a map and another", deep + `1"]}}`, deep + `2"]}}`},
	} {
		parts := strings.FieldsFunc(difference(value(t, tt.from), value(t, tt.to), mostParts), func(r rune) bool { return r == ';' || r == '→' })
		seen := map[string]bool{}
		for _, p := range parts {
			p = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(p), " removed"), " added"))
			if seen[p] {
				t.Errorf("%s: twice %s", tt.reason, p)
			}
			seen[p] = true
		}
		if len(parts) < 2 {
			t.Errorf("%s: %q", tt.reason, parts)
		}
	}
	many := value(t, `[`+flag+`1",`+flag+`2",`+flag+`3",`+flag+`4",`+flag+`5",`+flag+`6",`+flag+`7",`+flag+`8",`+flag+`9",`+flag+`10"]`)
	texts := entryTexts(many.Value.([]any))
	for i, text := range texts {
		if i > 0 && text == texts[i-1] {
			t.Errorf("alike: %s", text)
		}
	}
}

// TestKeepLives: the way out names what the local file lacks, and never what it has.
func TestKeepLives(t *testing.T) {
	list := `["serve","` + strings.Repeat("x", 60) + `"`
	for _, tt := range []struct{ reason, original, local, live, want string }{
		{"a value", `1`, `1`, `2`, "write 2 in the local file"},
		{"a long value, whole", `"a"`, `"a"`, `"` + strings.Repeat("x", 100) + `"`, `write "` + strings.Repeat("x", 100) + `" in the local file`},
		{"a list of which the file has all but the change", list + `]`, list + `]`, list + `,"more"]`, "make the same change of . in the local file"},
		{"a list that both changed", list + `]`, list + `,"ours"]`, list + `,"theirs"]`, "make live's change of . in the local file in place of local's"},
		{"a list of which the value applied last is not known", ``, list + `]`, list + `,"more"]`, "undo that change of . in the local file"},
		{"a value that the file does not have", `1`, ``, list + `]`, "write . in the local file as live has it"},
		{"a value that was removed in live", `1`, `1`, ``, "take it out of the local file"},
	} {
		var d merge.Disagreement
		for text, o := range map[string]*merge.Opt{tt.original: &d.Original, tt.local: &d.Local, tt.live: &d.Live} {
			if text != "" {
				*o = value(t, text)
			}
		}
		if tt.original == tt.local && tt.local != "" {
			d.Original, d.Local = value(t, tt.original), value(t, tt.local)
		}
		if got := (Note{Original: d.Original, Local: d.Local, Live: d.Live}).keep(); !strings.HasSuffix(got, ": "+tt.want) {
			t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
		}
	}
}
