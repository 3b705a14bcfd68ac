package yamldoc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Items are the entries of the list in a field of the document's mapping, each as a
// document of its own, with the comments directly above it, and those of near above empty lines (without their #), and without
// the indentation of the list; nil where the field is no list. Their lines are those of the text they stand in. The error is an *Error about an
// entry that cannot be read alone, for example because of an alias to what stands outside it.
func (d *Document) Items(field string, near map[string]int) ([]*Document, error) {
	list := d.list(field)
	if list == nil {
		return nil, nil
	}
	src := text(d.file.src)
	items := make([]*Document, len(list.entries))
	for i := range list.entries {
		e := &list.entries[i]
		above := src.above(list, e, near)
		body := above + undented(string(src[e.value.start:src.itemEnd(list, e)]), src.inset(e.value))
		line := d.file.lineAt(e.value.start)
		f, err := new(Reader).Parse(body, line-strings.Count(above, "\n"))
		if err == nil && (len(f.docs) != 1 || !exact(f.docs[0].value, e.value.value)) {
			err = &Error{Line: line, Problem: fmt.Sprintf("entry %d of %s cannot be read without what stands around it", i+1, field), at: e.value.start}
		}
		if err != nil {
			return nil, err
		}
		items[i] = f.docs[0]
	}
	return items, nil
}

// list is the list in a field, nil where there is none.
func (d *Document) list(field string) *node {
	e := d.root.follow().child(field)
	if e == nil {
		return nil
	}
	if n := e.value.follow(); n != nil && n.kind == seqNode {
		return n
	}
	return nil
}

// Item is an entry that a list is to have.
type Item struct {
	Was  int    // the entry that it takes the place of, -1 for a new one
	Doc  []byte // its text, as of a document of its own
	Mark []byte // its text with conflict markers; nil where it has none
}

// WithItems gives the document's text with other entries in a field that is a list: plain
// is its text with Doc of each item, marked with Mark where there is one; nil where the list is in flow style, in which
// markers have no lines of their own. Items that are not new keep their order. The error is a Doc that is not YAML, or a
// list that the text cannot hold.
func (d *Document) WithItems(field string, items []Item) (marked, plain []byte, err error) {
	if plain, err = d.withItems(field, items, false); err != nil {
		return nil, nil, err
	}
	if !slices.ContainsFunc(items, func(i Item) bool { return i.Mark != nil }) {
		return plain, plain, nil
	}
	if n := d.list(field); !n.block() {
		return nil, plain, nil
	}
	marked, err = d.withItems(field, items, true)
	return marked, plain, err
}

func (d *Document) withItems(field string, items []Item, marked bool) ([]byte, error) {
	if !marked { // what exists only between markers
		items = slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return i.Mark != nil && len(i.Doc) == 0 })
	}
	listed, err := d.withEntries(field, items)
	if err != nil {
		return nil, err
	}
	n := listed.list(field)
	if n == nil && len(items) > 0 {
		return nil, fmt.Errorf("the list %s cannot be found again", field)
	}
	src := text(listed.file.src)
	var out strings.Builder
	at := listed.from
	for i, item := range items {
		e := &n.entries[i]
		body, from := item.Doc, e.value.start
		if marked && item.Mark != nil {
			body = item.Mark
		}
		if body == nil || !n.holds(body) {
			continue
		}
		dash := ""
		if n.block() {
			from, dash = src.lineStart(src.head(e)), string(src[src.lineStart(e.start):e.value.start])
		}
		out.WriteString(string(src[at:from]))
		out.WriteString(dented(string(listed.file.withItsLineEnds(body)), dash, src.inset(e.value)))
		at = src.itemEnd(n, e)
	}
	out.WriteString(string(src[at:listed.to]))
	return []byte(out.String()), nil
}

// withEntries is the document with the values of the items: what is removed is gone, and
// what is new has its place.
func (d *Document) withEntries(field string, items []Item) (*Document, error) {
	n := d.list(field)
	old, _ := n.value.([]any)
	list, same := make([]any, len(items)), len(old) == len(items)
	for i, item := range items {
		if item.Was >= 0 && n.holds(item.Doc) {
			list[i], same = old[item.Was], same && item.Was == i
			continue
		}
		same = false
		text := item.Doc
		if len(text) == 0 {
			text = []byte("null")
		}
		f, err := Parse(text)
		if err != nil {
			return nil, err
		}
		list[i] = f.docs[0].value
	}
	if same {
		return d, nil
	}
	f, err := d.Edited(Edit{Want: merge.With(d.value.(map[string]any), list, field)})
	if err != nil {
		return nil, err
	}
	return f.docs[0], nil
}

// holds reports whether a list can have a text for an entry as it is: a flow list has no blocks.
func (n *node) holds(entry []byte) bool {
	if n.block() || entry == nil {
		return true
	}
	f, err := Parse(entry)
	return err != nil || f.docs[0].root == nil || !f.docs[0].root.block()
}

// inset is how far the lines of a value are indented that are not its first: a block's to
// where it starts, a flow collection's as the line that it starts on.
func (s text) inset(n *node) int {
	if n.style == flowStyle {
		at := s.lineStart(n.start)
		return len(s[at:]) - len(strings.TrimLeft(string(s[at:]), " "))
	}
	return n.start - s.lineStart(n.start)
}

