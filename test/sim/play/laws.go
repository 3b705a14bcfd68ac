package play

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/test/sim/model"
)

// laws hold for every run, whatever has happened to it.
var laws = []struct {
	name  string
	holds func(w *world, r *run) string // why not; "" if it does
}{
	{"silent", (*world).silent},
	{"only what is its own is written", (*world).owns},
	{"only what the set has too much is deleted", (*world).deletes},
	{"what is reported has happened", (*world).happened},
	{"what has happened is reported", (*world).reported},
	{"wanted", (*world).wanted},
	{"told", (*world).told},
	{"exit code", (*world).exits},
	{"Retry-After", (*world).obeys},
	{"recorded", (*world).recorded},
	{"undone", (*world).undone},
	{"ready", (*world).waited},
	{"rolled back", (*world).rolledBack},
	{"signals", (*world).ended},
	{"covered", (*world).covered},
	{"permissions", (*world).permitted},
	{"no drift", (*world).drifted},
	{"watched", (*world).watched},
	{"absorbed", (*world).absorbed},
	{"taken", (*world).taken},
	{"bound", (*world).bound},
	{"edited", (*world).edited},
}

// check checks the laws after a run.
func (w *world) check(r *run) {
	r.checked = true
	for _, law := range laws {
		if why := law.holds(w, r); why != "" {
			w.breaks(law.name, "%s: %s", r.id, why)
		}
	}
}

// silent: no value of a Secret is printed.
func (w *world) silent(r *run) string {
	record, _ := os.ReadFile(w.path("record.yaml")) // there may be none
	for name, out := range map[string]string{"stdout": r.out.text.String(), "stderr": r.errs.text.String(), "record": string(record)} {
		if strings.Contains(out, planted) || strings.Contains(out, encoded("")[:16]) {
			return "a Secret's value is in " + name
		}
	}
	return ""
}

// writes are the changes that a run has made.
func (r *run) writes() []model.Event {
	var all []model.Event
	for _, x := range r.exchanges {
		all = append(all, x.changes...)
	}
	return all
}

// input are the objects that the run's file states, and their values.
func (r *run) input() map[string]map[string]string {
	out := map[string]map[string]string{}
	if r.step.Verb == "undo" || verbs[r.step.Verb].set {
		return out
	}
	for _, ref := range r.world.Files[r.step.File] {
		out[ref] = stated(ref, r.step.File)
	}
	return out
}

// owns: each value that a run writes is one of its file, each that it removes was applied before and
// is in the file no more; and what it undoes, a run has written just so.
func (w *world) owns(r *run) string {
	undoes := w.undoes(r)
	for _, e := range r.writes() {
		ref := refOf(e.Resource, e.Meta().GetName())
		if e.Type == model.Deleted || ref == "secret/"+set {
			continue
		}
		stated, original := r.input()[ref], map[string]string{}
		if r.step.Verb == "undo" {
			stated = map[string]string{}
		}
		was, is := w.leaves(e.Was), w.leaves(e.Is)
		if e.Was != nil {
			original = lastApplied(e.Was)
		}
		for _, path := range differing(was, is) {
			if path == "metadata.labels."+partOf || path == "metadata.annotations."+admitted || r.step.Verb == "migrate" {
				continue
			}
			value, there := is[path]
			old, had := was[path]
			_, still := stated[path]
			_, before := original[path]
			switch {
			case there && stated[path] == value && r.step.Verb != "undo":
			case !there && had && before && !still && r.step.Verb != "undo":
			case !there && w.Server && r.step.Verb != "undo": // owned by the applier
			case undoes.has(ref, path, old, value):
			case strings.HasPrefix(path, "spec.") && e.Type == model.Added: // defaults
			case strings.HasPrefix(path, "type"):
			default:
				return fmt.Sprintf("%s: %s: from %q to %q", ref, path, old, value)
			}
		}
	}
	return ""
}

// change is a value that a run has changed.
type change struct{ ref, path, from, to string }

type changes map[change]bool

// has reports whether a change is undone by one from old to value.
func (c changes) has(ref, path, old, value string) bool {
	for one := range c {
		if one.ref == ref && one.path == path && one.to == old {
			for back := range c {
				if back.ref == ref && back.path == path && back.from == value {
					return true
				}
			}
		}
	}
	return false
}

// undoes are the changes that a run may undo: of the recorded run, or its own.
func (w *world) undoes(r *run) changes {
	out := changes{}
	var events []model.Event
	switch r.step.Verb {
	case "undo":
		if of := w.recordedRun(r); of != nil {
			events = append(of.writes(), w.deletedDuring(of)...)
		}
	case "rollback":
		events = r.writes()
	}
	for _, e := range events {
		ref := refOf(e.Resource, e.Meta().GetName())
		was, is := w.leaves(e.Was), w.leaves(e.Is)
		if deletes(e) {
			is = map[string]string{}
		}
		for _, path := range differing(was, is) {
			out[change{ref, path, was[path], is[path]}] = true
		}
	}
	return out
}

