package diff

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Text describes what happened, on one line that begins with the path; it does not contain
// the object.
func (n Note) Text() string {
	text := n.words()
	if n.Kind == NoteConflict {
		text = "conflict: " + text
	}
	if n.Rule != "" && n.Kind != NoteConflict {
		text += " (rule " + escape.Line(n.Rule) + ")"
	}
	if n.Path != nil {
		text = n.Path.String() + ": " + text
	}
	if n.Restored {
		text += "; the server put it back"
	}
	return text
}

// words returns the text without the path.
func (n Note) words() string {
	switch {
	case n.Message != "":
		return n.Message
	case n.Kind == NoteConflict:
		return n.conflict()
	case n.Kind == NoteMore:
		return n.more()
	case len(n.Paths) > 0:
		return n.several()
	case n.Moved != 0:
		return n.settled()
	case n.Merged != "":
		return "dest has " + content(n.Live, n.most()) + ": removed: " + n.cause()
	case n.Kind == NoteUndecided:
		return content(n.Live, n.most()) + by(n.Owner) + " stays: not in local, and " + n.unknown()
	}
	return content(n.Live, n.most()) + by(n.Owner) + " " + n.verb("removed") + ": " + n.cause()
}

// unknown says why a value that local lacks is not removed, where there is no original.
func (n Note) unknown() string {
	switch {
	case n.Owner != nil && n.Owner.Operation == "Apply":
		return "its owner has applied it"
	case n.ServerSide:
		return "not applied by this manager"
	}
	return "no original states what was applied before"
}

// Ways lists what the user can do, one line each; nil for nothing.
func (n Note) Ways() []string {
	var ways []string
	if n.Kind == NoteConflict {
		return n.waysOut()
	}
	if n.Decide.Fields {
		ways = append(ways, "to keep a field write it in the local file, to remove it write it there as null")
	}
	if adopt := n.Decide.Adoption; len(adopt.Owners) > 0 {
		ways = append(ways, "owned by "+escape.Line(strings.Join(adopt.Owners, ", "))+": to adopt, which removes what the file lacks, "+adopt.way(n.ServerSide))
	}
	if n.Decide.Rest && !n.ServerSide {
		ways = append(ways, "to have removed what you applied by other means: kubectl merge set-last-applied --create-annotation -f FILE, with the file as it was applied, and merge again")
	}
	return ways
}

// way returns the command that adopts the values. That of server-side apply changes their owner
// first, so that no later merge needs a flag.
func (a Adoption) way(serverSide bool) string {
	named, way := a.Named, "merge once with "+flagOf("--original=managed-fields", a.Named)+" (kubectl merge diff with it shows that first)"
	if serverSide {
		named, way = a.Owners, "kubectl merge migrate -f FILE --to=server-side "+flagOf("--from", a.Owners)+", and merge again (with --dry-run it shows what would be removed)"
	}
	if len(named) < 2 {
		return way
	}
	return way + "; leave out managers whose values are to stay"
}

// flagOf returns a flag with the names as its value, or alone, for a shell.
func flagOf(flag string, names []string) string {
	if len(names) == 0 {
		return flag
	}
	return shellWord(flag + "=" + escape.Line(strings.Join(names, ",")))
}

