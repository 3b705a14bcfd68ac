package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// ServerManager is the field manager of kubectl apply --server-side.
const ServerManager = "kubectl"

// ServerSide writes by server-side apply (KEP-555). What managedFields list as applied by
// the manager counts as applied last, and the server keeps it there. What the plan leaves
// to live is not applied, so that its other owners keep it alone.
//
// Where live was applied from the client's side, by any manager, that manager's fields are
// first given to the applier, as kubectl apply --server-side does
// (k8s.io/client-go/util/csaupgrade).
//
// Unlike kubectl: a disagreement with another owner is decided field by field, by policy,
// rule or user. Removals that the server would not do are made possible: of a default
// without an owner, and of what the user has decided to remove.
//
// Rules: docs/server-side.md.
type ServerSide struct{}

// Applying holds what a server-side apply sends.
type Applying struct {
	// Config is the configuration: identity, and the fields that the applier will own.
	Config map[string]any

	// Force: the plan takes over fields that others own.
	Force bool

	// Owners lists the managedFields that the object is given first, in a separate write
	// that changes no value, so that the server removes what the plan removes; nil:
	// unchanged. A plan with Owners is merged again with the object as it is then stored.
	Owners []any

	// copied: the server writes all that is sent into the last-applied annotation.
	copied bool
}

// body returns the configuration, bound to the version that was merged and to its uid: without
// one, the server creates anew what was deleted meanwhile. A pinned one that takes nothing over
// needs no binding: the server itself refuses to change what others own. One that is copied into
// the last-applied annotation must have none. kubectl apply would take the resourceVersion there
// for a field that was applied. Server-side apply, which sends none, would write the object again.
func (a *Applying) body(version, uid string, pinned bool) map[string]any {
	if version == "" || a.copied || pinned && !a.Force {
		return a.Config
	}
	body := bound(a.Config, version)
	if uid != "" {
		body = merge.With(body, uid, "metadata", "uid")
	}
	return body
}

// serverSides holds what ServerSide knows of an object besides the sides.
type serverSides struct {
	*ownership.Rewrite
	shares ownership.Shares
	stated any            // local, as it is applied
	live   map[string]any // with rewritten managedFields; nil: there is none
	from   []string       // managers of client-side apply, whose fields are given to the applier

	leftOut []string // reports of fields that are not applied, for a run that writes the object
	typ     *merge.Type

	adopted []string     // others whose fields are given to the applier
	owners  merge.Owners // before that

	removes bool // the last-applied annotation of a Secret, which another manager has kept
}

// Others reports whether a manager besides the applier holds the value at the path, or
// parts of it. Where managedFields are empty, the server enters everything under
// merge.Unrecorded before it applies anything.
func (k *serverSides) Others(p merge.Path) bool {
	if k.live == nil || ownership.Recorded(k.live) {
		return k.Rewrite.Others(p)
	}
	_, there := merge.Lookup(k.live, p, k.typ)
	return there
}

func (ServerSide) sides(ctx context.Context, m merging) (out sides, err error) {
	known := &serverSides{Rewrite: ownership.RewriteOf(m.live, m.Manager)}
	if out.typ, err = m.schema(ctx, m.Subject, nil, m.live); err != nil {
		return out, err
	}
	known.typ = out.typ
	if err := m.leaveOut(known, out.typ); err != nil {
		return out, err
	}
	m.local = withoutEmptyKeys(m.local, out.typ)
	local, _ := lastapplied.Strip(lastapplied.Without(m.local), m.HasStatus)
	known.stated = lastapplied.FoldStringData(local)
	if problems := ambiguous(known.stated, nil, out.typ); len(problems) > 0 {
		return out, errors.New(Few(problems) + ": fix the file, or merge without --server-side")
	}
	out.Triple, out.fromOwners, out.server = m.triple(), true, known
	out.Triple.Applied = true
	if m.live == nil {
		return out, nil
	}
	if err := known.migrate(m); err != nil {
		return out, err
	}
	out.problem, out.Triple.Owners = known.problem(m.Manager), known.owners
	known.shares = ownership.SharesOf(known.live, m.Manager, out.typ)
	if states, _ := known.stated.(map[string]any); known.shares.Applied == nil && len(recorded(m.Object, states, out.typ)) == 0 { // an applier of no fields has no entry
		known.shares.Applied = lastapplied.Identity(m.live)
	}
	out.Triple.Original, out.Triple.Live = ownership.WithRepeated(known.shares.Applied, m.local, known.live, out.typ), known.live
	out.Triple.Local = known.shares.WithOthers(m.local, known.live, out.typ)
	return out, nil
}

