package yamldoc

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Edit is a wanted content of a document.
type Edit struct {
	// Want is the value wanted, in the JSON forms of package merge.
	Want any

	// Type defines how the entries of lists are paired; nil pairs them by value.
	Type *merge.Type

	// Sources are where new values come from: their order, spelling and comments are
	// taken over, the first one's that has them.
	Sources []*Document

	// Comments: a value that is not new takes over the comment on its line of the first
	// source, where it has none of its own. New ones bring theirs in any case.
	Comments bool

	// Aliases: values that share a text stay shared. If Want does not allow it, the edit fails
	// with an *AliasError.
	Aliases bool
}

// AliasError is an edit after which an anchor's value would no longer be that of all who use it.
type AliasError struct {
	Anchor string
	Line   int // of a use, from 1
}

// Error is the anchor, and the line of the use.
func (e *AliasError) Error() string {
	return fmt.Sprintf("line %d: uses the anchor &%s, whose value would be another one there", e.Line, e.Anchor)
}

// origins are the sources' contents.
func (e Edit) origins() (o origins) {
	for _, d := range e.Sources {
		if d != nil && d.root != nil {
			o = append(o, origin{s: text(d.file.src), n: d.root})
		}
	}
	return o
}

// maxTries bounds how often a text is read again to find the smallest block that has
// to be written anew, before the fields at the top are.
const maxTries = 12

// Edit gives the document's text with its value made e.Want, and every byte that
// does not have to change kept. The text it gives back has been read again and
// reads as what was wanted; where small edits do not come out so, the smallest block
// around them is written anew. Where Want is what the document holds already, the
// text is the same. An empty document gets all of Want. The error is a Want that
// YAML cannot express, such as one with a NaN.
func (d *Document) Edit(e Edit) ([]byte, error) {
	if d.root != nil && exact(d.value, e.Want) {
		return d.Text(), nil
	}
	f, err := d.edited(e)
	if err != nil {
		return nil, err
	}
	return f.Text(), nil
}

// Edited is Edit, and what the text reads as: a file of one document. Errors are Edit's.
func (d *Document) Edited(e Edit) (*File, error) {
	if d.root != nil && exact(d.value, e.Want) {
		return Parse(d.Text())
	}
	return d.edited(e)
}

func (d *Document) edited(e Edit) (*File, error) {
	src := text(d.file.src)
	force, tries := map[*node]rank{}, 0
	for {
		ed := &editor{src: src, doc: d, force: force, comments: e.Comments, look: d.look(e.Sources)}
		ed.look.careful = len(force) > 0
		ed.run(e.Want, e.Type, e.origins())
		if e.Aliases && ed.unshared != nil {
			return nil, ed.unshared
		}
		out := ed.apply(d.from, d.to, ed.edits)
		f, again := ed.read(out, e.Want)
		if again != nil && ed.doc.to == len(ed.src) { // perhaps a literal at the end of a file that has no last line break
			f, _ = ed.read(out+ed.look.eol, e.Want)
		}
		if f != nil {
			return f, nil
		}
		if d.root == nil || force[d.root] == whole {
			return nil, fmt.Errorf("the value cannot be written as YAML: %v", again.why)
		}
		if tries++; tries > maxTries {
			force[d.root]++
			continue
		}
		force[ed.enclosing(again)]++
	}
}

// exact reports whether two values are equal, numbers by what they come to. Unlike
// for a merge, null is not absence.
func exact(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, exact)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, exact)
	}
	return same(a, b)
}

// same reports cheaply whether two values are one: the same memory, or equal
// scalars. false leaves collections open.
func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && (reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() || len(a) == 0 && len(b) == 0)
	case []any:
		b, ok := b.([]any)
		return ok && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
	case json.Number:
		_, ok := b.(json.Number)
		return ok && merge.Equal(a, b, nil)
	}
	return merge.IsScalar(b) && a == b
}

// change replaces a range of the text.
type change struct {
	from, to int
	text     string
}

// rank is how much of a block is written anew.
type rank uint8

const (
	piecemeal rank = iota // only what has changed
	entries               // every entry that has changed
	whole                 // all of it
)

