package cli

import (
	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// maskedPrinter wraps a printer that must not see secrets: it receives no value of a Secret, and
// none that the user's rules hide.
type maskedPrinter struct{ printer }

func (p maskedPrinter) object(item *run.Item) error { return p.printer.object(masked(item)) }

// masked returns a copy of an item with all hidden values masked; the item itself if it has none.
func masked(item *run.Item) *run.Item {
	object, details := item.Object, *item.Details
	var hidden [4]bool
	object.Value, hidden[0] = maskedObject(item.Object.Value, item.Planned.Sensitive)
	details.Result.Object, hidden[1] = maskedObject(item.Result.Object, item.Planned.Sensitive, item.Planned.Value)
	details.Planned, hidden[2] = maskedPlan(item.Planned)
	details.Result.Planned, hidden[3] = maskedPlan(item.Result.Planned)
	if hidden == [4]bool{} {
		return item
	}
	return item.With(object, &details)
}

func maskedObject(obj map[string]any, sensitive redact.Fields, sides ...any) (out map[string]any, hidden bool) {
	if obj == nil {
		return nil, false
	}
	_, shown := redact.Mask(nil, obj, sensitive, sides...)
	out, _ = shown.(map[string]any)
	return out, !merge.Identical(out, obj)
}

// maskedPlan returns a plan with masked sides, and the changes between them. Disagreements and
// removals are reduced to their paths, owners and winners.
func maskedPlan(p apply.Planned) (out apply.Planned, hidden bool) {
	local, hides := maskedObject(p.Value, p.Sensitive)
	var live any
	if p.Live != nil {
		live = p.Live
	}
	was, is := redact.Mask(live, p.Final, p.Sensitive, p.Value)
	_, result := redact.Mask(live, p.Result, p.Sensitive, p.Value)
	if !hides && merge.Identical(was, live) && merge.Identical(is, p.Final) {
		return p, false
	}
	out = p
	out.Value, out.Applying = local, nil
	out.Live, _ = was.(map[string]any)
	out.Final, _ = is.(map[string]any)
	out.Output = strategy.Output{Ignored: p.Ignored, Uncompared: p.Uncompared, Plan: merge.Plan{Result: result, Changes: merge.Diff(was, is, p.Type)}}
	places := func(all []merge.Disagreement) (bare []merge.Disagreement) {
		for _, d := range all {
			bare = append(bare, merge.Disagreement{Kind: d.Kind, Path: d.Path, Owner: d.Owner, Winner: d.Winner, Rule: d.Rule, By: d.By})
		}
		return bare
	}
	out.Conflicts, out.Settled = places(p.Conflicts), places(p.Settled)
	for _, r := range p.Removed {
		out.Removed = append(out.Removed, merge.Removal{Path: r.Path, Cause: r.Cause, Owner: r.Owner, By: r.By, Own: r.Own})
	}
	return out, true
}
