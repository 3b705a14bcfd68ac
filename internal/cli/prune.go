package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// setFlags name a set by its parent.
type setFlags struct {
	name      string
	namespace string
}

// propagations maps the names that kubectl delete gives them; explain and diff delete nothing.
var propagations = map[string]cluster.Propagation{"": cluster.Background, "background": cluster.Background, "foreground": cluster.Foreground, "orphan": cluster.Orphan}

// allowed returns the kinds that --prune-kinds names.
func (c *call) allowed() ([]applyset.GroupKind, error) {
	var out []applyset.GroupKind
	for _, name := range c.pruneKinds {
		i := slices.IndexFunc(applyset.HoldsData, func(gk applyset.GroupKind) bool {
			return strings.EqualFold(name, gk.Kind) || strings.EqualFold(name, gk.Kind+"s")
		})
		if i < 0 {
			return nil, fmt.Errorf("--prune-kinds=%s: must be PersistentVolumeClaim or PersistentVolume: all other kinds are pruned anyway", name)
		}
		out = append(out, applyset.HoldsData[i])
	}
	return out, nil
}

// noteFunc reports a fact that is about no object of the input; about is its subject. It may be
// called by several goroutines.
type noteFunc func(about, text string)

// set returns the reporter of notes about a set.
func (t *reporter) set() noteFunc {
	var mu sync.Mutex
	return func(about, text string) {
		mu.Lock()
		defer mu.Unlock()
		t.hint(diff.Note{Object: about, Kind: noteProblem, Message: escape.Line(text)})
	}
}

// openSet sets the Pruner of a job, which may be another tool's set if it only reads. It reads the
// set's parent.
func (c *call) openSet(ctx context.Context, r request) error {
	allowed, err := c.allowed()
	if err != nil {
		return err
	}
	api, err := r.from.cluster()
	if err != nil {
		return err
	}
	set, err := c.readSet(ctx, c.set, api)
	if err != nil {
		return err
	}
	set.Note = r.note
	r.Planner.Set = &apply.Membership{ID: set.Parent.ID(), Name: set.Target.String(), Namespace: set.Target.Namespace}
	r.Pruner = &prune.Pruner{
		Set: set, Allowed: allowed, Propagation: propagations[c.cascade], Whole: r.Needs != run.Outcomes || c.plan != "", Kept: c.takes,
		Unread: sync.OnceValue(func() map[applyset.Identity]string { return c.unread(ctx) }),
	}
	if c.prune {
		return set.Writable()
	}
	return set.Existing()
}

// takes reports whether a member that is in no file may be written into --new.
func (c *call) takes(t cluster.Target) bool {
	return c.newFile != "" && (c.ofSecrets || !redact.IsSecretKind(t.Group, t.Kind))
}

// unread returns the objects in the folders below those of -f, which are read only with -R, each with its file. In one
// without a namespace it is that of the run, or none.
func (c *call) unread(ctx context.Context) map[applyset.Identity]string {
	own, _ := c.ownNamespace() // one that is not known was an error before
	files := map[applyset.Identity]string{}
	below, err := c.inputs.Below(ctx)
	for _, one := range leaves(err) {
		c.note("--prune", "a file of a folder below those of -f keeps nothing, as it cannot be read: "+one.Error())
	}
	for _, o := range below {
		for _, ns := range []string{o.Namespace(), cmp.Or(o.Namespace(), own)} {
			files[applyset.Identity{GroupKind: applyset.GroupKind{Group: o.Group(), Kind: o.Kind()}, Namespace: ns, Name: o.Name()}] = o.Origin.File
		}
	}
	return files
}

// readSet reads the set that the flags name, and checks it: the first error counts.
func (c *call) readSet(ctx context.Context, f setFlags, api *cluster.Cluster, checks ...func(*prune.Set) error) (*prune.Set, error) {
	parent, err := f.parent(ctx, c.env, api)
	if err != nil {
		return nil, err
	}
	s, err := prune.Read(ctx, api, parent, c.concurrency)
	for i := 0; i < len(checks) && err == nil; i++ {
		err = checks[i](s)
	}
	return s, err
}

