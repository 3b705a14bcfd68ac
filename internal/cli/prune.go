package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

// setFlags name a set by its parent.
type setFlags struct {
	name      string
	namespace string
}

func (f *setFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.name, "applyset", "", "set of the objects, [KIND[.GROUP]/]NAME of its parent: a Secret unless KIND is given")
	flags.StringVar(&f.namespace, "applyset-namespace", "", "namespace of the set's parent (default: that of -n or the context); members may be in any namespace")
}

// pruneFlags determine which objects missing in the input are deleted.
type pruneFlags struct {
	setFlags
	on      bool
	kinds   []string
	cascade string
	yes     bool
	reads   bool // the set is only read, and may be another tool's

	all       bool // kubectl apply's flags, refused with advice
	allowlist []string
}

// add declares the flags; those about the way of deletion are for a verb that writes.
func (f *pruneFlags) add(flags *pflag.FlagSet, writes bool) {
	flags.BoolVar(&f.on, "prune", false, "with --applyset: delete the members of the set that are no longer in the input")
	f.setFlags.add(flags)
	flags.StringSliceVar(&f.kinds, "prune-kinds", nil, "kinds that hold data and are pruned as well: PersistentVolumeClaim, PersistentVolume")
	f.cascade = "background"
	if writes {
		flags.StringVar(&f.cascade, "cascade", f.cascade, "what happens to objects owned by one that is pruned or recreated: background, foreground or orphan")
		flags.BoolVar(&f.yes, "yes", false, "answer yes to what would be asked: to -i, and to pruning more than 25 objects or more than half of the set")
	}
	flags.BoolVar(&f.all, "all", false, "not supported: see --applyset")
	flags.StringSliceVar(&f.allowlist, "prune-allowlist", nil, "not supported: see --applyset")
	for _, name := range []string{"all", "prune-allowlist"} {
		_ = flags.MarkHidden(name)
	}
}

// adoptWay is the advice how to adopt objects that were pruned by labels into a set.
const adoptWay = "make a set of the objects first: kubectl merge applyset adopt NAME -l %s, and then use --prune --applyset=NAME"

// validate returns an error if flags contradict each other.
//
// Unlike kubectl: whose --prune without --applyset deletes whatever carries a label.
func (f *pruneFlags) validate(inputs *inputFlags, live []string) error {
	selector := inputs.Selector
	if selector == "" {
		selector = "SELECTOR"
	}
	switch {
	case f.all:
		return fmt.Errorf("--all: is not supported: what else is there is not deleted for being in no file: "+adoptWay, selector)
	case len(f.allowlist) > 0:
		return fmt.Errorf("--prune-allowlist: is not supported: a set knows the kinds of its members: "+adoptWay, selector)
	case f.name != "" && !f.on:
		return errors.New("--applyset requires --prune")
	case f.on && f.name != "" && inputs.Selector != "":
		return errors.New("--selector is incompatible with --applyset: objects of the input that it leaves out would be pruned")
	case f.on && f.name == "" && inputs.Selector != "":
		return fmt.Errorf("--prune: needs a set, --applyset=NAME: "+adoptWay, selector)
	case f.on && f.name == "":
		return errors.New("--prune: needs a set, --applyset=NAME: what is a member of it and not in the input is deleted")
	case f.on && len(live) > 0:
		return errors.New("--live: works without a server, and so cannot do --prune")
	case !f.on && (f.namespace != "" || len(f.kinds) > 0):
		return errors.New("--applyset-namespace and --prune-kinds require --prune --applyset=NAME")
	}
	return nil
}

// propagations maps the names that kubectl delete gives them.
var propagations = map[string]cluster.Propagation{"background": cluster.Background, "foreground": cluster.Foreground, "orphan": cluster.Orphan}

// allowed returns the kinds that --prune-kinds names.
func (f *pruneFlags) allowed() ([]applyset.GroupKind, error) {
	var out []applyset.GroupKind
	for _, name := range f.kinds {
		i := slices.IndexFunc(applyset.HoldsData, func(gk applyset.GroupKind) bool {
			plural := strings.ToLower(gk.Kind) + "s"
			return strings.EqualFold(name, gk.Kind) || strings.EqualFold(name, plural)
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
		if t.quiet {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		t.note("note", diff.Note{Object: about, Kind: noteProblem, Message: escape.Line(text)})
	}
}

// open sets the Pruner of a job, if it is to prune. It reads the set's parent.
func (f *pruneFlags) open(ctx context.Context, from *liveSide, job *run.Job, note noteFunc) error {
	if !f.on {
		return nil
	}
	propagation, known := propagations[f.cascade]
	if !known {
		return fmt.Errorf("--cascade=%s: must be background, foreground or orphan", f.cascade)
	}
	allowed, err := f.allowed()
	if err != nil {
		return err
	}
	api, err := from.cluster()
	if err != nil {
		return err
	}
	set, err := f.setFlags.read(ctx, from.env, api)
	if err != nil {
		return err
	}
	set.Note = note
	job.Planner.Set = &apply.Membership{ID: set.Parent.ID(), Name: set.Target.String()}
	job.Pruner = &prune.Pruner{Set: set, Allowed: allowed, Propagation: propagation, Whole: job.Needs != run.Outcomes, Limit: job.Concurrency}
	if f.reads {
		return set.Existing()
	}
	return set.Writable()
}

// read reads the set that the flags name.
func (f *setFlags) read(ctx context.Context, e *env, api *cluster.Cluster) (*prune.Set, error) {
	parent, err := f.parent(ctx, e, api)
	if err != nil {
		return nil, err
	}
	return prune.Read(ctx, api, parent)
}

// parent returns the object that the flags name.
//
// Unlike kubectl: which wants -n for a parent that has a namespace, and takes none from the
// context.
func (f *setFlags) parent(ctx context.Context, e *env, api *cluster.Cluster) (cluster.Target, error) {
	kind, name, err := applyset.Reference(f.name)
	if err != nil {
		return cluster.Target{}, err
	}
	ns := f.namespace
	if ns == "" {
		if ns, err = e.ownNamespace(); err != nil {
			return cluster.Target{}, err
		}
	}
	t := cluster.Target{Name: name}
	var unknown *cluster.UnknownKindError
	if plural, group, _ := strings.Cut(kind, "."); kind == applyset.DefaultParent || group != "" {
		if t.Resource, err = api.FindNamed(ctx, group, plural); err != nil && !errors.As(err, &unknown) {
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
	if t.Namespace = ns; !t.Namespaced {
		t.Namespace = ""
	}
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
