package play

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-merge/kubectl-merge/test/sim/model"
)

// lastApplied are the values of the configuration that was applied last.
func lastApplied(o runtime.Object) map[string]string {
	var v map[string]any
	if json.Unmarshal([]byte(model.MetaOf(o).GetAnnotations()[applied]), &v) != nil {
		return map[string]string{}
	}
	return leaves(v)
}

// told: another manager's value that a run has overwritten is in its notes.
func (w *world) told(r *run) string {
	if r.dead || !verbs[r.step.Verb].input || len(r.signalled) > 0 {
		return ""
	}
	for _, e := range r.writes() {
		if e.Was == nil || e.Type != model.Modified || e.Resource != "configmaps" {
			continue
		}
		was, is, before := w.leaves(e.Was), w.leaves(e.Is), lastApplied(e.Was)
		for _, path := range differing(was, is) {
			if old := was[path]; strings.HasPrefix(old, "edit") && before[path] != old && w.setBy(e, path) == others && !strings.Contains(r.errs.text.String(), old) {
				return fmt.Sprintf("%s: %s: %q was overwritten without a word", refOf(e.Resource, e.Meta().GetName()), path, old)
			}
		}
	}
	return ""
}

// setBy is who has set the value that an event replaces.
func (w *world) setBy(e model.Event, path string) (by string) {
	for _, other := range w.model.History() {
		if other.Is == e.Is {
			break
		}
		if other.Resource == e.Resource && other.Meta().GetName() == e.Meta().GetName() && w.leaves(other.Was)[path] != w.leaves(other.Is)[path] {
			by = other.By
		}
	}
	return by
}

// undone: after an undo that succeeds, nothing has a value any more that the run has set.
func (w *world) undone(r *run) string {
	if r.step.Verb != "undo" || r.code != 0 {
		return ""
	}
	return w.left(w.recordedRun(r))
}

// left names a value that a run has written for its file, and that is still there after it was
// undone.
func (w *world) left(of *run) string {
	if of == nil || slices.ContainsFunc(of.exchanges, func(x *exchange) bool { return x.fault == "twice" }) { // as in recorded
		return ""
	}
	for _, e := range of.writes() {
		name := e.Meta().GetName()
		now := w.model.Object(e.Resource, name)
		if e.Type == model.Deleted || now == nil || model.MetaOf(now).GetUID() != e.Meta().GetUID() || model.MetaOf(now).GetDeletionTimestamp() != nil {
			continue // or soon
		}
		stated := of.input()[refOf(e.Resource, name)]
		was, wrote, is := w.leaves(e.Was), w.leaves(e.Is), w.leaves(now)
		for _, path := range differing(was, wrote) {
			if v, there := wrote[path]; there && is[path] == v && stated[path] == v {
				return fmt.Sprintf("%s: %s is still %q", refOf(e.Resource, name), path, v)
			}
		}
	}
	return ""
}

// reverts reports whether a change takes a value of the run's file away.
func (w *world) reverts(e model.Event, r *run) bool {
	stated := r.input()[refOf(e.Resource, e.Meta().GetName())]
	was, is := w.leaves(e.Was), w.leaves(e.Is)
	for _, path := range differing(was, is) {
		if v := stated[path]; v != "" && was[path] == v && is[path] != v {
			return true
		}
	}
	return false
}

// rolledBack: a run that fails with --rollback-on-failure leaves nothing that it has written, unless
// it reports that.
func (w *world) rolledBack(r *run) string {
	if r.step.Verb != "rollback" || r.dead || r.code == 0 {
		return ""
	}
	if stderr := r.errs.text.String(); strings.Contains(stderr, "not all of it was rolled back") || strings.Contains(stderr, "stays, as others") || strings.Contains(stderr, "is not undone") {
		return ""
	}
	return w.left(r)
}

