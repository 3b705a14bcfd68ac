package diff

import (
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// conflict describes each side's value, and who set live's and when.
func (n Note) conflict() string {
	switch v := n.shown(); {
	case len(n.By) > 0 && n.Merged != "":
		return "dest has " + content(n.Live, mostParts) + ", " + n.excluded()
	case n.Merged != "":
		return n.sidesOfFiles()
	case len(n.By) > 0:
		return "live has " + content(n.Live, mostParts) + who(n.Owner) + ", " + n.excluded()
	case n.ByLines:
		return "live" + who(n.Owner) + " and local changed the same lines:"
	case v.long && v.live.Set:
		return v.conflict(who(n.Owner), unknown(n.Original))
	default:
		return v.conflictShort(who(n.Owner))
	}
}

// conflictShort prints the values.
func (v shown) conflictShort(who string) string {
	live := orAbsent(v.live, "live has "+v.texts.live, "live has none") + who + ", "
	if stated(v.local) {
		return live + "local has " + v.texts.local + v.last()
	}
	return live + v.removed() + v.last()
}

// last says what was applied last, with a comma before it; "" where that is not recorded.
func (v shown) last() string {
	if !stated(v.original) {
		return ""
	}
	return ", last applied " + v.texts.original
}

// removed says why local has nothing.
func (v shown) removed() string {
	if !v.local.Set && !v.original.Set {
		return "local has none"
	}
	return "local removed it"
}

// conflict names the changes of either side, where the values have no room in the line.
func (v shown) conflict(who string, unknown bool) string {
	known, stated := v.original.Set && !unknown, stated(v.local)
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

// unknown reports whether the value applied last was not kept.
func unknown(o merge.Opt) bool { return o.Set && o.Value == nil }

// who names a value's owner and when it was set, with a space before it; "" if it is
// unknown.
func who(o *merge.Owner) string { return aside(By(o)) }

// waysOut returns the remedies: how a user can keep live's value, and how to get local's.
func (n Note) waysOut() []string {
	switch {
	case n.Merged == "" && n.Path == nil:
		return nil
	case n.Merged != "" && n.Message != "":
		return []string{"both are between <<<<<<< and >>>>>>> in " + n.Merged + ": keep one of them"}
	case n.Merged != "":
		return []string{"the values stand between <<<<<<< and >>>>>>> in " + n.Merged + ": leave one of them"}
	}
	disown := "kubectl merge disown " + shellWord(n.Object) + " " + shellWord(n.Path.String())
	if n.Namespace != "" {
		disown += " -n " + shellWord(n.Namespace)
	}
	keep := n.keep()
	switch {
	case n.Original.Set && n.Live.Set && stated(n.Local):
		keep += ", or take it out of the file and give it up: " + disown
	case n.Original.Set && n.Live.Set:
		keep += ", or give it up: " + disown
	}
	switch {
	case n.Conflicts < 0:
		return []string{keep}
	case n.Conflicts == 2:
		return []string{keep, "to have local's in both fields: --policy=apply"}
	case n.Conflicts > 2:
		return []string{keep, fmt.Sprintf("to have local's in all %d fields: --policy=apply", n.Conflicts)}
	case stated(n.Local):
		return []string{keep, "to have local's: --policy=apply"}
	}
	return []string{keep, "to remove it: --policy=apply"}
}

// mostMarked is the maximum number of lines of a conflict that are printed.
const mostMarked = 40

// marked returns the lines that both sides have changed, between conflict markers; nil
// where the value was not merged by lines.
func (n Note) marked() []string {
	if !n.ByLines {
		return nil
	}
	live, _ := n.Live.Value.(string)
	var text strings.Builder
	for _, c := range linemerge.Merge(merge.At[string](n.Original.Value), live, merge.At[string](n.Local.Value)) {
		if c.Conflict {
			text.WriteString(sideMarks.Conflict(c.Ours, c.Theirs))
		}
	}
	return few(text.String())
}

// few returns the first lines of a text, and the number of the rest.
func few(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, escape.Line(strings.TrimRight(line, "\r\n")))
	}
	if more := len(lines) - mostMarked; more > 0 {
		lines = append(lines[:mostMarked], fmt.Sprintf("… and %d lines more", more))
	}
	return lines
}

// Hunks returns the lines in which live and local differ, of a text of several lines that
// is in conflict, or was overwritten. They are a unified diff, or between conflict markers
// where the value was merged by lines. Other notes have none: their values are in Text, and
// those of a preview are in the diff.
func (n Note) Hunks() []string {
	switch {
	case n.Merged != "":
		return nil
	case n.Kind == NoteConflict && n.ByLines:
		return n.marked()
	case n.Kind == NoteConflict, !n.Preview && (n.Kind == NoteOverwritten || n.Kind == NoteReset || n.Kind == NoteKept):
		other, name := n.Local, "local"
		if n.Kind == NoteReset {
			other, name = n.Original, "original"
		}
		return textHunks([2]string{"live", name}, n.Live, other)
	}
	return nil
}

// textHunks returns the unified diff of two texts of several lines, without a line that
// could control a terminal; nil for other values, and short ones.
func textHunks(names [2]string, from, to merge.Opt) []string {
	old, isText := from.Value.(string)
	now, too := to.Value.(string)
	if !isText || !too || !manyLines(old) && !manyLines(now) || fits(from, shownAt) && fits(to, shownAt) {
		return nil
	}
	return few(Text(Pair{From: names[0], To: names[1], Old: old, Now: now}, 1))
}

// stated reports whether local asks for a value.
func stated(o merge.Opt) bool { return o.Set && o.Value != nil }

// longestWritten is the maximum length of a value that the user has to write.
const longestWritten = 200

// keep says what to change in the local file to keep live's value: where local states most
// of it, only the missing change.
func (n Note) keep() string {
	field := n.Path.String()
	switch {
	case !n.Live.Set:
		return "to keep it out: take it out of the local file"
	case len(n.By) > 0:
		return "to keep live's: write it in the local file in place of " + n.By.String()
	case !n.Masked && merge.IsScalar(n.Live.Value) && !manyLines(merge.At[string](n.Live.Value)) && fits(n.Live, longestWritten):
		return "to keep live's: write " + short(n.Live.Value, longestWritten) + " in the local file"
	case !stated(n.Local):
		return "to keep live's: write " + field + " in the local file as live has it"
	case !n.sides().shown().long:
		return "to keep live's: write live's value of " + field + " in the local file"
	case !stated(n.Original):
		return "to keep live's: undo that change of " + field + " in the local file"
	case alike(n.Original, n.Local):
		return "to keep live's: make the same change of " + field + " in the local file"
	}
	return "to keep live's: make live's change of " + field + " in the local file in place of local's"
}

// sidesOfFiles spells the values of a note under the names that a merge of files uses.
func (n Note) sidesOfFiles() string {
	v := n.sides().shown()
	if v.long && n.Live.Set && stated(n.Local) {
		if !n.Original.Set {
			return "dest has another value than updated, which would change it: " + difference(n.Live, n.Local, mostParts)
		}
		return "dest changed " + difference(n.Original, n.Live, mostParts) + ", and updated changed " + difference(n.Original, n.Local, mostParts)
	}
	text := "dest " + state(n.Live, v.texts.live) + ", updated " + state(n.Local, v.texts.local)
	if n.Original.Set {
		text += ", original " + v.texts.original
	}
	return text
}

func state(o merge.Opt, text string) string {
	if stated(o) {
		return "has " + text
	}
	return "has none"
}
