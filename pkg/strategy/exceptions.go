package strategy

import "github.com/kubectl-merge/kubectl-merge/pkg/merge"

// exceptions are the built-in rules that hold for this object.
func exceptions(in Input) []merge.Rule { return nil }
