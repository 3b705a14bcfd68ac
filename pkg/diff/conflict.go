package diff

import (
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Conflicts tells what the policy left to the user: for each conflict the values,
// who set live's and when, and the two ways out, three lines in all
// (Note.String). No conflicts: nil.
func Conflicts(t Told) []Note {
	var out []Note
	for _, d := range t.Plan.Conflicts {
		out = append(out, t.conflict(d))
	}
	return out
}

func (t Told) conflict(d merge.Disagreement) Note {
	s := t.mask(d.Path, sides{d.Original, d.Local, d.Live})
	live := "live has none"
	if d.Live.Set {
		live = "live has " + t.text(s.live)
	}
	if who := ownerName(d.Owner); who != "" {
		live += " (" + strings.TrimSuffix(who+", "+when(d.Owner), ", ") + ")"
	}
	local := "local removed it"
	if d.Local.Set && d.Local.Value != nil {
		local = "local has " + t.text(s.local)
	}
	text := d.Path.String() + ": conflict: " + live + ", " + local
	if s.original.Set {
		text += ", last applied " + t.text(s.original)
	}
	return Note{
		Object: t.Object, Path: d.Path, Kind: NoteConflict, Text: text, Ways: t.waysOut(d, s),
		Original: s.original, Local: s.local, Live: s.live, Owner: d.Owner, Rule: d.Rule,
	}
}

// waysOut are what a user can do to keep live's value, and to have local's.
func (t Told) waysOut(d merge.Disagreement, s sides) []string {
	disown := "kubectl merge disown " + word(t.Object) + " " + word(d.Path.String())
	if t.Namespace != "" {
		disown += " -n " + word(t.Namespace)
	}
	keep := "to keep live's: write it in the local file"
	switch {
	case !d.Live.Set:
		keep = "to keep it out: take it out of the local file"
	case merge.Identical(s.live.Value, d.Live.Value) && isScalar(d.Live.Value):
		keep = "to keep live's: write " + t.text(s.live) + " in the local file"
	}
	stated := d.Local.Set && d.Local.Value != nil
	switch {
	case d.Original.Set && d.Live.Set && stated:
		keep += ", or take it out of the file and give it up: " + disown
	case d.Original.Set && d.Live.Set:
		keep += ", or give it up: " + disown
	}
	if stated {
		return []string{keep, "to have local's: --policy=apply"}
	}
	return []string{keep, "to remove it: --policy=apply"}
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// word quotes an argument for a shell.
func word(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/:", r)
	}
	s = visible(s)
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