// shellWord quotes a word for a shell, where that is needed.
func shellWord(word string) string {
	if word = escape.Text(word); word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("-_./=,:@+%", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// verb says what happened to a value or, in a preview, would happen to it.
func (v Voice) verb(participle string) string {
	if v.Preview {
		return "would be " + participle
	}
	return participle
}

// most returns the maximum number of differences inside one value that are named.
func (v Voice) most() int {
	if v.Preview {
		return mostParts
	}
	return mostWritten
}

// several describes a note about several paths.
func (n Note) several() string {
	paths := strings.Join(suggest.AtMost(merge.Texts(n.Paths), mostParts), ", ")
	switch n.Kind {
	case NoteIgnored:
		return paths + " in local ignored: the server's own"
	case NoteDefaulted:
		return paths + ": null in local, stored as its default: a merge cannot write null where the schema has a default"
	case NoteUncompared:
		return paths + " not compared: last-applied has another apiVersion, and this one does not have these fields; whether live still has them is unknown"
	}
	return paths + by(n.Owner) + ": still undecided: in live, and in no file so far"
}

// more describes the notes that are left out.
func (n Note) more() string {
	if n.Preview {
		return fmt.Sprintf("and %d more: --notes=json prints all", len(n.Left))
	}
	var names []string
	what := "are left as they are"
	for _, left := range n.Left {
		if left.Kind == NoteConflict {
			what = "conflicts"
		}
		if left.Path == nil {
			names = append(names, left.Text())
			continue
		}
		names = append(names, left.Path.String())
	}
	return fmt.Sprintf("and %d more %s: %s", len(n.Left), what, strings.Join(names, ", "))
}

// settled describes a disagreement that was decided: by the values or, where they have no room in
// the line, by their differences.
func (n Note) settled() string {
	v := n.shown()
	live, gone, back := v.texts.live+by(n.Owner)+" ", "removed from live"+by(n.Owner)+", ", " to "+v.texts.original+", as last applied"
	if v.long {
		live, back = noun(v.live.Value)+by(n.Owner)+" ", " to what was applied last: "
	}
	switch {
	case n.Merged != "":
		return n.sidesOfFiles() + ": " + map[merge.Side]string{
			merge.LocalSide: "updated wins", merge.LiveSide: "dest wins", merge.OriginalSide: "original wins",
		}[n.Winner]
	case n.Kind == NoteRemoved && len(n.By) > 0:
		return content(n.Live, n.most()) + by(n.Owner) + " " + n.verb("removed") + ": " + n.excluded()
	case n.Kind == NoteRemoved && !v.long:
		return live + n.verb("removed") + ": " + v.localHas()
	case n.Kind == NoteKept && !v.live.Set && v.long:
		return gone + "and stays so; local has a " + noun(v.local.Value)
	case n.Kind == NoteKept && !v.live.Set:
		return gone + "and stays so: " + v.localHas()
	case n.Kind == NoteReset && !v.live.Set && v.long:
		return gone + n.verb("set back") + back + "a " + noun(v.original.Value)
	case n.Kind == NoteReset && !v.live.Set:
		return gone + n.verb("set back") + back
	case !v.live.Set && v.long:
		return gone + n.verb("put back") + " as local has it: a " + noun(v.local.Value)
	case !v.live.Set:
		return gone + n.verb("put back") + " as local has it: " + v.texts.local
	case n.Kind == NoteRemoved:
		return n.removedLong(v)
	case n.Kind == NoteKept && !v.long:
		return live + n.verb("kept") + ", " + v.localHas()
	case n.Kind == NoteKept && !stated(v.local):
		return live + n.verb("kept") + "; it is not in local"
	case n.Kind == NoteKept:
		return live + n.verb("kept") + "; local would change it: " + difference(v.live, v.local, n.most())
	case n.Kind == NoteReset && v.long:
		return live + n.verb("set back") + back + difference(v.live, v.original, n.most())
	case n.Kind == NoteReset:
		return live + n.verb("set back") + back
	case v.long:
		return live + n.verb("overwritten") + ": " + difference(v.live, v.local, n.most())
	case n.Moved == merge.Both:
		return live + n.verb("overwritten") + " with " + v.texts.local + v.last()
	}
	return live + n.verb("overwritten") + " with " + v.texts.local
}

// removedLong describes a long value that is removed. Of one that was applied, it names the
// changes made in live since, since no other place has them.
func (n Note) removedLong(v shown) string {
	why := "not in local"
	if v.local.Set {
		why = "local has null"
	}
	removed := " " + n.verb("removed") + ": " + why
	_, isList := v.live.Value.([]any)
	if isList || !stated(v.original) || alike(v.original, v.live) {
		return content(v.live, n.most()) + by(n.Owner) + removed
	}
	return noun(v.live.Value) + removed + "; changed since it was applied" + by(n.Owner) + ": " + difference(v.original, v.live, n.most())
}

// localHas says what local has, or why it has nothing.
func (v shown) localHas() string {
	switch {
	case v.local.Set && v.local.Value == nil:
		return "local has null" + v.last()
	case v.local.Set:
		return "local has " + v.texts.local + v.last()
	}
	return "not in local" + v.last()
}

// cause says why a value is removed.
func (n Note) cause() string {
	switch {
	case len(n.By) > 0:
		return n.excluded()
	case n.Merged != "" && n.Cause == merge.CauseStillNull:
		return "updated has null, and so had original (" + n.Policy + " clears nulls; --policy=diff3 leaves what only dest changed)"
	case n.Merged != "" && n.Cause == merge.CauseNull:
		return "updated has null"
	case n.Merged != "":
		return "not in updated"
	}
	return causeText(n.Cause, n.FromOwners)
}

// excluded says what excludes live's variant of a one-of; see Report.excluding.
func excluded(side, by string) string { return side + " has " + by + ", which excludes it" }

// excluded is that for a note, by the names of its sides.
func (n Note) excluded() string {
	if n.Merged != "" {
		return excluded("updated", n.by)
	}
	return excluded("local", n.by)
}

// Excluding names what excludes the note's value; "" where nothing does. See Report.excluding.
func (n Note) Excluding() string { return n.by }

// excluding names what local states of a one-of: the field and, where live has another
// value there (the type of a Service), the value, since that excludes the rest.
func (r Report) excluding(by merge.Path) string {
	found := r.Looked().looked
	is, _ := found.result.Lookup(by)
	was, there := found.live.Lookup(by)
	if !there || is == nil || !merge.IsScalar(is) || merge.Equal(was, is, nil) || len(by) == 0 {
		return by.String()
	}
	shown := r.mask(by, sides{local: merge.Some(is)}).local
	return by.String() + ": " + Value(shown.Value)
}
