package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
)

// bound holds what was sent to the plan.
func (p *promises) bound() {
	actions := p.actions("plan.yaml")
	for _, o := range p.alive() {
		sent := p.sent[o]
		if len(sent) == 0 {
			p.counts.add("objects not written", 1)
			continue
		}
		for _, r := range sent {
			if r.code >= 300 {
				continue // it was refused, and has written nothing
			}
			if problem := p.unplanned(o, r, actions[o.key()]); problem != "" {
				p.t.Errorf("bound: %s: %s %s: the plan has %q: %s", o, r.method, short(r.body), actions[o.key()], problem)
			}
		}
		p.counts.add("objects written as planned", 1)
	}
}

// actions are what a document has about each object.
func (p *promises) actions(file string) map[string]string {
	text, err := os.ReadFile(filepath.Join(p.dir, file))
	if err != nil {
		p.t.Fatal(err)
	}
	v, err := decode(text)
	if err != nil {
		p.t.Fatal(err)
	}
	out := map[string]string{}
	for _, item := range v.(map[string]any)["objects"].([]any) {
		item := item.(map[string]any)
		group, kind := kindOf(item)
		out[fmt.Sprintf("%s %s %s", group, kind, item["name"])] = item["action"].(string)
	}
	return out
}

// unplanned says what is wrong with a request; "" for nothing.
func (p *promises) unplanned(o *promised, r sentRequest, action string) string {
	switch r.method {
	case http.MethodPost:
		if action != "create" {
			return "is created"
		}
		return o.beyond(nil, r.body)
	case http.MethodDelete:
		uid := at(o.live[asPlanned], []any{"metadata", "uid"})
		if action != "delete" || at(r.body, []any{"preconditions", "uid"}) != uid {
			return "is deleted"
		}
		for _, c := range merge.Diff(o.configured(o.live[asPlanned]), o.configured(o.live[asFound]), o.kind.typ) {
			if c.Op == merge.OpSet {
				return fmt.Sprintf("is deleted, and others have set %s since: %s to %s", c.Path, opt(c.Old), opt(c.New))
			}
		}
		return ""
	}
	if action != "change" {
		return "is changed"
	}
	if is, was := at(o.live[asFound], []any{"metadata", "uid"}), at(o.live[asPlanned], []any{"metadata", "uid"}); is != was {
		return "is another object"
	}
	return o.beyond(o.live[asFound], patched(o.live[asFound], r.body))
}

// beyond is a change that does not lead from what was there when the run was planned to what
// was planned.
func (o *promised) beyond(from, to any) string {
	was, planned := o.configured(o.live[asPlanned]), o.configured(o.result)
	before, _ := from.(map[string]any)
	after, _ := to.(map[string]any)
	for _, c := range merge.Diff(o.configured(before), o.configured(after), o.kind.typ) {
		if c.Op != merge.OpOrder && !o.leads(c.Path, c.Old, c.New, was, planned) {
			return fmt.Sprintf("%s: %s becomes %s", c.Path, opt(c.Old), opt(c.New))
		}
	}
	return ""
}

// leads: the change of a value, or each that it consists of, is from what was there when the run
// was planned to what was planned.
func (o *promised) leads(p merge.Path, from, to merge.Opt, was, planned any) bool {
	if o.within(p, from, was) && o.within(p, to, planned) {
		return true
	}
	typ := o.kind.typ.At(p)
	a, okA := from.Value.(map[string]any)
	b, okB := to.Value.(map[string]any)
	if !okA && from.Set || !okB && to.Set || len(a)+len(b) == 0 || typ != nil && typ.Atomic {
		return false
	}
	for name := range maps.Keys(patched(a, b).(map[string]any)) {
		x, hadX := a[name]
		y, hasY := b[name]
		if !merge.Identical(x, y) && !o.leads(p.Child(merge.Named(name)), merge.Opt{Value: x, Set: hadX}, merge.Opt{Value: y, Set: hasY}, was, planned) {
			return false
		}
	}
	return true
}

func opt(o merge.Opt) string {
	if !o.Set {
		return "nothing"
	}
	return short(o.Value)
}

// configured returns the part of an object that is merged; nil for nil.
func (o *promised) configured(v map[string]any) any {
	if v == nil {
		return nil
	}
	all := *o.kind
	all.hasStatus = true
	return all.configuration(v)
}

// at is a value of an object.
func (o *promised) at(p merge.Path, v any) merge.Opt {
	is, has := merge.Lookup(v, p, o.kind.typ)
	return merge.Opt{Value: is, Set: has}
}

// within: the object has the value at the path, and perhaps more entries of it.
func (o *promised) within(p merge.Path, v merge.Opt, object any) bool {
	if o.alike(p, v, o.at(p, object)) {
		return true
	}
	m, ok := v.Value.(map[string]any)
	for name, e := range m {
		ok = ok && o.within(p.Child(merge.Named(name)), merge.Some(e), object)
	}
	list, isList := v.Value.([]any)
	typ := o.kind.typ.At(p)
	if isList && len(list) > 0 && typ != nil && (typ.Kind == merge.Keyed || typ.Kind == merge.Set) {
		ok = true
		for i, e := range list {
			ok = ok && o.within(p.Child(schema.EntrySteps(typ, list)[i]), merge.Some(e), object)
		}
	}
	return ok
}

