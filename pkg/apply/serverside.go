package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
)

// ServerManager is the field manager of kubectl apply --server-side.
const ServerManager = "kubectl"

// ServerSide writes by server-side apply (KEP-555): what was applied last is what
// managedFields list as applied by the manager, and the server keeps it there. What the
// plan leaves to live is not applied, so that whoever else owns it keeps it alone.
//
// Where live was applied from the client's side, by whatever manager, that manager's
// fields are given to the applier first, as kubectl apply --server-side does
// (k8s.io/client-go/util/csaupgrade).
//
// Unlike kubectl: a disagreement with another owner is decided field by field, by policy,
// rule or user, and a removal that the server would not do by itself, of a default that
// nobody owns or of what the user has decided to remove, is made to be one.
//
// Rules: docs/server-side.md.
type ServerSide struct{}

// Applying is what a server-side apply sends.
type Applying struct {
	// Config is the configuration: identity, and the fields that the applier is to own.
	Config map[string]any

	// Force: the plan takes over fields that others own.
	Force bool

	// Owners are the managedFields that the object is given first, in a write of its own
	// that changes no value, so that the server removes what the plan removes; nil: as they
	// are. A plan with Owners is merged again with the object as it is then stored.
	Owners []any

	// copied: the server writes what is sent into the last-applied annotation, all of it.
	copied bool
}

// body is the configuration, bound to the version that was merged. A pinned one that takes
// nothing over needs no binding: the server itself refuses to change what others own. One that
// is copied into the last-applied annotation must have none: kubectl apply would take the
// resourceVersion there for a field that was applied, and server-side apply, which sends none,
// would write the object again.
func (a *Applying) body(version string, pinned bool) map[string]any {
	if version == "" || a.copied || pinned && !a.Force {
		return a.Config
	}
	return bound(a.Config, version)
}

// serverSides is what ServerSide knows of an object beside the sides.
type serverSides struct {
	*ownership.Rewrite
	shares ownership.Shares
	stated any            // local, as it is applied
	live   map[string]any // with rewritten managedFields; nil: there is none
	from   []string       // managers of client-side apply, whose fields are given to the applier
	typ    *merge.Type

	adopted []string // others whose fields are given to the applier

	removes bool // the last-applied annotation of a Secret, which somebody else has kept
}

// Others: somebody besides the applier holds the value at the path, or parts of it. Where
// managedFields are empty, the server enters all that is there under merge.Unrecorded before
// it applies anything.
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
	m.local = withoutEmptyKeys(m.local, out.typ)
	local, _ := lastapplied.Strip(lastapplied.Without(m.local), m.HasStatus)
	known.stated = lastapplied.FoldStringData(local)
	if err := m.unambiguous(known.stated, out.typ); err != nil {
		return out, err
	}
	out.Triple, out.fromOwners, out.server = m.triple(), true, known
	out.Triple.Applied = true
	if m.live == nil {
		return out, nil
	}
	if err := known.migrate(m); err != nil {
		return out, err
	}
	out.problem = known.problem(m.Manager)
	known.shares = ownership.SharesOf(known.live, m.Manager, out.typ)
	if states, _ := known.stated.(map[string]any); known.shares.Applied == nil && len(ownership.Fields(states, out.typ)) == 0 { // an applier of no fields has no entry
		known.shares.Applied = lastapplied.Identity(m.live)
	}
	out.Triple.Original, out.Triple.Live = ownership.WithRepeated(known.shares.Applied, m.local, known.live, out.typ), known.live
	out.Triple.Local = known.shares.WithOthers(m.local, known.live, out.typ)
	return out, nil
}

// migrate gives the applier what was applied from the client's side or, where the user asks
// for managedFields by name, what may be adopted.
func (k *serverSides) migrate(m merging) error {
	k.from = ownership.ClientSide(m.live)
	if m.Original.From == ManagedFields {
		wanted := append(m.Original.adopted(), m.Manager)
		k.adopted = slices.DeleteFunc(k.Owners(), func(name string) bool { return !slices.Contains(wanted, name) || slices.Contains(k.from, name) })
	}
	if err := k.Unite(k.from, false); err != nil {
		return err
	}
	if err := k.Unite(k.adopted, true); err != nil {
		return err
	}
	if err := k.annotation(m); err != nil {
		return err
	}
	k.live = ownership.WithEntries(m.live, k.Entries())
	return nil
}

// annotation decides who owns the last-applied annotation. With kubectl's own manager the
// server copies what is applied into it, in plain text: a Secret's is the applier's alone,
// which does not apply it, so that the server removes it.
//
// Unlike kubectl: which keeps it.
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
		return fmt.Sprintf("adopted from %s: what was owned so is owned by %s from now on", strings.Join(k.adopted, ", "), manager)
	}
	return fmt.Sprintf("migrated from client-side apply (%s) to server-side apply as %s: the fields that were set so are owned so from now on", strings.Join(append(k.from, k.adopted...), ", "), manager)
}

// unambiguous is the error of lists that server-side apply refuses, all in one: two entries
// with one key, and an entry without any.
func (m merging) unambiguous(v any, typ *merge.Type) error {
	problems := ambiguous(v, nil, typ)
	if len(problems) == 0 {
		return nil
	}
	const most = 5
	if n := len(problems); n > most {
		problems = append(problems[:most:most], fmt.Sprintf("and %d more", n-most))
	}
	return errors.New(strings.Join(problems, "; ") + ": fix the file, or merge without --server-side")
}

// stamp works out what is to be applied, and what has to be sent to the server about owners for
// that to come to the result.
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
	p.Applying.copied = k.Manager() == ServerManager && lastapplied.Read(k.live).State != lastapplied.None && !k.Alone(lastapplied.AnnotationPath)
	forced := p.forced(k)
	p.Applying.Force = len(forced) > 0
	if p.Live == nil {
		p.Action = Create
		return nil
	}
	if err := p.take(k, forced); err != nil {
		return err
	}
	p.Applying.Owners = k.Entries()
	p.Final = ownership.WithEntries(p.Final, p.Applying.Owners)
	same, err := ownership.SameFields(ownership.Fields(p.Applying.Config, p.Type), ownership.Applied(k.live, k.Manager()), ownership.Nulls(k.stated, p.Type))
	if err != nil {
		return err
	}
	if !same || p.differs() {
		p.Action = Change
	}
	return nil
}

// take gives the applier what it has to own before the plan is applied: what is removed though
// somebody else holds it, or nobody; and, where the write cannot be bound to what was merged,
// what it takes over from others, so that it needs no force: whoever changes such a value
// meanwhile holds it, and the server refuses the write.
func (p *Planned) take(k *serverSides, forced []merge.Path) error {
	for _, c := range p.Changes {
		if c.Op == merge.OpRemove && !repeated(c.Path) && !k.Alone(c.Path) {
			if err := k.Take(c.Path, c.Old.Value, p.Type); err != nil {
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

// forced are the places of what the plan takes over from others. That need be no disagreement:
// what is stored as null, or as the zero of its type, is absent to the merge, and a value to the
// server.
func (p *Planned) forced(k *serverSides) []merge.Path {
	var paths []merge.Path
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

// repeated: the path ends at an entry whose key is in the list before it. The server makes one
// entry of those that are applied as one.
func repeated(p merge.Path) bool { return len(p) > 0 && p[len(p)-1].Nth > 1 }
