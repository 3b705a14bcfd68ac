package apply

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// Originals says where to find what was applied last.
type Originals struct {
	From From
	// Managers names, for ManagedFields, the managers whose values count besides kubectl's own; nil: none.
	Managers *ownership.Managers
	// Saved finds the last-applied configuration of an object, for File and Helm; nil without an
	// error where there is none.
	Saved func(object.Object) (*object.Object, error)
}

// From is a place where an original may be found.
type From string

// The places, as --original names them.
const (
	Auto          From = "auto" // the annotation, if there is one
	Annotation    From = "annotation"
	ManagedFields From = "managed-fields"
	None          From = "none"
	File          From = "file"
	Helm          From = "helm" // the manifest of a release; the annotation of objects that it does not have
)

// find returns what was applied last, as far as that is known. One with BlankAll is to be read from
// managedFields, once the type is known.
func (o Originals) find(local object.Object, live map[string]any) (lastapplied.Original, error) {
	if live == nil {
		return lastapplied.Original{}, nil
	}
	switch o.From {
	case None:
		return lastapplied.Original{}, nil
	case ManagedFields:
		return lastapplied.Original{State: lastapplied.Blanked, Blanking: lastapplied.BlankAll}, nil
	case File, Helm:
		found, err := o.Saved(local)
		switch {
		case err != nil:
			return lastapplied.Original{}, err
		case found == nil && o.From == Helm:
			return lastapplied.Read(live), nil
		case found == nil:
			return lastapplied.Original{}, nil
		}
		given, err := Given(found.Value, live)
		if err != nil {
			err = fmt.Errorf("--original: %s: %w", found.Origin, err)
		}
		return given, err
	case Annotation:
		return lastapplied.Read(live), missing(live)
	case Auto, "":
		return lastapplied.Read(live), nil
	}
	return lastapplied.Original{}, fmt.Errorf("--original=%s: there are auto, annotation, managed-fields, helm:RELEASE, none, or a FILE", o.From)
}

// missing returns an error where live has no annotation that an original can be read from:
// a user who names the source relies on its removals.
func missing(live map[string]any) error {
	switch read := lastapplied.Read(live); {
	case read.State == lastapplied.None:
		return errors.New("--original=annotation: no last-applied-configuration annotation found: record what was applied: kubectl merge set-last-applied --create-annotation -f FILE")
	case read.Problem != "":
		return errors.New("--original=annotation: " + read.Flaw() + ": put back what was applied: kubectl merge set-last-applied -f FILE")
	}
	return nil
}

// misshapen reports the values of an original that are lists or mappings where the type has something
// else, or the other way round: no merge can use them. "" for none. Another apiVersion has another type.
func misshapen(local object.Object, original any, typ *merge.Type) string {
	if merge.At[string](original, "apiVersion") != local.APIVersion() {
		return ""
	}
	for _, w := range schema.MistypedIn(typ, original) {
		if w.Want == "a list" || w.Want == "a mapping" {
			return fmt.Sprintf("last-applied: %s: is not %s there: it is treated as absent, so that nothing of it is removed, and written anew", w.Path, w.Want)
		}
	}
	return ""
}

// holders returns the managers whose values make up an original from managedFields: the applier
// and those that own the annotation. Where the user asks for managedFields, kubectl's own and
// those that the user has named are added. Then values that others own as well do not count.
func (p *Planner) holders(live map[string]any) ownership.Holders {
	names := append([]string{p.Manager}, ownership.Annotators(ownership.Of(live))...)
	holders := ownership.Named(append(names, p.Original.adopted(live)...)...)
	holders.Alone = p.Original.From == ManagedFields
	return holders
}

// adopted returns the managers whose values count as the applier's because the user has
// asked for managedFields of a live object.
func (o Originals) adopted(live map[string]any) []string {
	if o.From != ManagedFields {
		return nil
	}
	if o.Managers == nil {
		return strategy.Kubectls
	}
	o.Managers.Look(live)
	return slices.Concat(strategy.Kubectls, o.Managers.Names)
}
