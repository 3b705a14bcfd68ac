package absorb

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Place is the field of a value, as messages name it.
func (v *Value) Place() string {
	if v.Path == nil {
		return "the object"
	}
	return v.Path.String()
}

// Report returns all values as JSON. Those of Secrets are masked.
func Report(objects []*Object) map[string]any {
	rows := []any{}
	for _, o := range objects {
		for _, v := range o.Values {
			row := v.JSON()
			row["absorbed"], row["file"] = v.Reason == "", cmp.Or(v.file, o.Origin.File)
			rows = append(rows, row)
		}
	}
	return map[string]any{"kind": "AbsorbReport", "values": rows}
}

// Unused returns those of the named fields that no object differs in.
func (c Choice) Unused(objects []*Object) []merge.Path {
	return slices.DeleteFunc(slices.Clone(c.Fields), func(p merge.Path) bool {
		return slices.ContainsFunc(objects, func(o *Object) bool {
			return slices.ContainsFunc(o.Values, func(v *Value) bool { return v.Path != nil && p.Leads(v.Path) })
		})
	})
}

// Summary returns in one line what the files take, and how much is left, by reason. Unless what is
// left was named before, it says how to have it named.
func Summary(objects []*Object, files int, written, named bool) string {
	taken, of, left, why := 0, 0, 0, map[string]int{}
	for _, o := range objects {
		if n := len(o.Chosen()); n > 0 {
			taken, of = taken+n, of+1
		}
		for _, v := range o.Values {
			reason := v.Reason
			if strings.HasPrefix(reason, "has ") { // with all places
				reason, _, _ = strings.Cut(reason, ": ")
			}
			if reason != "" {
				why[reason]++
				left++
			}
		}
	}
	text := diff.Count(len(objects), "object", "objects") + " compared: live has nothing that the file does not have"
	switch {
	case taken > 0:
		verb, hint := "written", ""
		if !written {
			verb, hint = "would be written", ": -w writes them"
		}
		text = fmt.Sprintf("%s of %s %s into %s%s", diff.Count(taken, "value", "values"), diff.Count(of, "object", "objects"), verb, diff.Count(files, "file", "files"), hint)
	case left > 0:
		text = diff.Count(len(objects), "object", "objects") + " compared: nothing to take"
	}
	if left == 0 {
		return text
	}
	var parts []string
	for reason, n := range why {
		parts = append(parts, fmt.Sprintf("%d %s", n, reason))
	}
	slices.Sort(parts)
	text += fmt.Sprintf("; %d left: %s", left, strings.Join(parts, ", "))
	if !named {
		text += "; -v=1 names them"
	}
	return text
}
