package files

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// bothChanged: all three sides have the value, and dest and updated have changed it in
// different ways.
func bothChanged(d merge.Disagreement) bool {
	return d.Kind == merge.Both && d.Original.Set && d.Local.Set && d.Live.Set
}

// mayMergeByLines: the value is a list, or a text of several lines. A mapping that is one value,
// such as a selector, is not mixed from two sides.
func mayMergeByLines(d merge.Disagreement) bool {
	_, isList := d.Live.Value.([]any)
	_, _, isText := byLines(d)
	return isText || isList && bothChanged(d)
}

// whole: the value in conflict is not mixed from two sides.
func whole(d merge.Disagreement) bool { return !mayMergeByLines(d) }

// textsByLine is a plan in which texts of several lines that both sides have changed are
// merged line by line: what has changed in different places is not a disagreement. Where
// updated wins, it wins the lines that both have changed.
func textsByLine(plan merge.Plan) merge.Plan {
	var changes []merge.Change
	put := func(d merge.Disagreement, text string) {
		changes = append(changes, merge.Change{Op: merge.OpSet, Path: d.Path, New: merge.Some(text)})
	}
	plan.Conflicts = slices.DeleteFunc(slices.Clone(plan.Conflicts), func(d merge.Disagreement) bool {
		merged, clean, ok := byLines(d)
		if ok && clean {
			put(d, merged)
		}
		return ok && clean
	})
	plan.Settled = slices.DeleteFunc(slices.Clone(plan.Settled), func(d merge.Disagreement) bool {
		merged, clean, ok := byLines(d)
		if ok && (clean || d.Winner == merge.LocalSide) && d.Rule == "" {
			put(d, merged)
		}
		return ok && clean && d.Rule == ""
	})
	if result, err := merge.Replay(plan.Result, changes); err == nil {
		plan.Result = result
	}
	return plan
}

// byLines merges a disagreement about a text of several lines; ok is false for any other.
// Lines that both sides have changed are updated's.
func byLines(d merge.Disagreement) (merged string, clean, ok bool) {
	base, isText := d.Original.Value.(string)
	ours, isOurs := d.Live.Value.(string)
	theirs, isTheirs := d.Local.Value.(string)
	if !bothChanged(d) || !isText || !isOurs || !isTheirs || !strings.Contains(base+ours+theirs, "\n") {
		return "", false, false
	}
	merged, _, clean = linemerge.Sides(base, ours, theirs)
	return merged, clean, true
}
