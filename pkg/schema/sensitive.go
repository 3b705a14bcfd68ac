package schema

import (
	"encoding/json"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Sensitive returns the fields of an object that rules call sensitive; nil where none does.
func (rs Rules) Sensitive(o Object) redact.Fields {
	var paths []merge.Path
	for _, r := range rs.For(o) {
		if r.Sensitive {
			paths = append(paths, r.Path)
		}
	}
	return below(paths)
}

// SensitiveText returns the rules that call fields sensitive, as text that ParseRules reads; ""
// where none does. Their condition (has) is left out: the fields are hidden in every object.
func (rs Rules) SensitiveText() string {
	var b strings.Builder
	for _, r := range rs {
		if !r.Sensitive {
			continue
		}
		text, err := json.Marshal(struct {
			Path      string  `json:"path"`
			Kind      string  `json:"kind,omitempty"`
			APIGroup  *string `json:"apiGroup,omitempty"`
			Namespace string  `json:"namespace,omitempty"`
			Name      string  `json:"name,omitempty"`
			Sensitive bool    `json:"sensitive"`
		}{r.text, r.Kind, r.APIGroup, r.Namespace, r.Name, true})
		if err == nil { // it holds only text
			b.WriteString("- " + string(text) + "\n")
		}
	}
	return b.String()
}

// below returns what a step leads to in the paths.
func below(paths []merge.Path) redact.Fields {
	if len(paths) == 0 {
		return nil
	}
	return func(s merge.Step) (whole bool, rest redact.Fields) {
		var left []merge.Path
		for _, p := range paths {
			switch {
			case !stepFits(p[0], s):
			case len(p) == 1:
				whole = true
			default:
				left = append(left, p[1:])
			}
		}
		return whole, below(left)
	}
}
