package yamldoc

import (
	"maps"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// maxUnfolded bounds what aliases may add to all documents together, beyond twice the
// size of each: room for every template, and no bomb. A key or a value counts one, and
// more if it is a long text.
const maxUnfolded = 1_000_000

// longText is how many bytes of text count as much as one value.
const longText = 64

// unfolder makes JSON values of nodes, each shared by all who refer to it, and
// counts what they would come to if they were not.
type unfolder struct {
	*parser
	sizes map[*node]int // of anchored nodes
	own   int
	taken int // entries taken in by merge keys
}

func (p *parser) valueOf(root *node) (any, error) {
	u := unfolder{parser: p, sizes: map[*node]int{}}
	size, err := u.unfold(root)
	if err == nil && size > 2*u.own {
		if *p.unfolded += size - 2*u.own; *p.unfolded > maxUnfolded {
			err = p.tooLarge(root)
		}
	}
	if e, ok := err.(*Error); ok {
		e.Path = pathTo(root, e.at)
	}
	return root.value, err
}

// pathTo leads to the smallest value around an offset.
func pathTo(n *node, at int) merge.Path {
	path := merge.Path{}
	for n != nil {
		var below *node
		for i := range n.entries {
			if e := &n.entries[i]; e.start <= at && at <= e.end() {
				step := merge.Named(e.name)
				if n.kind == seqNode {
					step = merge.Step{Kind: merge.IndexStep, Index: i}
				}
				path, below = append(path, step), e.value
				break
			}
		}
		n = below
	}
	return path
}

func (p *parser) tooLarge(n *node) error {
	return &Error{
		Line: p.lineAt(n.start), at: n.start, Large: true,
		Problem: "is too large: aliases spell out to far more than the text; write the values out",
	}
}

// unfold sets n.value and gives the number of values it comes to.
func (u *unfolder) unfold(n *node) (size int, err error) {
	size = 1 + (n.end-n.start)/longText
	if n.kind != scalarNode {
		size = 1
	}
	u.own += size
	switch n.kind {
	case scalarNode:
		n.value, err = u.scalarValue(n)
	case aliasNode:
		n.value, size = n.target.value, u.sizes[n.target]
	case seqNode:
		size, err = u.sequence(n)
	case mapNode:
		size, err = u.mapping(n)
	}
	if err != nil {
		return 0, err
	}
	if size > maxUnfolded*100 { // long before an int could overflow
		return 0, u.tooLarge(n)
	}
	if n.anchor() != "" {
		u.sizes[n] = size
	}
	return size, nil
}

func (u *unfolder) sequence(n *node) (int, error) {
	list := make([]any, len(n.entries))
	total := 1
	for i := range n.entries {
		size, err := u.unfold(n.entries[i].value)
		if err != nil {
			return 0, err
		}
		total += size
		list[i] = n.entries[i].value.value
	}
	n.value = list
	return total, nil
}

func (u *unfolder) mapping(n *node) (int, error) {
	m := make(map[string]any, len(n.entries))
	n.value = m
	total, merged := 1, false
	if len(n.entries) > manyNames {
		n.names = make(map[string]int, len(n.entries))
	}
	for i := range n.entries {
		e := &n.entries[i]
		size, err := u.unfold(e.value)
		if err != nil {
			return 0, err
		}
		total += size + len(e.name)/longText
		u.own += len(e.name) / longText
		if e.merge {
			merged = true
			if err := u.merge(m, e.value, 0); err != nil {
				return 0, err
			}
			continue
		}
		if _, ok := m[e.name]; ok {
			if first := n.child(e.name); first != nil && first != e || !merged {
				way := "keep one of them"
				if e.quote == 0 && (e.name == "true" || e.name == "false") {
					way = "without quotes y, yes and on are true, n, no and off false: quote what is meant as text"
				}
				return 0, u.fail(e.start, "key %q is given twice: first on line %d; %s", e.name, u.lineAt(first.start), way)
			}
		}
		if n.names != nil {
			n.names[e.name] = i
		}
		m[e.name] = e.value.value
	}
	return total, nil
}

// merge takes in what << refers to. What is in m already is overwritten, as
// kubectl's reader does; among several, the first wins.
func (u *unfolder) merge(m map[string]any, n *node, depth int) error {
	target := n.follow()
	switch {
	case target.kind == mapNode:
		from := target.value.(map[string]any)
		if u.taken += len(from); u.taken+*u.unfolded > maxUnfolded+len(u.src) {
			return u.tooLarge(n)
		}
		maps.Copy(m, from)
		return nil
	case target.kind == seqNode && target == n && depth == 0:
		for i := len(n.entries) - 1; i >= 0; i-- {
			if err := u.merge(m, n.entries[i].value, 1); err != nil {
				return err
			}
		}
		return nil
	}
	return u.fail(n.start, "<< needs a mapping or a list of mappings")
}
