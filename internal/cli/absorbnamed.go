package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// misspelt returns an error for the fields that no object has or may have, and that are nearly one.
func (a *absorbing) misspelt(ctx context.Context, s *session) error {
	var errs []error
	for _, p := range a.choice.Unused(a.objects) {
		var near merge.Path
		for _, item := range s.Items {
			if !a.named(ctx, s, item) {
				continue
			}
			whole, err := item.Object.Whole()
			errs = append(errs, err)
			_, stated := merge.Lookup(whole.Value, p, item.Planned.Type)
			if _, found := merge.Lookup(item.Planned.Live, p, item.Planned.Type); found || stated {
				near = nil
				break
			}
			if n := schema.Nearest(item.Planned.Type, p, whole.Value, item.Planned.Live); near == nil && n.String() != p.String() {
				near = n
			}
		}
		if near != nil {
			errs = append(errs, fmt.Errorf("%s: no object has it, neither in the files nor in live; did you mean %s?", p, near))
		}
	}
	return errors.Join(errs...)
}
