package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/cli"
)

// shownForm is a form in which a verb prints, as completion offers it.
type shownForm struct {
	verb  []string // none: of the main command
	flags []string // that the verb takes
	form  string   // "": what it prints without -o
	asked bool     // who asks for it is shown the object as it is
}

// objectAsIs are the forms that print an object as it is, by what completion says of them. Any
// other form hides.
var objectAsIs = []string{"the result", "the merged text", "the resulting text", "what is sent: a JSON merge patch on a line for each object, which it names", "fields by a JSONPath template", "by a Go template", "a table of fields"}

// wholeText are the verbs that print the text of files as it is unless another form is asked for.
var wholeText = []string{"files", "replacements"}

// shownForms are all forms of all verbs: what the program's own help and completion name.
func shownForms(t *testing.T, u *user) []shownForm {
	t.Helper()
	main := cli.Reference()
	var all []shownForm
	for _, page := range append([]cli.Page{main}, main.Verbs...) {
		f := shownForm{verb: strings.Fields(strings.TrimPrefix(page.CommandPath(), main.CommandPath()))}
		for _, flag := range slices.Concat(page.Flags, main.Shared) {
			f.flags = append(f.flags, flag.Name)
		}
		f.asked = len(f.verb) > 0 && slices.Contains(wholeText, f.verb[0])
		all = append(all, f)
		if !f.takes("output") {
			continue
		}
		for line := range strings.Lines(u.merges(slices.Concat([]string{"__complete"}, f.verb, []string{"-o", ""})...).stdout) {
			name, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if name == "" || name[0] == ':' {
				continue
			}
			f.form, f.asked = name, slices.Contains(objectAsIs, text)
			all = append(all, f)
		}
	}
	if len(all) < 80 {
		t.Errorf("completion names only %d forms", len(all))
	}
	return all
}

func (f shownForm) takes(flag string) bool { return slices.Contains(f.flags, flag) }

// plantedLines are the arguments of verbs that take others than files. WHAT is secret or other,
// REF an object of that, FIELD a field of it.
var plantedLines = map[string]string{
	"files": "WHAT-source.yaml WHAT-dest.yaml --rules=rules.yaml", "replacements": "replace.yaml -f WHAT-v2.yaml",
	"migrate": "-f WHAT-v2.yaml --to=server-side", "wait": "-f WHAT-v2.yaml --rules=rules.yaml --timeout=1s",
	"view-last-applied": "REF --rules=rules.yaml", "edit-last-applied": "REF --rules=rules.yaml", "disown": "REF FIELD --rules=rules.yaml",
	"delete": "--applyset=none", "completion": "bash", "help": "", "version": "", "applyset": "",
	"applyset list": "", "applyset view": "none", "applyset verify": "none", "applyset disband": "none", "applyset adopt": "none REF",
}

// line is a command line that prints the form.
func (f shownForm) line(what string) []string {
	verb := strings.Join(f.verb, " ")
	line, other := plantedLines[verb]
	if !other {
		line = "-f WHAT-v2.yaml --rules=rules.yaml"
	}
	ref, field := "secret/one", "stringData.t0"
	if what == "other" {
		ref, field = "configmap/c", "data.ruled"
	}
	args := slices.Concat(f.verb, strings.Fields(strings.NewReplacer("WHAT", what, "REF", ref, "FIELD", field).Replace(line)))
	return append(args, f.output()...)
}

// output asks for the form.
func (f shownForm) output() []string {
	if f.form == "" {
		return nil
	}
	return []string{"-o", f.form + map[string]string{"jsonpath=": "{.data}", "go-template=": "{{.data}}", "custom-columns=": "D:.data"}[f.form]}
}

// dry asks that nothing is written.
func (f shownForm) dry() []string {
	if f.takes("dry-run") {
		return []string{"--dry-run"}
	}
	return nil
}

// modes are flags that decide what is shown, where the verb takes them.
func (f shownForm) modes(what string, n int) [][]string {
	all := [][]string{{"--policy=strict"}, {"--notes=json", ways[n%len(ways)]}, {"--live", what + "-live.yaml", "--original", what + "-v1.yaml"}, {"--dry-run=server"}, {"--show-managed-fields"}}
	all = slices.DeleteFunc(all, func(mode []string) bool {
		return slices.ContainsFunc(mode, func(arg string) bool {
			name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
			return strings.HasPrefix(arg, "--") && !f.takes(name)
		})
	})
	switch {
	case len(all) == 0:
		all = [][]string{nil}
	case !f.takes("live"): // one of them is enough
		all = all[n%len(all) : n%len(all)+1]
	}
	for i, mode := range all {
		if !slices.Contains(mode, "--dry-run=server") {
			all[i] = slices.Concat(mode, f.dry())
		}
	}
	return all
}

// reports prints in every form of every verb, but for undo, which has records of its own.
func (g *garden) reports(t *testing.T) {
	for n, f := range g.forms {
		if len(f.verb) > 0 && f.verb[0] == "undo" {
			continue
		}
		for _, what := range []string{"secret", "other"} {
			for _, mode := range f.modes(what, n) {
				if got := g.run(t, f.asked, append(f.line(what), mode...)...); got.code == 2 {
					t.Errorf("it prints nothing, and needs a row of plantedLines: %s", got)
				}
			}
		}
	}
	for _, form := range []string{"jsonpath={.metadata.name}", "go-template={{.metadata.name}}", "custom-columns=N:.metadata.name"} {
		g.run(t, false, "-f", "secret-v2.yaml", "--dry-run", "-o", form)
	}
	g.run(t, false, "-f", "secret-v2.yaml", "--policy=ask", "--dry-run")
	for level := range 11 {
		g.at(t, g.user, level, false, "diff", "-f", "secret-v2.yaml")
		g.at(t, g.user, level, false, "-f", "secret-v2.yaml", "--dry-run=server", "-o", "name", "--policy=strict")
	}
	g.run(t, false, "explain", "-f", "secret-v2.yaml", "stringData.t0")
	for _, typed := range []string{"data.", "stringData.t", "stringData"} {
		g.run(t, false, "__complete", "explain", "-f", "secret-v2.yaml", typed)
	}
}
