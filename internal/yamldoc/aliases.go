package yamldoc

import "github.com/kubectl-merge/kubectl-merge/pkg/merge"

// unshare records that a value, which may use anchors, is written out.
func (ed *editor) unshare(n *node) {
	if ed.unshared != nil || !n.refs {
		return
	}
	if n.kind == aliasNode {
		ed.unshared = &AliasError{Anchor: n.target.anchor(), Line: ed.doc.file.lineAt(n.start)}
		return
	}
	for i := range n.entries {
		ed.unshare(n.entries[i].value)
	}
}

// Anchors are the names of the anchors at and around the value at a path, and of those whose
// value it is through an alias: a change of the value concerns all who use them.
func (d *Document) Anchors(p merge.Path) []string {
	var names []string
	n := d.root
	for i := 0; n != nil; i++ {
		for name := n.anchor(); ; name = n.anchor() {
			if name != "" {
				names = append(names, name)
			}
			if n.kind != aliasNode {
				break
			}
			n = n.target
		}
		if i == len(p) {
			break
		}
		for k := range n.entries {
			if e := &n.entries[k]; e.merge && e.value.kind == aliasNode {
				names = append(names, e.value.target.anchor())
			}
		}
		e, _ := find(n, p[i], nil)
		if e == nil {
			break
		}
		n = e.value
	}
	return names
}
