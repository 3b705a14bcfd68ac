// Package prune keeps sets of applied objects on a server (KEP-3659, ApplySet): it reads a set's
// parent, lists its members, tries and sends deletions, and writes the parent. It refuses to
// decide: internal/applyset decides which member is deleted or kept.
//
// Rules: docs/prune.md.
package prune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

// Set is a set on a server.
type Set struct {
	API    API
	Target cluster.Target // its parent
	Parent applyset.Parent
	Limit  int                              // concurrent requests; 0: parallel.Limit
	Stays  func(parent map[string]any) bool // Remove frees the parent of its marks instead of deleting it; nil: never
	seen   string                           // the parent's version when the members were decided about

	// Note reports a fact that is neither an error nor about an object of the run; about is its
	// subject.
	Note func(about, text string)

	mu     sync.Mutex
	others map[string]apply.OtherSet // by their ids, as far as they were read
}

// Read reads the parent of a set, which need not exist yet. The error reports which object is not a
// parent, and what to do.
func Read(ctx context.Context, api API, parent cluster.Target, limit int) (*Set, error) {
	s := &Set{API: api, Target: parent, Limit: limit, Note: func(string, string) {}}
	set := applyset.Set{GroupKind: parent.Resource.GroupKind(), Namespace: parent.Namespace, Name: parent.Name}
	obj, err := api.GetMetadata(ctx, parent)
	switch {
	case cluster.IsNotFound(err):
		obj = nil
	case cluster.IsForbidden(err) && set.Kind == "Secret":
		return nil, fmt.Errorf("%s: %w: a set of your own may be kept in a ConfigMap, named configmap/%s", parent, err, parent.Name)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", parent, err)
	}
	if !set.BuiltinParent() {
		if err := s.permitted(ctx); err != nil {
			return nil, err
		}
	}
	s.Parent, err = applyset.ReadParent(set, obj)
	s.seen = s.Parent.ResourceVersion
	return s, err
}

// permitted returns an error if the parent's kind may not be a parent.
func (s *Set) permitted(ctx context.Context) error {
	crds, err := s.API.FindKind(ctx, applyset.CRDKind.Group, applyset.CRDKind.Kind)
	if err != nil {
		return err
	}
	crd, err := s.API.GetMetadata(ctx, cluster.Target{Resource: crds, Name: s.Target.Plural + "." + s.Target.Group})
	if err != nil && !cluster.IsNotFound(err) {
		return fmt.Errorf("%s: identifying allowed custom resource parent types: %w", s.Target, err)
	}
	if _, ok := applyset.ReadMember(applyset.GroupKind{}, crd).Labels[applyset.ParentTypeLabel]; !ok {
		return fmt.Errorf("%s: is given as the set, and resource %q is not permitted as an ApplySet parent: a set is a Secret, a ConfigMap, or of a kind whose CustomResourceDefinition has the label %s=true; where objects are named, too, it is named before them", s.Target, s.Target.Plural+"."+s.Target.Group, applyset.ParentTypeLabel)
	}
	return nil
}

// Writable returns an error if another tool manages the set, or if it does not exist and cannot be created.
func (s *Set) Writable() error {
	switch {
	case !s.Parent.Exists() && !s.Parent.BuiltinParent():
		return fmt.Errorf("%s: custom resource ApplySet parents cannot be created automatically: create it first, with %s", s.Target, s.Parent.Marks())
	case s.Parent.Foreign():
		return fmt.Errorf("%s: ApplySet parent object already exists and is managed by tooling %q instead of %q: sets of other tools are never written: use that tool, or choose another name for the set", s.Target, s.Parent.Tooling, "kubectl")
	}
	return nil
}

// forcing is the note on a write of a parent whose fields another manager owns.
const forcing = "another client has changed the list of the set's kinds and namespaces: it is overwritten"

// storeTries is how often the parent is written if the answer is lost: a repeated write does no
// harm.
const storeTries = 3

// Store writes the parent that want returns for the current one, unless that states all of it
// already. The write is bound to the parent as it was read. If another run has written or created
// it meanwhile, want is called again, so that neither run loses the other's additions. The error is
// that of the write, and names the parent.
//
// Unlike kubectl: which writes it twice in every run, whatever it states by then.
func (s *Set) Store(ctx context.Context, want func(applyset.Parent) applyset.Parent) error {
	w := cluster.Write{FieldManager: ownership.SetManager}
	for try := 0; ; try++ {
		p := want(s.Parent)
		if s.Parent.Says(p) {
			return nil
		}
		if by := s.Parent.ChangedBy(); by != "" && s.Parent.ResourceVersion != s.seen { // what this leads to was not decided about
			return fmt.Errorf("%s: the set's parent was not written: %s has changed its list of kinds and namespaces meanwhile: merge again", s.Target, by)
		}
		obj, err := s.apply(ctx, p, w)
		if err == nil {
			s.Parent, err = applyset.ReadParent(p.Set, obj)
			return err
		}
		if !cluster.IsConflict(err) || try >= run.MostChanges {
			return fmt.Errorf("%s: the set's parent was not written: %w", s.Target, err)
		}
		changed, rereadErr := s.reread(ctx)
		if rereadErr != nil {
			return rereadErr
		}
		if !changed && !w.Force && s.Parent.Exists() { // the conflict is about fields
			s.Note(s.Target.String(), forcing+": "+err.Error())
			w.Force = true
		}
	}
}