// parent returns the object that the flags name.
//
// Unlike kubectl: which wants -n for a parent that has a namespace, and takes none from the
// context.
func (f *setFlags) parent(ctx context.Context, e *env, api *cluster.Cluster) (cluster.Target, error) {
	kind, name, err := applyset.Reference(f.name)
	if err != nil {
		return cluster.Target{}, mark("usage", err)
	}
	ns := f.namespace
	if ns == "" {
		if ns, err = e.ownNamespace(); err != nil {
			return cluster.Target{}, err
		}
	}
	t := cluster.Target{Name: name}
	if plural, group, _ := strings.Cut(kind, "."); kind == applyset.DefaultParent || group != "" {
		if t.Resource, err = api.FindNamed(ctx, group, plural); err != nil && !errors.As(err, new(*cluster.UnknownKindError)) {
			return cluster.Target{}, err
		}
	}
	if t.Plural == "" { // a short name, or one with a version
		found, err := api.Query(ctx, e.flags, cluster.Query{Args: []string{kind + "/" + name}, Namespace: ns})
		if err != nil {
			return cluster.Target{}, fmt.Errorf("invalid parent reference %q: %w", f.name, err)
		}
		t = found[0].Target
	}
	t.Namespace = t.Within(ns)
	return t, nil
}

// prunerOf returns the plan's Pruner, nil if it prunes nothing.
func prunerOf(plan *run.Plan) *prune.Pruner {
	p, _ := plan.Pruner.(*prune.Pruner)
	return p
}

// unpruned returns the number of objects to prune that are left to the user.
func unpruned(plan *run.Plan) int {
	n := len(plan.Kept())
	if p := prunerOf(plan); p != nil && p.Incomplete() {
		n++
	}
	return n
}

// neverRecreated returns the error of kinds whose objects are never deleted; nil if there are none.
func neverRecreated(kinds []string) error {
	for _, name := range kinds {
		if hasKind(cluster.Holding, name) {
			return fmt.Errorf("--recreate=%s: objects of this kind are never deleted to be created again: what they hold would be lost: set the field back to what the cluster has", name)
		}
	}
	return nil
}

// builtin returns the kinds that are known without a server.
func builtin() []cluster.Resource {
	return each(schema.BuiltinKinds(), func(k schema.Kind) cluster.Resource {
		return cluster.Resource{Group: k.Group, Kind: k.Kind, Plural: k.Resource}
	})
}

// hasKind reports whether one of kinds has a name.
func hasKind(kinds []cluster.Resource, name string) bool {
	return slices.ContainsFunc(kinds, func(r cluster.Resource) bool { return run.IsKind(r, name) })
}

// inFull returns the name of a kind in full if it is a short name of the server's. Offline, api is
// nil, no short name is known.
func inFull(ctx context.Context, api *cluster.Cluster, kind string) string {
	if api == nil || hasKind(builtin(), kind) {
		return kind
	}
	if r, ok := api.Word(ctx, kind); ok {
		return strings.TrimSuffix(r.Kind+"."+r.Group, ".")
	}
	return kind
}

// unusedKinds notes the kinds of which the input has no object. Where nothing is planned, an error says why.
func (c *call) unusedKinds(p *run.Plan, note noteFunc) {
	for _, name := range p.Recreate.Kinds[:len(c.recreate)] {
		has := each(p.Items, resourceOf)
		if kinds := slices.Sorted(slices.Values(each(has, kindOf))); len(has) > 0 && !hasKind(has, name) {
			note("--recreate="+name, "no object of the input is of this kind: it has "+listed(slices.Compact(kinds)))
		}
	}
}

// misspelt returns errors for kinds of --recreate that do not exist, and for managers of --original that no
// object has, where one has a manager of nearly that name. Offline, only a kind that is nearly a known one is
// an error: a cluster may have others.
func (c *call) misspelt(ctx context.Context, s *session) error {
	var errs []error
	for _, name := range s.Recreate.Kinds[:len(c.recreate)] {
		known := append(builtin(), each(s.Items, resourceOf)...)
		served, hint := false, suggest.Hint(name, each(known, kindOf))
		if s.api != nil {
			_, served = s.api.Word(ctx, name)
		}
		if !served && !hasKind(known, name) && (s.api != nil || hint != "") {
			errs = append(errs, fmt.Errorf("--recreate=%s: there is no such kind%s", name, cmp.Or(hint, ": correct it, or take it out")))
		}
	}
	if m := s.Planner.Original.Managers; m != nil {
		m.Missing(func(name, text string, near bool) {
			if near {
				errs = append(errs, fmt.Errorf("--original=managed-fields=%s: %s", name, text))
			}
		})
	}
	return mark("usage", errors.Join(errs...))
}

func resourceOf(i *run.Item) cluster.Resource { return i.Target.Resource }

func kindOf(r cluster.Resource) string { return r.Kind }
