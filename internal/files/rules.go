package files

import (
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// checkRules returns an error for rules that can match nothing in the files: a path that a
// kind does not have, and a kind that is misspelt. What no schema knows may have anything.
func (m *merger) checkRules() error {
	var (
		kinds []string
		typed []schema.Typed
		seen  = map[string]bool{}
	)
	for _, r := range append(m.updated.list[:len(m.updated.list):len(m.updated.list)], m.dest.list...) {
		name := r.id.group + "/" + r.version + " " + r.id.kind
		if r.id.kind == "" || seen[name] {
			continue
		}
		seen[name] = true
		kinds = append(kinds, r.id.kind)
		typed = append(typed, schema.Typed{Group: r.id.group, Kind: r.id.kind, Type: m.Rules.Shape(m.known(r))})
	}
	errs := m.Rules.Check(typed)
	for _, rule := range m.Rules {
		if near, known := rule.NearKind(kinds); !known && near != "" {
			errs = append(errs, fmt.Errorf("%s: there is no such kind (did you mean %s?)", rule.Where(), near))
		}
	}
	for i, err := range errs {
		errs[i] = fmt.Errorf("rules: %w", err)
	}
	return errors.Join(errs...)
}

// known is the type of a resource's kind; nil if it is not known.
func (m *merger) known(r *resource) *merge.Type {
	switch {
	case r.isKustomization():
		return kustomization()
	case m.Schema == nil || r.id.kind == "":
		return nil
	}
	return m.Schema(r.id.group, r.version, r.id.kind)
}
