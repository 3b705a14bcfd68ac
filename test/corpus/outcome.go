package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-merge/kubectl-merge/internal/patch"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// outcomes are the files of a case that are not written by hand, in their order.
var outcomes = []string{"result.yaml", "changes", "reported", "patch.json", "error"}

// Merge has the case merged.
func (c Case) Merge() (strategy.Output, error) { return strategy.Plan(c.Input) }

// Outcome merges the case and spells what came out, as the files of the case. A
// file that would be empty is left out.
func (c Case) Outcome() (map[string]string, error) {
	out, err := c.Merge()
	if err != nil {
		return map[string]string{"error": err.Error() + "\n"}, nil
	}
	result, err := yamldoc.Encode(shown(out.Result))
	if err != nil {
		return nil, err
	}
	files := map[string]string{
		"result.yaml": string(result),
		"changes":     changes(out.Changes),
		"reported":    reported(out),
	}
	if p, _ := patch.Merge(c.Input.Triple.Live, out.Result); p != nil && c.Input.Triple.Live != nil {
		if files["patch.json"], err = indented(p); err != nil {
			return nil, err
		}
	}
	for name, text := range files {
		if text == "" {
			delete(files, name)
		}
	}
	return files, nil
}

// Written is the outcome as the case has it.
func (c Case) Written() map[string]string {
	files := map[string]string{}
	for _, name := range outcomes {
		if data := c.data(name); data != nil {
			files[name] = string(data)
		}
	}
	return files
}

// Update writes an outcome into the case's file.
func (c Case) Update(files map[string]string) error {
	a := &txtar.Archive{Comment: c.archive.Comment}
	a.Files = slices.DeleteFunc(slices.Clone(c.archive.Files), func(f txtar.File) bool { return slices.Contains(outcomes, f.Name) })
	for _, name := range outcomes {
		if text, ok := files[name]; ok {
			a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(text)})
		}
	}
	return os.WriteFile(c.file, txtar.Format(a), 0o644)
}

// shown is the result without managedFields.
func shown(v any) any {
	o, _ := v.(map[string]any)
	meta, _ := o["metadata"].(map[string]any)
	if meta["managedFields"] == nil {
		return v
	}
	out, m := map[string]any{}, map[string]any{}
	for k, e := range o {
		out[k] = e
	}
	for k, e := range meta {
		if k != "managedFields" {
			m[k] = e
		}
	}
	out["metadata"] = m
	return out
}

func changes(cs []merge.Change) string {
	var b strings.Builder
	for _, c := range cs {
		switch c.Op {
		case merge.OpRemove:
			fmt.Fprintf(&b, "remove %s: %s\n", c.Path, text(c.Old))
		case merge.OpOrder:
			fmt.Fprintf(&b, "order %s: %s -> %s\n", c.Path, steps(c.OldOrder), steps(c.NewOrder))
		case merge.OpSet:
			if !c.Old.Set {
				fmt.Fprintf(&b, "add %s: %s\n", c.Path, text(c.New))
			} else {
				fmt.Fprintf(&b, "set %s: %s -> %s\n", c.Path, text(c.Old), text(c.New))
			}
		}
	}
	return b.String()
}

func steps(list []merge.Step) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString(s.String())
	}
	return b.String()
}

var (
	kinds   = map[merge.DisagreementKind]string{merge.Drift: "drift", merge.Both: "both", merge.Dropped: "dropped", merge.Update: "update"}
	winners = map[merge.Side]string{merge.Nobody: "nobody", merge.OriginalSide: "original", merge.LocalSide: "local", merge.LiveSide: "live"}
	causes  = map[merge.Cause]string{
		merge.CauseLocal: "local", merge.CauseLive: "only live has it", merge.CauseDropped: "dropped", merge.CauseNull: "null",
		merge.CauseDisplaced: "displaced", merge.CauseInside: "inside", merge.CauseSame: "same", merge.CauseServer: "server", merge.CausePolicy: "policy", merge.CauseReplaced: "replaced", merge.CauseStrategy: "strategy", merge.CauseLines: "lines", merge.CauseAnew: "anew", merge.CauseUnstored: "unstored", merge.CauseFixed: "fixed",
	}
)

func reported(out strategy.Output) string {
	var b strings.Builder
	for _, d := range out.Conflicts {
		b.WriteString("conflict: " + disagreement(d))
	}
	for _, d := range out.Settled {
		b.WriteString("settled: " + disagreement(d))
	}
	for _, r := range out.Removed {
		fmt.Fprintf(&b, "removed: %s: %s (%s)%s\n", r.Path, text(merge.Some(r.Value)), causes[r.Cause], by(r.Owner))
	}
	for _, r := range out.Undecided {
		fmt.Fprintf(&b, "undecided: %s: %s%s\n", r.Path, text(merge.Some(r.Value)), by(r.Owner))
	}
	for _, p := range out.Ignored {
		fmt.Fprintf(&b, "ignored: %s\n", p)
	}
	for _, p := range out.Uncompared {
		fmt.Fprintf(&b, "uncompared: %s\n", p)
	}
	return b.String()
}

func disagreement(d merge.Disagreement) string {
	s := fmt.Sprintf("%s: %s: original %s, local %s, live %s%s", kinds[d.Kind], d.Path, text(d.Original), text(d.Local), text(d.Live), by(d.Owner))
	if d.Winner != merge.Nobody {
		s += ": " + winners[d.Winner] + " won"
	}
	if d.Rule != "" {
		s += ", by rule " + d.Rule
	}
	return s + "\n"
}

func by(o *merge.Owner) string {
	if o == nil {
		return ""
	}
	s := " by " + o.Manager + " (" + o.Operation
	if o.Subresource != "" {
		s += " " + o.Subresource
	}
	return s + ")"
}

func text(o merge.Opt) string {
	if !o.Set {
		return "none"
	}
	s, err := compact(o.Value)
	if err != nil {
		return "(not JSON)"
	}
	return s
}

func compact(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func indented(v any) (string, error) {
	s, err := compact(v)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = json.Indent(&b, []byte(s), "", "  ")
	return b.String() + "\n", err
}