// waited: what is called ready is, and what was rolled back, or given up, because it was not, was
// not.
func (w *world) waited(r *run) string {
	if r.dead || !r.waits() || !slices.Contains(w.Files[r.step.File], "deployment/web") {
		return ""
	}
	state, when := w.model.Object("deployments", "web"), time.Now()
	var ended time.Time // when the run had waited, and began to roll back what it had written
	for _, x := range r.exchanges {
		if x.Resource == "deployments" && x.Verb == "list" && x.code == http.StatusOK {
			if when, ended = time.Now(), (time.Time{}); x.late > 0 {
				when = x.at // the answer, which came later, shows the state of then
			}
		} else if x.Verb == "get" && ended.IsZero() {
			ended = x.at
		}
		if i := slices.IndexFunc(x.changes, func(e model.Event) bool { return w.reverts(e, r) }); i >= 0 {
			state, when = w.before(x.changes[i], "deployments", "web"), ended
			break
		}
	}
	settled := state != nil && when.Sub(w.since("deployments", "web", state)) > time.Second
	wrote := r.step.Verb == "awaits" || slices.ContainsFunc(r.writes(), func(e model.Event) bool { return e.Resource == "deployments" })
	switch {
	case r.code == 0 && wrote && settled && !ready(state):
		return "deployment/web is not ready"
	case r.code == 4 && settled && ready(state) && len(r.signalled) == 0 && !w.lacks(r):
		return "deployment/web is ready, and the run ends with 4"
	}
	return ""
}

// lacks reports whether others made or deleted an object of a run's file while it waited, or whether
// one was missing, or being deleted, all the time.
func (w *world) lacks(r *run) bool {
	return slices.ContainsFunc(w.Files[r.step.File], func(ref string) bool {
		o := w.model.Object(split(ref))
		return r.step.Verb == "awaits" && (o == nil || model.MetaOf(o).GetDeletionTimestamp() != nil) || slices.ContainsFunc(w.model.History()[r.from:], func(e model.Event) bool {
			return e.By != r.id && (e.Type == model.Added || deletes(e)) && refOf(e.Resource, e.Meta().GetName()) == ref
		})
	})
}

// before is an object as it was before a change.
func (w *world) before(change model.Event, resource, name string) (o runtime.Object) {
	for _, e := range w.model.History() {
		if e.Is == change.Is {
			break
		}
		if e.Resource == resource && e.Meta().GetName() == name {
			if o = e.Is; e.Type == model.Deleted {
				o = nil
			}
		}
	}
	return o
}

// since is when an object became what it is.
func (w *world) since(resource, name string, o runtime.Object) (when time.Time) {
	for i, e := range w.model.History() {
		if e.Resource == resource && e.Is == o {
			when = w.model.When(i)
		}
	}
	return when
}

// ended: a signal that repeats one within a second ends nothing, and none ends a rollback.
func (w *world) ended(r *run) string {
	if r.died && len(r.signalled) == 2 && r.signalled[1].Sub(r.signalled[0]) < time.Second {
		return "a repeated signal has ended the process"
	}
	return ""
}

// covered: the set's parent lists the kinds of all members, so that each is found.
func (w *world) covered(r *run) string {
	for resource := range kinds {
		for name, o := range w.model.Objects(resource) {
			if w.Prune && model.MetaOf(o).GetLabels()[partOf] != "" && model.MetaOf(o).GetDeletionTimestamp() == nil && !w.lists(resource) && !w.mayMiss(resource) {
				return fmt.Sprintf("%s/%s is a member, and the set's parent does not list its kind", resource, name)
			}
		}
	}
	return ""
}

var kinds = map[string]string{"configmaps": "ConfigMap", "secrets": "Secret", "serviceaccounts": "ServiceAccount", "deployments": "Deployment.apps"}

// lists reports whether the set's parent lists the kind of a resource.
func (w *world) lists(resource string) bool {
	parent := w.model.Object("secrets", set)
	return parent != nil && slices.Contains(strings.Split(model.MetaOf(parent).GetAnnotations()["applyset.kubernetes.io/contains-group-kinds"], ","), kinds[resource])
}

// mayMiss reports whether the set's parent need not list a kind: a run was killed beside another one
// (docs/prune.md), or has reported that the parent was not written, or has got no true list of the
// kind at last: two empty ones are believed.
func (w *world) mayMiss(resource string) bool {
	return slices.ContainsFunc(w.runs, func(r *run) bool {
		lists, untrue := 0, 0
		for _, x := range r.exchanges {
			if x.Verb == "list" && x.Resource == resource {
				if lists, untrue = lists+1, untrue+1; x.fault == "" {
					untrue = 0
				}
			}
		}
		unwritten := r.code != 0 && strings.Contains(r.errs.text.String(), "error: secret/"+set+": the set's parent was not written: ")
		return w.Has("runs") && (r.dead || unwritten) || lists > 2 && untrue > 1
	})
}

