package files

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// tell takes down what a merge settled against dest, and its conflicts. That the
// source wins is what a merge of two is for, and that dest's own changes stay what
// one of three is for: neither is told.
func (m *merger) tell(o, d *resource, t *merge.Type, plan merge.Plan) {
	i, original := d.id, valueOf(o)
	told := diff.Told{Object: i.String(), Live: d.value(), Local: plan.Result, Plan: merge.Plan{Result: plan.Result, Conflicts: plan.Conflicts}}
	for _, n := range diff.Conflicts(told) {
		n.Ways = []string{"the values stand between <<<<<<< and >>>>>>> in " + d.file.Where() + ": leave one of them"}
		n.Text = n.Path.String() + ": conflict: " + sides(n)
		m.out.Conflicts = append(m.out.Conflicts, n)
	}
	if m.Original == nil {
		return
	}
	for _, s := range plan.Settled {
		if s.Kind != merge.Drift {
			told.Plan.Settled = append(told.Plan.Settled, s)
		}
	}
	for _, r := range plan.Removed {
		was, ok := merge.Lookup(original, r.Path, t)
		if !ok || !equal(was, r.Value) {
			told.Plan.Removed = append(told.Plan.Removed, r)
		}
	}
	for _, n := range diff.Notes(told) {
		n.Text = n.Path.String() + ": " + verdict(n)
		if was, had := merge.Lookup(original, n.Path, t); had && was == nil && n.Winner == merge.Nobody {
			n.Text = n.Path.String() + ": dest " + state(n.Live) + ": removed, as updated says null and so did original (" + m.Policy.Name + " clears nulls; --policy=diff3 leaves what only dest changed)"
		}
		m.out.Notes = append(m.out.Notes, n)
	}
}

// sides spells the values of a note under the names that a merge of files has for
// them.
func sides(n diff.Note) string {
	s := "dest " + state(n.Live) + ", updated " + state(n.Local)
	if n.Original.Set {
		s += ", original " + spell(n.Original.Value)
	}
	return s
}

func state(o merge.Opt) string {
	if !o.Set || o.Value == nil {
		return "has none"
	}
	return "has " + spell(o.Value)
}

// verdict says who won.
func verdict(n diff.Note) string {
	if n.Winner == merge.Nobody {
		return "dest " + state(n.Live) + ": removed, as updated says"
	}
	end := map[merge.Side]string{
		merge.LocalSide: "updated wins", merge.LiveSide: "dest wins", merge.OriginalSide: "original wins",
	}[n.Winner]
	if n.Rule != "" {
		end += " (rule " + strings.Trim(strconv.QuoteToGraphic(n.Rule), `"`) + ")"
	}
	return sides(n) + ": " + end
}

// shown is how long a value may be in a note.
const shown = 48

// spell writes a value on one line, nothing in it able to drive a terminal.
func spell(v any) string {
	s, ok := v.(string)
	if ok {
		s = strconv.QuoteToGraphic(s[:min(len(s), 4*shown)])
	} else {
		text, err := json.Marshal(v)
		if err != nil {
			return "?"
		}
		s = strings.Map(func(r rune) rune {
			if strconv.IsGraphic(r) {
				return r
			}
			return utf8.RuneError
		}, string(text[:min(len(text), 4*shown)]))
	}
	if utf8.RuneCountInString(s) > shown {
		s = string([]rune(s)[:shown]) + "…"
	}
	return s
}

// note takes down what became of a whole resource.
func (m *merger) note(kind diff.NoteKind, i id, what string, winner merge.Side) {
	m.out.Notes = append(m.out.Notes, diff.Note{Object: i.String(), Kind: kind, Text: what, Winner: winner})
}

func (m *merger) conflict(r *resource, what string) {
	m.out.Conflicts = append(m.out.Conflicts, diff.Note{
		Object: r.id.String(), Kind: diff.NoteConflict, Text: "conflict: " + what,
		Ways: []string{"both stand between <<<<<<< and >>>>>>> in dest: leave one of them"},
	})
}