// recorded returns the fields of a configuration that the applier owns in managedFields once it is applied.
// It records no owner of a spec that it restores.
func recorded(o object.Object, conf map[string]any, typ *merge.Type) map[string]any {
	fields := ownership.Fields(conf, typ)
	if RestoresSpec(o.Group(), o.Kind()) {
		delete(fields, "f:spec")
	}
	return fields
}

// RestoresSpec reports whether the server accepts each change of a kind's spec, and leaves it as it was created
// (registry/certificates, GetResetFields).
func RestoresSpec(group, kind string) bool {
	return group == "certificates.k8s.io" && kind == "CertificateSigningRequest"
}

// leaveOut takes the fields that the kind does not have out of local, unless they are to be an error: the
// server drops them from a patch, and refuses to apply them.
//
// Unlike kubectl: it sends them, and the server refuses the whole object.
func (m *merging) leaveOut(known *serverSides, typ *merge.Type) (err error) {
	if m.Validate == Strict {
		return nil
	}
	for _, path := range slices.Backward(schema.Unknown(typ, m.local)) {
		if schema.IsDirective(path[len(path)-1].Name) {
			continue // an error
		}
		if m.local, err = merge.Replay(m.local, []merge.Change{{Op: merge.OpRemove, Path: path}}); err != nil {
			return err
		}
		known.leftOut = append(known.leftOut, m.UnknownFields(m.Subject, typ, path)+": is left out, since the server refuses to apply it")
	}
	slices.Reverse(known.leftOut)
	return nil
}

// migrate gives the applier what was applied from the client's side, as far as that is recorded, and else all
// that its managers own. Where the user asks for managedFields by name, it also gives what may be adopted.
func (k *serverSides) migrate(m merging) error {
	k.from = ownership.ClientSide(m.live)
	if m.Original.From == ManagedFields {
		wanted := append(m.Original.adopted(m.live), m.Manager)
		k.adopted = slices.DeleteFunc(k.Owners(), func(name string) bool { return !slices.Contains(wanted, name) || slices.Contains(k.from, name) })
	}
	was := lastapplied.FoldStringData(Annotated(m.live))
	told := was.(map[string]any) != nil && m.Original.From != ManagedFields && merge.At[any](was, "apiVersion") == m.live["apiVersion"]
	var err error
	switch {
	case told && !ownership.Recorded(m.live):
		k.from, err = []string{merge.Unrecorded}, k.found(was, m.live)
	case told:
		err = k.Limit(k.from, k.typ, was, k.stated)
	}
	if err = cmp.Or(err, k.Merge(k.from, false)); err != nil {
		return err
	}
	k.owners = ownership.Of(ownership.WithEntries(m.live, k.Entries())) // what is adopted is reported as others'
	if err := cmp.Or(k.Merge(k.adopted, true), k.annotation(m)); err != nil {
		return err
	}
	k.live = ownership.WithEntries(m.live, k.Entries())
	return nil
}

// found gives the applier what the annotation of live, which has no owners, has, and live still has so.
func (k *serverSides) found(was any, live map[string]any) (err error) {
	if lastapplied.Read(live).State == lastapplied.OK { // otherwise the values are not known
		was, err = Unchanged(was, merge.Diff(was, live, k.typ))
	}
	fields := ownership.Fields(merge.At[map[string]any](lastapplied.With(was, "")), k.typ)
	return cmp.Or(err, k.Adopt(ownership.Present(fields, live, k.typ), nil))
}

