package source

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// At is the place of a field of the object, as errors name it: web.yaml: line 7. The
// file is read again for it, so this is for what ends a run; where that cannot be
// done (standard input, a URL), or the field is not there, it is the object's place.
func (o Object) At(p merge.Path) string {
	at := o.Origin
	if line := o.line(p); line > 0 {
		return fmt.Sprintf("%s: line %d", at.File, line)
	}
	return at.String()
}

func (o Object) line(p merge.Path) int {
	data, err := ReadFile(o.Origin.File)
	if err != nil {
		return 0
	}
	chunks, err := split(data)
	if err != nil {
		return 0
	}
	for _, c := range chunks {
		if c.nth != o.Origin.Document {
			continue
		}
		for d := yaml.NewDecoder(bytes.NewReader(c.text)); ; {
			var n yaml.Node
			if d.Decode(&n) != nil {
				break
			}
			if root := beginning(top(&n), o.Origin.Line-c.line+1); root != nil {
				return c.line - 1 + lineOf(root, p)
			}
		}
	}
	return 0
}

// beginning is the outermost mapping that begins at the line: the object, or an item
// of a list; nil where there is none.
func beginning(n *yaml.Node, line int) *yaml.Node {
	if n.Kind == yaml.MappingNode && n.Line == line {
		return n
	}
	for _, c := range n.Content {
		if found := beginning(c, line); found != nil {
			return found
		}
	}
	return nil
}

// lineOf is the line of the field, or of what there is on the way to it.
func lineOf(n *yaml.Node, p merge.Path) int {
	line := n.Line
	for _, s := range p {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		var next *yaml.Node
		switch {
		case n.Kind == yaml.MappingNode && s.Kind == merge.FieldStep:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == s.Name {
					line, next = n.Content[i].Line, n.Content[i+1]
				}
			}
		case n.Kind == yaml.SequenceNode:
			if next = entryNode(n, s); next != nil {
				line = next.Line
			}
		}
		if next == nil {
			return line
		}
		n = next
	}
	return line
}

// entryNode is the entry of a list that a step leads to.
func entryNode(list *yaml.Node, s merge.Step) *yaml.Node {
	nth := max(s.Nth, 1)
	for i, e := range list.Content {
		switch {
		case s.Kind == merge.IndexStep && s.Index != i, s.Kind == merge.FieldStep:
			continue
		case s.Kind == merge.ValueStep && e.Value != fmt.Sprint(s.Value), s.Kind == merge.KeyStep && !hasKeys(e, s.Keys):
			continue
		}
		if nth--; nth == 0 {
			return e
		}
	}
	return nil
}

func hasKeys(entry *yaml.Node, keys []merge.KeyPart) bool {
	for _, k := range keys {
		found := k.Default
		for i := 0; i+1 < len(entry.Content); i += 2 {
			if entry.Content[i].Value == k.Name {
				found = entry.Content[i+1].Value == fmt.Sprint(k.Value)
			}
		}
		if !found {
			return false
		}
	}
	return true
}