func (o *promised) alike(p merge.Path, a, b merge.Opt) bool {
	f, _ := schema.FieldAt(o.kind.typ, p)
	return laws.Alike(a, b, f)
}

// undone holds what is there at the end to what was there before the run.
func (p *promises) undone() {
	actions := p.actions("run.yaml")
	for _, o := range p.alive() {
		action, recorded := actions[o.key()]
		problem := ""
		switch uid := []any{"metadata", "uid"}; {
		case !recorded:
			if version(o.live[asEdited]) != version(o.live[asTakenBack]) {
				problem = "the run has not written it"
			}
		case o.live[asEdited] != nil && action != "delete" && at(o.live[asEdited], uid) != at(o.live[asWritten], uid),
			o.live[asEdited] == nil && action != "delete",
			o.live[asEdited] != nil && action == "delete": // it is another one now
			p.counts.add("objects that others have replaced", 1)
			if version(o.live[asEdited]) != version(o.live[asTakenBack]) {
				problem = "it is others' now"
			}
		case action == "create":
			problem = p.uncreated(o)
		case action == "delete":
			if problem = o.differ(o.live[asFound], o.live[asTakenBack]); problem == "" {
				p.counts.add("objects taken back", 1)
			}
		default:
			problem = p.restored(o)
		}
		if problem == "" && recorded && action != "create" {
			problem = p.claimed(o)
		}
		if problem != "" {
			p.t.Errorf("undone: %s: %s: %s\n%sbefore  %v\nwritten %v\nedited  %v\nis      %v", o, action, problem, linesAbout(p.said, o.ref),
				o.configured(o.live[asFound]), o.configured(o.live[asWritten]), o.configured(o.live[asEdited]), o.configured(o.live[asTakenBack]))
		}
	}
}

// uncreated: what the run has created is gone, unless others have changed it, or it may hold
// something: a volume.
func (p *promises) uncreated(o *promised) string {
	theirs := merge.Diff(o.configured(o.live[asWritten]), o.configured(o.live[asEdited]), o.kind.typ)
	leaves := leaves(merge.Field{Type: o.kind.typ}, o.configured(o.live[asWritten]), nil)
	applied := slices.ContainsFunc(leaves, func(l leaf) bool { return o.reapplied(l.path) })
	holds := strings.HasPrefix(o.kind.kind, "PersistentVolume")
	is := o.live[asTakenBack]
	gone := is == nil || at(is, []any{"metadata", "deletionTimestamp"}) != nil
	switch {
	case len(theirs) == 0 && !applied && !gone && !holds:
		return "no other client has changed it, and it is not deleted"
	case len(theirs) > 0 && gone:
		return fmt.Sprintf("others have changed %s, and it is deleted", theirs[0].Path)
	case gone:
		p.counts.add("objects taken back", 1)
	default:
		p.counts.add("objects left, as others have changed them", 1)
	}
	return ""
}

// claimed: the undo has written a value that others had set, and its manager owns it now instead of them.
func (p *promises) claimed(o *promised) string {
	was, is := ownership.Of(o.live[asFound]), ownership.Of(o.live[asTakenBack])
	ours := func(owner merge.Owner) bool { return owner.Manager == apply.DefaultManager }
	names := func(owners []merge.Owner) (names []string) {
		for _, owner := range owners {
			names = append(names, owner.Manager+" "+owner.Operation)
		}
		return slices.Sorted(slices.Values(names))
	}
	for _, l := range leaves(merge.Field{Type: o.kind.typ}, o.configured(o.live[asTakenBack]), nil) {
		edited, _ := merge.Lookup(o.configured(o.live[asEdited]), l.path, o.kind.typ)
		before, by := ownership.At(was, l.path), ownership.At(is, l.path)
		if is == nil || len(before) == 0 || slices.ContainsFunc(before, ours) || merge.Equal(edited, l.value, l.field.Type) {
			continue
		}
		switch {
		case slices.Equal(names(before), names(by)):
			p.counts.add("values that others had set, and that are theirs again", 1)
		case o.kind.kind != "HorizontalPodAutoscaler" || l.path.String() != "spec.metrics": // of which the API server makes every writer an owner
			return fmt.Sprintf("%s was set by %v, and belongs to %v now", l.path, before, by)
		}
	}
	return ""
}

// reapplied: another manager has applied the value since the run, and owns it as the run does.
func (o *promised) reapplied(p merge.Path) bool {
	was := ownership.At(ownership.Of(o.live[asWritten]), p)
	return slices.ContainsFunc(ownership.At(ownership.Of(o.live[asEdited]), p), func(is merge.Owner) bool {
		return is.Operation == "Apply" && !slices.ContainsFunc(was, func(w merge.Owner) bool { return w.Manager == is.Manager && w.Operation == is.Operation })
	})
}