// deletedDuring are the deletions while a run was under way: a deletion that finds its object gone
// counts as done.
func (w *world) deletedDuring(r *run) (all []model.Event) {
	for _, e := range w.model.History()[r.from:r.to] {
		if deletes(e) {
			all = append(all, e)
		}
	}
	return all
}

// recordedRun is the run whose record another one undoes.
func (w *world) recordedRun(of *run) *run {
	for _, r := range w.runs {
		if r.step.Verb == "record" && r.n >= 0 && r.n < of.n {
			return r
		}
	}
	return nil
}

func differing(a, b map[string]string) []string {
	var out []string
	for path, v := range a {
		if is, there := b[path]; !there || is != v {
			out = append(out, path)
		}
	}
	for path := range b {
		if _, there := a[path]; !there {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// deletes reports whether a change is a deletion, or begins one.
func deletes(e model.Event) bool {
	return e.Type == model.Deleted || e.Was != nil && e.Meta().GetDeletionTimestamp() != nil && model.MetaOf(e.Was).GetDeletionTimestamp() == nil
}

// deletes: a run deletes only members of the set that its input does not have, and that nothing
// keeps; or objects that the run that it undoes has created, and no other client has changed.
func (w *world) deletes(r *run) string {
	for _, e := range r.writes() {
		ref := refOf(e.Resource, e.Meta().GetName())
		if !deletes(e) || e.Was == nil || ref == "secret/"+set && verbs[r.step.Verb].set {
			continue
		}
		meta := model.MetaOf(e.Was)
		if w.created(r, e) {
			continue
		}
		_, stated := r.input()[ref]
		switch {
		case !w.Prune || r.step.Verb == "undo":
			return ref + " was deleted, and not created by the run that is undone, or changed by others since"
		case meta.GetLabels()[partOf] == "":
			return ref + " was deleted, and is no member"
		case stated:
			return ref + " was deleted, and is in the input"
		case meta.GetAnnotations()[keeps] != "":
			return ref + " was deleted, though it is to be kept"
		}
	}
	return ""
}

// created reports whether an object that was deleted is one that the run that is undone has created,
// and that no other client has written since.
func (w *world) created(r *run, e model.Event) bool {
	of := r
	if r.step.Verb == "undo" {
		of = w.recordedRun(r)
	} else if r.step.Verb != "rollback" {
		return false
	}
	if of == nil {
		return false
	}
	made := false
	for _, other := range w.model.History() {
		if other.Meta().GetUID() != e.Meta().GetUID() {
			continue
		}
		made = made || other.Type == model.Added && other.By == of.id
		if other.By != of.id && other.By != r.id && other.By != controller && len(differing(w.leaves(other.Was), w.leaves(other.Is))) > 0 {
			return false
		}
	}
	return made
}

// outcome is a line about an object.
var outcome = regexp.MustCompile(`(?m)^(\S+/\S+) (created|configured|unchanged|pruned|deleted|serverside-applied)\b`)

// outcomes are the words about each object on standard output.
func (r *run) outcomes() map[string]string {
	out := map[string]string{}
	for _, m := range outcome.FindAllStringSubmatch(r.out.text.String(), -1) {
		out[m[1]] = m[2]
	}
	return out
}

// happened: a run that prints that it has written an object, or deleted it, has; one that prints
// that nothing was to be done has not written it.
func (w *world) happened(r *run) string {
	if !verbs[r.step.Verb].writes || verbs[r.step.Verb].owners {
		return ""
	}
	wrote, gone := map[string]bool{}, map[string]bool{}
	for _, e := range w.model.History()[r.from:r.to] {
		ref := printed(refOf(e.Resource, e.Meta().GetName()))
		if e.By == r.id && e.Type != model.Deleted {
			wrote[ref] = true
		}
		if e.Type == model.Deleted || e.Meta().GetDeletionTimestamp() != nil {
			gone[ref] = true
		}
	}
	for ref, word := range r.outcomes() {
		switch {
		case (word == "created" || word == "configured" || word == "serverside-applied") && !wrote[ref],
			word == "unchanged" && wrote[ref],
			(word == "pruned" || word == "deleted") && !gone[ref]:
			return fmt.Sprintf("%s is reported as %s: written %t, deleted %t", ref, word, wrote[ref], gone[ref])
		}
	}
	return w.miscounted(r)
}

// counted is the summary, with the number of objects that were created.
var counted = regexp.MustCompile(`(?m)^ *\d+ objects?: (?:(\d+) created)?`)

// miscounted: a run counts as created what it has created. Where a write got no answer, it may not know.
func (w *world) miscounted(r *run) string {
	m := counted.FindStringSubmatch(r.out.text.String() + r.errs.text.String())
	if m == nil || r.dead || !verbs[r.step.Verb].input || r.step.Verb == "rollback" {
		return ""
	}
	made, input := map[string]bool{}, r.input()
	for _, x := range r.exchanges {
		if x.fault != "" && x.Verb != "get" && x.Verb != "list" {
			return ""
		}
		for _, e := range x.changes {
			if ref := refOf(e.Resource, e.Meta().GetName()); e.Type == model.Added && input[ref] != nil {
				made[ref] = true
			}
		}
	}
	if said, _ := strconv.Atoi(m[1]); said != len(made) { // none is ""
		return fmt.Sprintf("%d objects are reported as created, and %d were", said, len(made))
	}
	return ""
}

// reported: each object that a run has changed is named.
func (w *world) reported(r *run) string {
	if r.dead {
		return ""
	}
	all := r.out.text.String() + r.errs.text.String()
	for _, e := range r.writes() {
		if ref := printed(refOf(e.Resource, e.Meta().GetName())); ref != "secret/"+set && !strings.Contains(all, ref) {
			return ref + " was written, and is not named"
		}
	}
	return ""
}

// wanted: a run that succeeds has found, or made, each object as its file states it.
func (w *world) wanted(r *run) string {
	if r.dead || r.code != 0 || !verbs[r.step.Verb].writes || !verbs[r.step.Verb].input {
		return ""
	}
	for ref, object := range r.input() {
		if !w.once(r, ref, func(o runtime.Object) bool { return contains(w.leaves(o), object) }) {
			return ref + " has never been as the file states it"
		}
	}
	return ""
}

func contains(all, some map[string]string) bool {
	for path, v := range some {
		if all[path] != v {
			return false
		}
	}
	return true
}

// once reports whether an object has been so at a moment of a run.
func (w *world) once(r *run, ref string, so func(runtime.Object) bool) bool {
	resource, name := split(ref)
	var before runtime.Object
	for i, e := range w.model.History()[:r.to] {
		if e.Resource != resource || e.Meta().GetName() != name {
			continue
		}
		is := e.Is
		if e.Type == model.Deleted {
			is = nil
		}
		if i < r.from {
			before = is
		} else if is != nil && so(is) {
			return true
		}
	}
	return before != nil && so(before)
}

// exits: the code is one of the verb's, and an error is printed if and only if there is one.
func (w *world) exits(r *run) string {
	stderr := r.errs.text.String()
	failed := strings.Contains("\n"+stderr, "\nerror: ") // a note may quote one
	switch {
	case r.dead || len(r.signalled) > 0 && (r.code == 130 || r.code == 143):
	case !slices.Contains(verbs[r.step.Verb].codes, r.code):
		return fmt.Sprintf("%s ends with %d", r.step.Verb, r.code)
	case r.code == 0 && failed:
		return "an error, and exit code 0"
	case strings.Contains(stderr, "--help' for usage"):
		return "the command line is none of the program's: " + stderr
	case r.code == 1 && !failed && verbs[r.step.Verb].writes:
		return "exit code 1, and no error"
	}
	return ""
}

func (r *run) waits() bool {
	return slices.Contains([]string{"wait", "rollback", "awaits"}, r.step.Verb)
}

// obeys: what a server asks to be sent later is sent later.
func (w *world) obeys(r *run) string {
	until, known := map[string]time.Time{}, map[string]int{}
	for i, x := range r.exchanges {
		key := fmt.Sprint(x.Verb, x.Resource, x.Name, x.DryRun)
		if x.Verb == "create" {
			key += string(x.body) // the URL has no name
		}
		if x.at.Before(until[key]) && x.sent > known[key] {
			return fmt.Sprintf("%s %s/%s: sent again %s too early", x.Verb, x.Resource, x.Name, until[key].Sub(x.at))
		}
		if x.pause > 0 {
			until[key], known[key] = x.at.Add(x.pause), i
		}
	}
	return ""
}

// recorded: what a run has written is in its record, also if it was killed. Who owns the values of
// an object is handed over before, and not recorded.
func (w *world) recorded(r *run) string {
	if r.step.Verb != "record" && r.step.Verb != "rollback" {
		return ""
	}
	text, err := os.ReadFile(w.path("record.yaml"))
	if os.IsNotExist(err) && strings.Contains(r.errs.text.String(), "is removed: all that the run had written was rolled back") {
		return w.left(r)
	}
	in := map[string]bool{}
	if err == nil && len(text) > 0 {
		doc, err := plandoc.Parse("record.yaml", text)
		if err != nil {
			return err.Error()
		}
		for _, item := range doc.Executed() {
			in[strings.ToLower(item.Kind)+"/"+item.Name] = true
		}
	}
	for _, x := range r.exchanges {
		for _, e := range x.changes {
			ref := refOf(e.Resource, e.Meta().GetName())
			if e.Type == model.Modified && len(differing(w.leaves(e.Was), w.leaves(e.Is))) == 0 {
				continue
			}
			if ref != "secret/"+set && !in[ref] && x.fault != "twice" { // the second answer is a conflict, and whose write it is cannot be seen
				return ref + " was written, and is not in the record"
			}
		}
	}
	return ""
}
