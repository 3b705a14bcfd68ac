package write

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// reportUnstored notes the sent values that the server's answer lacks, or has changed.
func (c *applying) reportUnstored(obj map[string]any) {
	known := map[string]bool{}
	for _, p := range slices.Concat(c.out.Restored, c.out.Planned.Unstored) { // reported with what was to be overwritten, or by the run that sent it first
		known[p.String()] = true
	}
	for _, d := range c.out.Planned.Doubtful {
		known[d.Path.String()] = true
	}
	for _, change := range unstored(c.out.Planned, c.body, obj) {
		at := change.Path.String()
		switch {
		case known[at]:
		case change.Old.Set:
			c.note("the server does not store " + at + " as it was sent: a feature gate, an admission policy or the kind changes it")
		default:
			c.note("the server does not store " + at + ": a feature gate, an admission policy or the kind drops it")
		}
	}
}

// unstored returns the changes from obj, the server's answer, to the object that was sent.
func unstored(p apply.Planned, body []byte, obj map[string]any) []merge.Change {
	v, err := merge.ReadJSON(body)
	sent, ok := v.(map[string]any) // not a JSON patch, which is bound to values
	if err != nil || !ok {
		return nil
	}
	want, is := bare(p, sent), bare(p, obj)
	changes := merge.Three(merge.Triple{Local: want, Live: is}, p.Type, merge.Policies[0], false).Changes
	return slices.DeleteFunc(changes, func(c merge.Change) bool { return c.Op != merge.OpSet })
}
