package strategy

import (
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// exceptions returns the rules that hold for this object: the user's, then the built-in
// ones (pkg/schema/exceptions.yaml).
func exceptions(in Input) (schema.Rules, error) {
	builtin, err := schema.Exceptions()
	if err != nil {
		return nil, fmt.Errorf("built-in rules: %w", err)
	}
	all := append(in.Rules[:len(in.Rules):len(in.Rules)], builtin...)
	return all.For(schema.Object{
		Group: in.Group, Kind: in.Kind, Namespace: merge.At[string](in.Triple.Local, "metadata", "namespace"),
		Name: merge.At[string](in.Triple.Local, "metadata", "name"), Triple: in.Triple,
	}), nil
}
