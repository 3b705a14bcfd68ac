package diff

import (
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Conflicts tells what the policy left to the user: for each conflict the values,
// who set live's and when, and the two ways out, three lines in all
// (Note.String). No conflicts: nil.
func Conflicts(t Told) []Note {
	t = t.looked()
	var out []Note
	for _, d := range t.Plan.Conflicts {
		out = append(out, t.conflict(t.applied(d)))
	}
	return out
}

func (t Told) conflict(d merge.Disagreement) Note {
	s := t.mask(d.Path, sides{d.Original, d.Local, d.Live})
	n := Note{
		Object: t.Object, Path: d.Path, Kind: NoteConflict,
		Original: s.original, Local: s.local, Live: s.live, Owner: d.Owner, Rule: d.Rule,
	}
	v := s.shown()
	switch {
	case len(d.By) > 0:
		n.Text, n.Ways = "live has "+content(v.live, mostParts)+who(d.Owner)+", "+excluded(d.By), t.waysOut(d, v)
	case t.Merged != "":
		n.Text, n.Ways = t.sidesOfFiles(n), []string{"the values stand between <<<<<<< and >>>>>>> in " + t.Merged + ": leave one of them"}
	case v.long && v.live.Set:
		n.Text, n.Ways = v.conflict(who(d.Owner), unknown(d.Original)), t.waysOut(d, v)
	default:
		n.Text, n.Ways = v.conflictShort(who(d.Owner)), t.waysOut(d, v)
	}
	n.Text = d.Path.String() + ": conflict: " + n.Text
	return n
}

// conflictShort prints the values.
func (v shown) conflictShort(who string) string {
	live := "live has none"
	if v.live.Set {
		live = "live has " + v.texts.live
	}
	text := live + who + ", " + v.removed()
	if v.local.Set && v.local.Value != nil {
		text = live + who + ", local has " + v.texts.local
	}
	if v.original.Set {
		text += ", last applied " + v.texts.original
	}
	return text
}

// removed says how local comes to have nothing.
func (v shown) removed() string {
	if !v.local.Set && !v.original.Set {
		return "local has none"
	}
	return "local removed it"
}

// conflict names what either side changed, where the values have no room in the line.
func (v shown) conflict(who string, unknown bool) string {
	known := v.original.Set && !unknown
	stated := v.local.Set && v.local.Value != nil
	switch {
	case !stated && known && !alike(v.original, v.live):
		return "local removed what live" + who + " changed: " + difference(v.original, v.live, mostParts)
	case !stated:
		return "live has " + content(v.live, mostParts) + who + ", " + v.removed()
	case !known:
		return "live" + who + " and local differ; local would change: " + difference(v.live, v.local, mostParts)
	case alike(v.original, v.local):
		return "live" + who + " changed what was applied last: " + difference(v.original, v.live, mostParts)
	}
	return "live" + who + " changed " + difference(v.original, v.live, mostParts) + ", and local changed " + difference(v.original, v.local, mostParts)
}

// unknown: the value applied last was not kept.
func unknown(o merge.Opt) bool { return o.Set && (o.Value == nil || o.Value == "") }

// who names a value's owner and when it was set, with a space before it; "" if nobody
// knows.
func who(o *merge.Owner) string {
	name := strings.TrimSuffix(OwnerName(o)+", "+when(o), ", ")
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// waysOut are what a user can do to keep live's value, and to have local's.
func (t Told) waysOut(d merge.Disagreement, v shown) []string {
	disown := "kubectl merge disown " + word(t.Object) + " " + word(d.Path.String())
	if t.Namespace != "" {
		disown += " -n " + word(t.Namespace)
	}
	keep := v.keep(d)
	switch {
	case d.Original.Set && d.Live.Set && stated(d.Local):
		keep += ", or take it out of the file and give it up: " + disown
	case d.Original.Set && d.Live.Set:
		keep += ", or give it up: " + disown
	}
	if stated(d.Local) {
		return []string{keep, "to have local's: --policy=apply"}
	}
	return []string{keep, "to remove it: --policy=apply"}
}

// stated: local asks for a value.
func stated(o merge.Opt) bool { return o.Set && o.Value != nil }

// longestWritten is how long a value may be that the user is to write.
const longestWritten = 200

// keep is what to do in the local file to keep live's value: where local states most of
// it, no more than the change that is missing.
func (v shown) keep(d merge.Disagreement) string {
	text, _ := d.Live.Value.(string)
	shown := merge.Identical(v.live.Value, d.Live.Value)
	switch {
	case !d.Live.Set:
		return "to keep it out: take it out of the local file"
	case len(d.By) > 0:
		return "to keep live's: write it in the local file in place of " + d.By.String()
	case shown && isScalar(d.Live.Value) && !manyLines(text) && fits(d.Live, longestWritten):
		return "to keep live's: write " + short(d.Live.Value, longestWritten) + " in the local file"
	case !stated(d.Local):
		return "to keep live's: write it in the local file"
	case !v.long:
		return "to keep live's: write live's value in the local file"
	case !v.original.Set || unknown(v.original):
		return "to keep live's: undo that change in the local file"
	case alike(d.Original, d.Local):
		return "to keep live's: make the same change in the local file"
	}
	return "to keep live's: make live's change in the local file in place of local's"
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
	s = escape.Text(s)
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