// Unchanged returns v without the values that changes remove or replace.
func Unchanged(v any, changes []merge.Change) (any, error) {
	var gone []merge.Change
	for _, c := range changes {
		if c.Old.Set {
			gone = append(gone, merge.Change{Op: merge.OpRemove, Path: c.Path, Old: c.Old})
		}
	}
	return merge.Replay(v, gone)
}

// annotation decides who owns the last-applied annotation. Under kubectl's own manager the
// server copies what is applied into it, in plain text. A Secret's is owned by the applier
// alone, which does not apply it, so that the server removes it.
//
// Unlike kubectl: it keeps the annotation.
func (k *serverSides) annotation(m merging) error {
	was := lastapplied.Read(m.live)
	switch {
	case was.State == lastapplied.None:
	case !redact.IsSecret(m.live):
		if m.Manager == ServerManager && len(k.from) > 0 {
			return k.Keep()
		}
	case !k.Alone(lastapplied.AnnotationPath):
		k.removes = len(k.from) == 0
		return k.Take(lastapplied.AnnotationPath, was.Text, nil)
	}
	return nil
}

func (k *serverSides) problem(manager string) string {
	switch {
	case k.removes:
		return "its last-applied annotation is removed: the server would copy the Secret's values into it"
	case len(k.from) == 0 && len(k.adopted) == 0:
		return ""
	case len(k.from) == 0:
		return fmt.Sprintf("adopted from %s, once it is written: what was owned so is owned by %s then", strings.Join(k.adopted, ", "), manager)
	}
	return fmt.Sprintf("migrated from client-side apply (%s) to server-side apply as %s, once it is written: the fields that were set so are owned so then", strings.Join(append(k.from, k.adopted...), ", "), manager)
}

// stamp computes the configuration to apply, and the owners that have to be sent to the
// server first so that it leads to the result.
func (ServerSide) stamp(p *Planned, known sides) error {
	k := known.server
	final := p.Result
	if text := lastapplied.Read(k.live).Text; text != "" && !k.Alone(lastapplied.AnnotationPath) {
		final = lastapplied.With(final, text)
	}
	if err := p.finish(final); err != nil {
		return err
	}
	conf, err := p.configuration(k)
	if err != nil {
		return err
	}
	p.Applying = &Applying{Config: conf}
	p.Defaulted = slices.DeleteFunc(p.Defaulted, func(path merge.Path) bool { // what is applied as null is stored so
		_, applied := merge.Lookup(conf, path, p.Type)
		return applied
	})
	p.Applying.copied = k.Manager == ServerManager && lastapplied.Read(k.live).State != lastapplied.None && !k.Alone(lastapplied.AnnotationPath)
	forced := p.forced(k)
	p.Applying.Force = len(forced) > 0
	if p.Live == nil {
		p.Action = Create
		p.Problems = append(p.Problems, k.leftOut...)
		return nil
	}
	if err := p.take(k, forced); err != nil {
		return err
	}
	p.Applying.Owners = k.Entries()
	p.Final = ownership.WithEntries(p.Final, p.Applying.Owners)
	same, err := ownership.SameFields(recorded(p.Object, p.Applying.Config, p.Type), ownership.Applied(k.live, k.Manager), ownership.Nulls(k.stated, p.Type))
	if err != nil {
		return err
	}
	if !same || p.differs() {
		p.Action = Change
		p.Problems = append(p.Problems, k.leftOut...)
		p.reportReleased(k)
	}
	return nil
}

