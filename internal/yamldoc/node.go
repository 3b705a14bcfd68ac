package yamldoc

type kind uint8

const (
	scalarNode kind = iota
	mapNode
	seqNode
	aliasNode
)

type style uint8

const (
	plainStyle   style = iota // also the empty text that stands for null
	singleStyle               // '…'
	doubleStyle               // "…"
	literalStyle              // |
	foldedStyle               // >
	blockStyle                // a collection over several lines
	flowStyle                 // […] or {…}
)

// node is one value as it stands in the text. Offsets are into the file's text.
type node struct {
	kind   kind
	style  style
	refs   bool // it or something below it is an alias or a merge key
	key    bool // it is a key: of a mapping, and of no value
	start  int  // first byte, properties included
	body   int  // first byte behind the properties
	end    int  // behind the last byte; a missing value has start == end
	indent int  // block collections: the column of their keys or dashes
	prop

	target  *node          // aliasNode
	text    string         // scalarNode: its content
	entries []entry        // collections
	names   map[string]int // where a large mapping has its entries
	value   any            // what it stands for
}

// prop is a property that may stand in front of a value.
type prop struct {
	anchor string
	tag    string // with its ! or !!
	serial int    // ordinal of the anchor within the document, from 1
}

type entry struct {
	start int    // of the key or the dash; in flow sequences, of the value
	bound int    // the end of the entry before, 0 for the first
	mark  int    // behind the colon or the dash; in flow, where the value may start
	name  string // the key as JSON has it
	quote byte   // the key's quote, 0 if it is plain
	merge bool   // the key is <<
	asked bool   // the key stands behind a ?
	alias bool   // the key is an alias
	value *node
}

// block reports whether n is a collection over several lines.
func (n *node) block() bool { return n.style == blockStyle }

// missing reports whether nothing at all is written for n.
func (n *node) missing() bool { return n.start == n.end }

// manyNames is where looking through a mapping starts to cost more than an index.
const manyNames = 12

// child finds the entry with that key, nil if there is none.
func (n *node) child(name string) *entry {
	if n == nil || n.kind != mapNode {
		return nil
	}
	if n.names != nil {
		if i, ok := n.names[name]; ok {
			return &n.entries[i]
		}
		return nil
	}
	for i := range n.entries {
		if e := &n.entries[i]; !e.merge && e.name == name {
			return e
		}
	}
	return nil
}

// end is behind the entry's value, or its colon or dash where that is missing.
func (e *entry) end() int { return max(e.mark, e.value.end) }

// refers: the entry's meaning hangs on what stands elsewhere.
func (e *entry) refers() bool { return e.merge || e.alias || e.value.refs }

// follow leads through an alias to what it stands for.
func (n *node) follow() *node {
	for n != nil && n.kind == aliasNode {
		n = n.target
	}
	return n
}
