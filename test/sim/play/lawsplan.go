package play

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
)

// bound: a run that is bound to a plan writes no object that the plan does not change.
func (w *world) bound(r *run) string {
	if r.step.Verb != "bound" {
		return ""
	}
	text, err := os.ReadFile(w.path("plan.yaml"))
	if err != nil {
		return err.Error()
	}
	doc, err := plandoc.Parse("plan.yaml", text)
	if err != nil {
		return "" // of a run that was cut off
	}
	in := map[string]bool{}
	for _, item := range doc.Items {
		in[strings.ToLower(item.Kind)+"/"+item.Name] = true
	}
	for _, e := range r.writes() {
		if ref := refOf(e.Resource, e.Meta().GetName()); ref != "secret/"+set && !in[ref] {
			return ref + " was written, and is not in the plan"
		}
	}
	return ""
}

// page are the permissions of docs/permissions.md, by command.
var page = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for _, at := range []string{"../../../docs/permissions.md", "docs/permissions.md"} {
		text, _ := os.ReadFile(at) // in one of two places
		for line := range strings.Lines(string(text)) {
			if cells := strings.Split(line, "|"); len(cells) == 4 && strings.Contains(cells[1], "`") {
				out[strings.Trim(cells[1], " `")] = strings.Split(strings.ReplaceAll(cells[2], " ", ""), ",")
			}
		}
	}
	return out
})

// permitted: a run sends no request beyond what the page says that its command needs.
func (w *world) permitted(r *run) string {
	verbs1 := slices.Clone(page()[verbs[r.step.Verb].page])
	if len(verbs1) == 0 {
		return "docs/permissions.md has no row " + verbs[r.step.Verb].page
	}
	if w.Prune && verbs[r.step.Verb].input {
		row := "kubectl merge -f FILE --prune --applyset=configmaps/NAME"
		if !verbs[r.step.Verb].writes {
			row = "kubectl merge diff -f FILE --prune --applyset=configmaps/NAME"
		}
		verbs1 = append(verbs1, page()[row]...)
	}
	for _, x := range r.exchanges {
		if !slices.Contains(verbs1, x.Verb) && !w.besides(r, x) {
			return fmt.Sprintf("%s %s", x.Verb, x.req.URL)
		}
	}
	return ""
}

// besides reports whether the page permits the request, in its text below the table.
func (w *world) besides(r *run, x *exchange) bool {
	waits := r.waits() || r.step.Verb == "watch"
	switch {
	case x.Verb == "list" && x.Resource != "secrets": // four or more objects of a kind; autoscalers
		return true
	case x.Verb == "patch" && verbs[r.step.Verb].set: // the parent
		return x.Name == set
	case x.Verb == "patch": // whether the server stores a value
		return x.DryRun && !verbs[r.step.Verb].writes
	case x.Verb == "watch":
		return waits && x.Resource != "secrets" || waits && strings.Contains(x.req.URL.RawQuery, "fieldSelector")
	case x.Verb == "create":
		return r.step.Verb == "undo" || r.step.Verb == "rollback" // of what the run has pruned
	case x.Verb == "list":
		return waits || r.step.Verb == "undo" // a set is found by its label
	}
	return false
}