// editor collects the changes of one attempt.
type editor struct {
	src      text
	doc      *Document
	edits    []change
	look     look
	comments bool
	force    map[*node]rank // what is to be written anew
	holds    map[*node]any  // what anchored nodes will hold, as far as got
	unshared *AliasError    // a use of an anchor that has to be written out
}

func (ed *editor) replace(from, to int, s string) {
	ed.edits = append(ed.edits, change{from, to, s})
}

// apply gives a range of the text with edits made, which must lie inside it.
func (ed *editor) apply(from, to int, edits []change) string {
	sort.SliceStable(edits, func(i, j int) bool {
		a, b := edits[i], edits[j]
		return a.from < b.from || a.from == b.from && a.to == a.from && b.to > b.from
	})
	var b strings.Builder
	at := from
	for _, e := range edits {
		if e.from > at {
			b.WriteString(string(ed.src[at:e.from]))
			at = e.from
		}
		b.WriteString(e.text)
		at = max(at, e.to)
	}
	if at < to {
		b.WriteString(string(ed.src[at:to]))
	}
	return b.String()
}

// wrong is an attempt that did not come out: where in the old text, if known.
type wrong struct {
	at   int
	node *node
	why  error
}

var errOther = errors.New("the text would read as another value")

// read reads the new text; nil, and what is wrong, if it does not read as what was wanted.
func (ed *editor) read(out string, want any) (*File, *wrong) {
	f, err := Parse([]byte(out))
	if err != nil {
		w := &wrong{at: ed.doc.from, why: err}
		if e, ok := errors.AsType[*Error](err); ok {
			w.at = ed.oldOffset(out, e.Line)
		}
		return nil, w
	}
	if len(f.docs) > 1 {
		return nil, &wrong{at: ed.doc.from, node: ed.doc.root, why: errOther}
	}
	got := f.docs[0].value
	if exact(got, want) {
		return f, nil
	}
	return nil, &wrong{node: differing(ed.doc.root, got, want), at: ed.doc.from, why: errOther}
}

// oldOffset maps a line of the new text to an offset of the old.
func (ed *editor) oldOffset(out string, line int) int {
	at := 0
	for ; line > 1 && at < len(out); line-- {
		at = text(out).lineNext(at)
	}
	old, written := ed.doc.from, 0
	for _, e := range ed.edits {
		if gap := e.from - old; gap > 0 {
			if written+gap > at {
				return old + at - written
			}
			written += gap
			old = e.from
		}
		written += len(e.text)
		if written > at {
			return e.from
		}
		old = max(old, e.to)
	}
	return min(old+max(at-written, 0), ed.doc.to)
}

// differing descends to the smallest mapping in which two values differ.
func differing(n *node, got, want any) *node {
	for n != nil && n.kind == mapNode {
		gm, ok1 := got.(map[string]any)
		wm, ok2 := want.(map[string]any)
		if !ok1 || !ok2 || len(gm) != len(wm) {
			return n
		}
		var below *node
		for i := range n.entries {
			e := &n.entries[i]
			g, w := gm[e.name], wm[e.name]
			if e.merge || exact(g, w) {
				continue
			}
			if below != nil || e.value.kind == scalarNode || e.value.kind == aliasNode {
				return n
			}
			below, got, want = e.value, g, w
		}
		if below == nil {
			return n
		}
		n = below
	}
	return n
}

// enclosing is the smallest block to write anew for what went wrong, one that has
// not been yet.
func (ed *editor) enclosing(w *wrong) *node {
	var chain []*node
	for n := ed.doc.root; n != nil && n.kind != scalarNode && n.kind != aliasNode; {
		chain = append(chain, n)
		var below *node
		for i := range n.entries {
			v := n.entries[i].value
			if w.node != nil && v.start <= w.node.start && w.node.end <= v.end || w.node == nil && v.start <= w.at && w.at <= v.end {
				below = v
			}
		}
		if n == w.node {
			break
		}
		n = below
	}
	for i := len(chain) - 1; i > 0; i-- {
		if !ed.settled(chain[:i+1]) {
			return chain[i]
		}
	}
	return ed.doc.root
}

// settled reports whether a node, or one around it, is written anew already.
func (ed *editor) settled(chain []*node) bool {
	for i, n := range chain {
		if r := ed.force[n]; r == whole || r == entries && i < len(chain)-1 {
			return true
		}
	}
	return false
}