// drifted: no drift is reported only where there has been none.
func (w *world) drifted(r *run) string {
	if r.step.Verb != "drift" || r.dead || r.code != 0 {
		return ""
	}
	file, err := w.read(r.step.File)
	if err != nil {
		return err.Error()
	}
	for ref, object := range file {
		if !w.once(r, ref, func(o runtime.Object) bool { return contains(w.leaves(o), object) }) {
			return ref + " is not as the file states it"
		}
	}
	return ""
}

// watched: a watch that ends without drift has missed none that began before the end, unless the
// last list of a kind was an old one.
func (w *world) watched(r *run) string {
	if r.step.Verb != "watch" || r.dead || r.code != 0 || len(r.signalled) > 0 {
		return ""
	}
	old := map[string]bool{}
	for _, x := range r.exchanges {
		if x.Verb == "list" {
			old[x.Resource] = x.fault == "stale-list"
		}
	}
	for ref, stated := range r.input() {
		resource, name := split(ref)
		if o := w.model.Object(resource, name); o != nil && !old[resource] && time.Since(w.since(resource, name, o)) > 15*time.Second && !contains(w.leaves(o), stated) {
			return ref + " has drifted"
		}
	}
	return ""
}

// absorbed: what was edited by hand before a run is among what it takes into the files.
func (w *world) absorbed(r *run) string {
	if r.step.Verb != "absorb" || r.dead || r.code != 0 {
		return ""
	}
	for ref, stated := range r.input() {
		resource, name := split(ref)
		o := w.model.Object(resource, name)
		if o == nil || resource != "configmaps" || slices.ContainsFunc(w.model.History()[r.from:], func(e model.Event) bool { return e.Is == o }) {
			continue
		}
		for path, v := range w.leaves(o) {
			if stated[path] != "" && strings.HasPrefix(v, "edited") {
				return fmt.Sprintf("%s: %s: %q was edited, and is passed over", ref, path, v)
			}
		}
	}
	return ""
}

// taken: a file that is written has all its objects, and each value that is new in it the object has
// had; a killed run leaves it as it was or as it is to be.
func (w *world) taken(r *run) string {
	if r.step.Verb != "take" {
		return ""
	}
	file, err := w.read(r.step.File)
	if err != nil {
		return err.Error()
	}
	for ref, stated := range r.input() {
		if file[ref] == nil {
			return ref + " is in the file no more"
		}
		for path, v := range file[ref] {
			if stated[path] != v && !w.once(r, ref, func(o runtime.Object) bool { return w.leaves(o)[path] == v }) {
				return fmt.Sprintf("%s: %s: %q was taken, and never there", ref, path, v)
			}
		}
	}
	return ""
}

// read are the values of a version of the input as its file has them by now.
func (w *world) read(version int) (map[string]map[string]string, error) {
	text, err := os.ReadFile(w.path(fmt.Sprintf("v%d.yaml", version)))
	out := map[string]map[string]string{}
	for doc := range strings.SplitSeq(string(text), "---\n") {
		var o struct {
			Kind     string
			Metadata struct{ Name string }
		}
		var v map[string]any
		err = errors.Join(err, yaml.Unmarshal([]byte(doc), &o), yaml.Unmarshal([]byte(doc), &v))
		if v != nil {
			out[strings.ToLower(o.Kind)+"/"+o.Metadata.Name] = leaves(v)
		}
	}
	return out, err
}

// finished: after two quiet runs the second has had nothing to do, and the set is its input.
func (w *world) finished(again *run) {
	if again.code != 0 && again.code != 3 {
		w.breaks("finished", "a quiet run ends with %d", again.code)
		return
	}
	if n := len(again.writes()); n > 0 {
		w.breaks("settled", "a second quiet run writes %d times", n)
	}
	if !w.Prune {
		return
	}
	input := again.input()
	for kind, resource := range plurals {
		for name, o := range w.model.Objects(resource) {
			meta, ref := model.MetaOf(o), kind+"/"+name
			if _, in := input[ref]; meta.GetLabels()[partOf] != "" && !in && meta.GetAnnotations()[keeps] == "" && meta.GetDeletionTimestamp() == nil && (w.lists(resource) || !w.mayMiss(resource)) {
				w.breaks("pruned", "%s is a member, and in no file", ref)
			}
		}
	}
}