// itemEnd is behind an entry of a list, and behind the comments that belong to it.
func (s text) itemEnd(list *node, e *entry) int {
	if list.block() {
		return s.end(e)
	}
	return e.value.end
}

// above are the comments directly above an entry of a list, and those of near above empty lines, without its indentation.
func (s text) above(list *node, e *entry, near map[string]int) string {
	if !list.block() {
		return ""
	}
	var out strings.Builder
	to := s.lineStart(e.start)
	from, indent := s.lineStart(s.head(e)), string(s[to:e.start])+"#"
	for at := from; at > e.bound; {
		line := string(s[s.lineStart(at-1):at])
		at -= len(line)
		if comment, is := strings.CutPrefix(line, indent); is && at >= e.bound && near[strings.TrimRight(comment, " \t\r\n")] > 0 {
			from = at
		} else if strings.TrimSpace(line) != "" {
			break
		}
	}
	for line := range strings.Lines(string(s[from:to])) {
		out.WriteString(strings.TrimLeft(line, " "))
	}
	return out.String()
}

// undented is a text whose lines, but for the first, have so many blanks less.
func undented(body string, by int) string {
	lines := strings.SplitAfter(body, "\n")
	for i, line := range lines[1:] {
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		lines[i+1] = line[min(by, blanks):]
	}
	return strings.Join(lines, "") + "\n"
}

// dented is the text as it stands in a list: comments, and what begins with the dash of its line; by is
// how far its other lines are indented. Conflict markers start their lines; where nothing stands before
// them, every side begins with the dash.
func dented(body, dash string, by int) string {
	lines := strings.SplitAfter(strings.TrimRight(body, "\r\n"), "\n")
	first, open, ours := true, true, true
	for i, line := range lines {
		switch {
		case isMarker(line):
			switch line[0] {
			case '<':
				open = first
			case '=':
				ours, first = first, open
			case '>':
				first = first && ours
			}
		case strings.TrimRight(line, "\r\n") == "":
		case first && line[0] == '#':
			lines[i] = dash[:len(dash)-len(strings.TrimLeft(dash, " "))] + line
		case first:
			lines[i], first = dash+line, false
		default:
			lines[i] = strings.Repeat(" ", by) + line
		}
	}
	return strings.Join(lines, "")
}

// isMarker: a text begins with a conflict marker.
func isMarker(body string) bool {
	return slices.ContainsFunc([]string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"}, func(m string) bool { return strings.HasPrefix(body, m) })
}

// list edits a list that has entries and keeps some.
func (ed *editor) list(s slot, want []any, t *merge.Type, from origins) {
	n := s.n
	old, _ := n.value.([]any)
	at := pairs(old, want, t)
	where := slices.Repeat([]int{-1}, len(old)) // the place in want of each old entry, -1 if it is removed
	kept, moved, stays := 0, false, longest(at)
	for i, j := range at {
		if j >= 0 {
			where[j] = i
			kept++
			moved = moved || !stays[i]
		}
	}
	if kept == 0 || n.style == flowStyle && moved {
		ed.rewrite(s, want, t, from)
		return
	}
	r := relist{want: want, at: at, where: where, stays: stays, sources: from.items(want, t), chunks: map[int]string{}}
	stay := ed.keptItems(s, t, r)
	ed.arrange(s, stay, ed.newItems(s, t, r))
}

// relist is how a list becomes another.
type relist struct {
	want    []any             // the new list
	at      []int             // the place in the old list of each entry of the new one, -1 if it has none
	where   []int             // the place in the new list of each old entry, -1 if it is removed
	stays   []bool            // the entries of the new list that are where they were
	chunks  map[int]string    // its entries that move, as they will read
	sources func(int) origins // where the sources have its entries
}

// keptItems edits the entries that are kept, and returns which stay in their place.
func (ed *editor) keptItems(s slot, t *merge.Type, r relist) []bool {
	n, pl := s.n, below(s)
	stay := make([]bool, len(n.entries))
	for j := range n.entries {
		i := r.where[j]
		if i < 0 {
			continue
		}
		e := &n.entries[j]
		before := len(ed.edits)
		below := r.sources(i)
		ed.editValue(slot{n: e.value, e: e, place: pl, anew: ed.force[n] == entries}, r.want[i], t.EntryType(), below)
		if stay[j] = r.stays[i]; stay[j] {
			if len(ed.edits) > before {
				ed.noteAround(e, below, pl)
			}
			continue
		}
		r.chunks[i] = ed.apply(ed.head(n, j), ed.src.end(e), ed.edits[before:])
		ed.edits = ed.edits[:before]
	}
	return stay
}

// newItems writes the entries that the list does not have, or has elsewhere.
func (ed *editor) newItems(s slot, t *merge.Type, r relist) []added {
	var out []added
	behind := -1
	for i, v := range r.want {
		if r.stays[i] {
			behind = r.at[i]
			continue
		}
		text, moved := r.chunks[i]
		if !moved {
			text = ed.newEntry(s, part{"", v, model{r.sources(i), t.EntryType()}}, behind, keysOf(t))
		}
		out = append(out, added{behind, text})
	}
	return out
}