// reportReleased adds to what is reported as kept the values that the applier has applied, that local no longer
// states, and that stay, since other managers own them as well.
//
// Unlike kubectl: it reports nothing.
func (p *Planned) reportReleased(k *serverSides) {
	applier := ownership.Holders{Has: func(manager, operation string) bool { return manager == k.Manager && operation == "Apply" }}
	final, released := merge.NewFinder(p.Final, p.Type), map[string]bool{}
	for _, c := range merge.Diff(ownership.Original(k.live, applier, p.Type), merge.Complete(k.stated, p.Type, true), p.Type) {
		is, stays := final.Lookup(c.Path)
		if c.Op != merge.OpRemove || !stays || !k.Others(c.Path) {
			continue
		}
		kept := merge.Disagreement{Kind: merge.Dropped, Path: c.Path, Original: c.Old, Live: merge.Some(is), Winner: merge.LiveSide}
		for _, o := range ownership.At(k.owners, c.Path) {
			if o.Manager != k.Manager {
				kept.Owner = &o
				break
			}
		}
		p.Settled, released[c.Path.String()] = append(p.Settled, kept), true
	}
	merge.SortByPath(p.Settled, func(d merge.Disagreement) merge.Path { return d.Path })
	reported := func(r merge.Removal) bool { return released[r.Path.String()] }
	p.Undecided, p.Adoptable = slices.DeleteFunc(p.Undecided, reported), slices.DeleteFunc(p.Adoptable, reported)
}

// take gives the applier what it has to own before the plan is applied. That is what is removed
// though another manager or none holds it. Where the write cannot be bound to what was merged, it
// is also what the plan takes over from others. The write then needs no force: a manager that
// changes such a value meanwhile holds it, and the server refuses the write.
func (p *Planned) take(k *serverSides, forced []merge.Path) error {
	for _, c := range removals(p.Changes, p.Applying.Config, p.Type) {
		if k.Entire(c.Path) {
			if err := k.Itemize(merge.At[map[string]any](k.shares.Applied), p.Type); err != nil {
				return err
			}
		}
		if !repeated(c.Path) && !k.Alone(c.Path) {
			if err := k.Take(c.Path, c.Old.Value, p.Type); err != nil {
				return err
			}
		}
		if around := c.Path[:len(c.Path)-1]; p.nulls(around) && k.Others(around) {
			if err := k.Take(around, map[string]any{}, p.Type); err != nil {
				return err
			}
		}
	}
	if !p.Applying.copied {
		return nil
	}
	for _, path := range forced {
		if is, there := merge.Lookup(k.live, path, p.Type); there && k.Others(path) {
			if err := k.Take(path, is, p.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

// nulls reports whether the plan empties a map that the server then makes null of, which a custom resource's type
// does not have: it removes the map if no other manager holds it.
func (p *Planned) nulls(at merge.Path) bool {
	typ := p.Type.At(at)
	is, _ := merge.Lookup(p.Result, at, p.Type)
	return len(at) > 0 && typ != nil && typ.Kind == merge.Map && typ.Source != merge.SourceBuiltin && !merge.HasEntries(is)
}

// removals returns the changes that remove a value, or empty one that is not applied: the mirror of an empty field.
// Annotations are removed one by one: the last-applied annotation, which no side has, stays.
func removals(changes []merge.Change, conf any, typ *merge.Type) (out []merge.Change) {
	for _, c := range changes {
		_, applied := merge.Lookup(conf, c.Path, typ)
		switch all, _ := c.Old.Value.(map[string]any); {
		case c.Op != merge.OpRemove && (applied || c.New.Value != ""):
		case c.Path.String() == lastapplied.AnnotationPath[:2].String():
			for name, v := range all {
				out = append(out, merge.Change{Op: c.Op, Path: c.Path.Child(merge.Named(name)), Old: merge.Some(v)})
			}
		default:
			out = append(out, c)
		}
	}
	return out
}

// forced returns the paths of what the plan takes over from others. That is not always a
// disagreement: what is stored as null, or as the zero of its type, is absent to the merge,
// and a value to the server.
func (p *Planned) forced(k *serverSides) (paths []merge.Path) {
	for _, d := range p.Settled {
		if d.Winner != merge.LiveSide && k.Others(d.Path) {
			paths = append(paths, d.Path)
		}
	}
	for _, c := range p.Changes {
		if (c.Op == merge.OpSet || repeated(c.Path)) && k.Others(c.Path) {
			paths = append(paths, c.Path)
		}
	}
	return paths
}

// repeated reports whether the path ends at an entry whose key is in the list before it.
// The server makes one entry of those that are applied as one.
func repeated(p merge.Path) bool { return len(p) > 0 && p[len(p)-1].Nth > 1 }