// differ is where two objects are not configured alike, save for what the server makes of the
// UID of a Job.
func (o *promised) differ(want, is map[string]any) string {
	for _, c := range merge.Diff(o.configured(want), o.configured(is), o.kind.typ) {
		if c.Op != merge.OpOrder && !o.ofUID(c.Path) && !o.alike(c.Path, c.Old, c.New) {
			return fmt.Sprintf("%s: was %s, is %s", c.Path, opt(c.Old), opt(c.New))
		}
	}
	return ""
}

// ofUID: the server makes the value of the UID and the name of a Job, and takes it for a default of its own labels.
func (o *promised) ofUID(p merge.Path) bool {
	at := p.String()
	return o.kind.kind == "Job" && (strings.Contains(at, "controller-uid") || strings.Contains(at, "job-name") || strings.HasPrefix(at, "spec.selector"))
}

// restored: what the run has changed, and others have not, is as it was; what others have
// changed, and the run has not, is as they left it; nothing else has changed.
func (p *promises) restored(o *promised) string {
	found, written, edited, is := o.configured(o.live[asFound]), o.configured(o.live[asWritten]), o.configured(o.live[asEdited]), o.configured(o.live[asTakenBack])
	ours, theirs := merge.Diff(found, written, o.kind.typ), merge.Diff(written, edited, o.kind.typ)
	for _, c := range ours {
		if now := o.at(c.Path, is); c.Op != merge.OpOrder && !reaches(o.chosen(c.Path), theirs) && !o.reapplied(c.Path) && !o.alike(c.Path, c.Old, o.unallocated(c.Path, c.Old, now)) && !o.filled(c, is) {
			return fmt.Sprintf("%s: was %s, the run has made it %s, no other client has changed it, and it is %s", c.Path, opt(c.Old), opt(c.New), opt(now))
		}
	}
	for _, c := range theirs {
		if now := o.at(c.Path, is); c.Op != merge.OpOrder && !reaches(c.Path, ours) && !o.alike(c.Path, c.New, now) {
			return fmt.Sprintf("%s: others have made it %s, and it is %s", c.Path, opt(c.New), opt(now))
		}
	}
	for _, c := range merge.Diff(edited, is, o.kind.typ) {
		if c.Op != merge.OpOrder && !reaches(c.Path, ours) && !o.alike(c.Path, c.Old, c.New) {
			return fmt.Sprintf("%s: the run has not changed it, and it was %s and is %s", c.Path, opt(c.Old), opt(c.New))
		}
	}
	p.counts.add("objects taken back", 1)
	return ""
}

// filled: a value that was not there before is a default that the server adds to what others have set: the
// externalTrafficPolicy of a Service whose new type they have applied, too.
func (o *promised) filled(c merge.Change, is any) bool {
	now := o.at(c.Path, is)
	removed, err := merge.Replay(is, []merge.Change{{Op: merge.OpRemove, Path: c.Path, Old: now}})
	return err == nil && !c.Old.Set && now.Set && o.alike(c.Path, o.at(c.Path, merge.Complete(removed, o.kind.typ, true)), now)
}

// unallocated is a value as it is now without what the server allocates, where there was none
// before: a Service that others have given another type gets node ports, those of ports of the
// same names or new ones (pkg/registry/core/service/storage: patchAllocatedValues).
func (o *promised) unallocated(p merge.Path, was, is merge.Opt) merge.Opt {
	f, _ := schema.FieldAt(o.kind.typ, p)
	if f.Allocated && !was.Set {
		return was
	}
	before, okB := was.Value.(map[string]any)
	now, okN := is.Value.(map[string]any)
	if !okB || !okN {
		return is
	}
	now = maps.Clone(now)
	for name := range now {
		if _, had := before[name]; !had && f.Type.Field(name).Allocated {
			delete(now, name)
		}
	}
	return merge.Some(now)
}

// chosen is the object in which a value excludes others, being a field of a one-of; else the
// value itself.
func (o *promised) chosen(p merge.Path) merge.Path {
	for n := range p {
		if typ := o.kind.typ.At(p[:n]); typ != nil && slices.ContainsFunc(typ.OneOf, func(g merge.OneOf) bool { return slices.Contains(g.Fields, p[n].Name) }) {
			return p[:n]
		}
	}
	return p
}

// reaches: a change is of the value at the path, of a part of it, or of what holds it.
func reaches(p merge.Path, changes []merge.Change) bool {
	inside := func(at, of string) bool {
		return at == of || strings.HasPrefix(at, of+".") || strings.HasPrefix(at, of+"[")
	}
	for _, c := range changes {
		if inside(p.String(), c.Path.String()) || inside(c.Path.String(), p.String()) {
			return true
		}
	}
	return false
}