// reread reads the parent anew, several times if need be, as a run that does not may leave members
// that it does not cover; changed reports whether it was written since.
func (s *Set) reread(ctx context.Context) (changed bool, err error) {
	obj, err := s.API.GetMetadata(ctx, s.Target)
	for try := 1; err != nil && !cluster.IsRefusal(err) && try < storeTries; try++ {
		pause(ctx, try, err)
		obj, err = s.API.GetMetadata(ctx, s.Target)
	}
	if err != nil && !cluster.IsNotFound(err) {
		return false, fmt.Errorf("%s: %w", s.Target, err)
	}
	if applyset.ReadMember(s.Parent.GroupKind, obj).ResourceVersion == s.Parent.ResourceVersion {
		return false, nil
	}
	if s.Parent, err = applyset.ReadParent(s.Parent.Set, obj); err != nil {
		return true, err
	}
	return true, errors.Join(s.Writable(), s.resolve(ctx))
}

// apply writes a parent that was read, or creates a missing one. An unbound apply would silently
// overwrite what another run has created since.
func (s *Set) apply(ctx context.Context, p applyset.Parent, w cluster.Write) (obj map[string]any, err error) {
	if !p.Exists() {
		p.ResourceVersion = apply.NoVersion
	}
	for try := range storeTries {
		obj, err = s.API.Send(ctx, s.Target, cluster.Apply, p.Manifest(s.Target.GroupVersion()), w)
		if !cluster.Uncertain(err) || ctx.Err() != nil {
			break
		}
		pause(ctx, try, err)
	}
	return obj, err
}

// pause waits before another try, as long as the answer asks for.
func pause(ctx context.Context, try int, answer error) {
	asked, _ := cluster.RetryAfter(answer)
	_ = cluster.Sleep(ctx, max(time.Duration(try+1)*100*time.Millisecond, asked))
}

// ByID finds a set by its id, among the parents that are Secrets or ConfigMaps and that the user
// may list; false if there is none. The error is that of a list, unless the other kind has the set.
func ByID(ctx context.Context, api API, id string) (applyset.Set, bool, error) {
	var errs []error
	for _, kind := range []string{"Secret", "ConfigMap"} {
		r, err := api.Find(ctx, "", "v1", kind)
		if err != nil {
			return applyset.Set{}, false, err
		}
		found, err := api.ListMetadata(ctx, r, "", applyset.IDLabel+"="+id)
		errs = append(errs, err)
		for _, obj := range found {
			if set := applyset.Set(applyset.ReadMember(r.GroupKind(), obj).Identity()); set.ID() == id {
				return set, true, nil
			}
		}
	}
	return applyset.Set{}, false, errors.Join(errs...)
}

// ofAnother returns the error of an object of the set with that id, without the set's name if that
// is unknown.
func (s *Set) ofAnother(ctx context.Context, t cluster.Target, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	other, known := s.others[id]
	if !known {
		other = s.another(ctx, id)
		if s.others == nil {
			s.others = map[string]apply.OtherSet{}
		}
		s.others[id] = other
	}
	other.Object = t.String() + object.In(cmp.Or(t.Namespace, s.Target.Namespace))
	if t.Namespace != "" && s.Target.Namespace != "" && t.Namespace != s.Target.Namespace {
		other.Object += " --applyset-namespace=" + s.Target.Namespace
	}
	return fmt.Errorf("%s: %w", t, &other)
}

// another returns the set with that id.
func (s *Set) another(ctx context.Context, id string) apply.OtherSet {
	other := apply.OtherSet{ID: id, Into: s.Target.String(), New: !s.Parent.Exists()}
	if set, found, _ := ByID(ctx, s.API, id); found {
		other.Name = set.String() + " (namespace " + set.Namespace + ")"
		if set.Namespace == s.Target.Namespace {
			other.From = set.String()
		}
	}
	return other
}

// removal returns the deletion of a member, which is kept up to date. again decides about it if it
// was changed since it was listed; the error of keep ends a deletion that is not wanted any more.
func (s *Set) removal(m *Member, how cluster.Deletion, again func(applyset.Member) applyset.Decision, keep func(applyset.Decision) error) *run.Removal {
	how.UID, how.ResourceVersion = m.UID, m.ResourceVersion
	r := &run.Removal{Delete: s.API.Delete, Target: m.Target, How: how, Read: s.API.GetMetadata}
	r.Note = func(text string) { s.Note(m.String(), text) }
	r.Left = func(obj map[string]any) {
		m.Finalizers = applyset.ReadMember(m.GroupKind, obj).Finalizers
		if len(m.Finalizers) > 0 && !how.DryRun {
			r.Note("is being deleted, and waits for " + strings.Join(m.Finalizers, ", "))
		}
	}
	r.Again = func(obj map[string]any) (bool, error) {
		m.Member = applyset.ReadMember(m.GroupKind, obj)
		switch decision := again(m.Member); decision.Action {
		case applyset.Delete:
			return true, nil
		case applyset.Terminating:
			r.Left(obj)
			return false, nil
		default:
			return false, keep(decision)
		}
	}
	return r
}
