package source

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// maxDepth is how deep a document may nest; the API server itself stops at this.
const maxDepth = 10_000

// maxUnfolded is what the aliases of a document may add to it: room for every
// template, and no bomb.
const maxUnfolded = 1_000_000

// tooLarge is what is wrong with a document whose aliases come to more.
const tooLarge = "is too large"

// cost is what a text counts against the budget: aliases share it, and what is sent
// does not.
func cost(text string) int { return len(text) / 64 }

// resolver turns the nodes of one document into JSON values.
type resolver struct {
	first  int // line of the file at which the document's text begins
	budget int // keys and values that the document may still hold, aliases spelled out; see cost
	path   merge.Path
	inside map[*yaml.Node]bool // anchors being read, to find those inside themselves
}

func (r *resolver) fail(n *yaml.Node, what, why string) error {
	path := ""
	if len(r.path) > 0 {
		path = r.path.String()
	}
	return &SyntaxError{Line: r.first - 1 + n.Line, Path: path, What: what, Why: why}
}

func (r *resolver) value(n *yaml.Node, depth int) (any, error) {
	if depth > maxDepth {
		return nil, r.fail(n, "is nested too deep", fmt.Sprintf("more than %d levels", maxDepth))
	}
	if err := r.spend(n, 1+cost(n.Value)); err != nil {
		return nil, err
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 0 {
			return nil, nil
		}
		return r.value(n.Content[0], depth)
	case yaml.AliasNode:
		return r.alias(n, depth)
	case yaml.SequenceNode:
		return r.sequence(n, depth)
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		if err := r.mapping(n, m, depth, false); err != nil {
			return nil, err
		}
		return m, nil
	case yaml.ScalarNode:
		return r.scalar(n)
	}
	return nil, nil
}

// spend takes from the budget. A document without aliases never comes to its end.
func (r *resolver) spend(n *yaml.Node, much int) error {
	if r.budget -= much; r.budget < 0 {
		return r.fail(n, tooLarge, "its aliases spell out to far more than its text; write the values out")
	}
	return nil
}

func (r *resolver) alias(n *yaml.Node, depth int) (any, error) {
	if r.inside[n.Alias] {
		return nil, r.fail(n, "alias *"+n.Value, "stands inside the value that it repeats")
	}
	if r.inside == nil {
		r.inside = map[*yaml.Node]bool{}
	}
	r.inside[n.Alias] = true
	v, err := r.value(n.Alias, depth+1)
	delete(r.inside, n.Alias)
	var large *SyntaxError
	if r.budget < 0 && errors.As(err, &large) {
		large.Line = r.first - 1 + n.Line // the alias is to be looked at, not what it repeats
	}
	return v, err
}

func (r *resolver) sequence(n *yaml.Node, depth int) (any, error) {
	list := make([]any, len(n.Content))
	for i, c := range n.Content {
		r.path = append(r.path, merge.Step{Kind: merge.IndexStep, Index: i})
		v, err := r.value(c, depth+1)
		if err != nil {
			return nil, err
		}
		r.path = r.path[:len(r.path)-1]
		list[i] = v
	}
	return list, nil
}

// mapping reads n into m. Merge keys (<<) come in last and never over a key that
// is there.
func (r *resolver) mapping(n *yaml.Node, m map[string]any, depth int, merged bool) error {
	seen := make(map[string]int, len(n.Content)/2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.Tag == "!!merge" {
			merges = append(merges, v)
			continue
		}
		key, err := r.key(k)
		if err != nil {
			return err
		}
		if err := r.spend(k, 1+cost(key)); err != nil {
			return err
		}
		r.path = append(r.path, merge.Named(key))
		if line, twice := seen[key]; twice {
			return r.fail(k, fmt.Sprintf("key %q is given twice", key), fmt.Sprintf("first at line %d; keep one of them", r.first-1+line))
		}
		seen[key] = k.Line
		if _, there := m[key]; !there || !merged {
			if m[key], err = r.value(v, depth+1); err != nil {
				return err
			}
		}
		r.path = r.path[:len(r.path)-1]
	}
	for _, v := range merges {
		if err := r.mergeKey(v, m, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (r *resolver) mergeKey(v *yaml.Node, m map[string]any, depth int) error {
	if depth > maxDepth {
		return r.fail(v, "is nested too deep", fmt.Sprintf("more than %d levels", maxDepth))
	}
	if err := r.spend(v, 1); err != nil {
		return err
	}
	target := v
	if v.Kind == yaml.AliasNode {
		if target = v.Alias; r.inside[target] {
			return r.fail(v, "alias *"+v.Value, "stands inside the value that it repeats")
		}
		if r.inside == nil {
			r.inside = map[*yaml.Node]bool{}
		}
		r.inside[target] = true
		defer delete(r.inside, target)
	}
	switch target.Kind {
	case yaml.MappingNode:
		return r.mapping(target, m, depth, true)
	case yaml.SequenceNode:
		for _, c := range target.Content {
			if err := r.mergeKey(c, m, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return r.fail(v, "<<", "merges mappings only")
}

// key is a mapping's key as text; kubectl spells booleans and numbers out.
func (r *resolver) key(n *yaml.Node) (string, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		return "", r.fail(n, "a key", "must be a single value")
	}
	v, err := r.scalar(n)
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case json.Number:
		return v.String(), nil
	}
	return "", r.fail(n, "a key", "must not be null; quote it if null is its name")
}

func (r *resolver) scalar(n *yaml.Node) (any, error) {
	tag := n.ShortTag()
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 && n.Style&yaml.TaggedStyle == 0 {
		return n.Value, nil
	}
	if n.Style&yaml.TaggedStyle == 0 {
		return r.plain(n)
	}
	switch tag {
	case "!!str", "!!timestamp":
		return n.Value, nil
	case "!!binary":
		raw, err := base64.StdEncoding.DecodeString(n.Value)
		if err != nil {
			return nil, r.fail(n, "!!binary", "is not base64")
		}
		return string(raw), nil
	case "!!null", "!!bool", "!!int", "!!float":
		v, err := r.plain(n)
		if err == nil && tagOf(v) != tag && !(tag == "!!float" && tagOf(v) == "!!int") {
			err = r.fail(n, tag, "does not fit the value")
		}
		return v, err
	}
	if !strings.HasPrefix(tag, "!!") {
		return n.Value, nil
	}
	return nil, r.fail(n, tag, "is a tag that JSON has nothing for")
}

func tagOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "!!null"
	case bool:
		return "!!bool"
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return "!!float"
		}
		return "!!int"
	}
	return "!!str"
}

// words are the plain scalars that YAML 1.1 gives a meaning.
var words = map[string]any{
	"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil,
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true,
	"true": true, "True": true, "TRUE": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false,
	"false": false, "False": false, "FALSE": false, "off": false, "Off": false, "OFF": false,
}

// plain resolves an unquoted scalar by the rules of YAML 1.1 as kubectl's library
// has them: underscores in numbers, 0777, 0x1F and 0b11 are integers, dates stay
// strings.
func (r *resolver) plain(n *yaml.Node) (any, error) {
	s := n.Value
	if v, ok := words[s]; ok {
		return v, nil
	}
	if s == "" || !strings.ContainsRune("+-.0123456789", rune(s[0])) {
		return s, nil
	}
	if notFinite.MatchString(s) {
		return nil, r.fail(n, "is no number", "JSON knows neither infinity nor NaN; quote it if it is a string")
	}
	plain := s
	if s[0] != '.' {
		plain = strings.ReplaceAll(s, "_", "")
	}
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil && s[0] != '.' {
		return json.Number(strconv.FormatInt(i, 10)), nil
	}
	if u, err := strconv.ParseUint(plain, 0, 64); err == nil && s[0] != '.' {
		return r.exact(n, strconv.FormatUint(u, 10))
	}
	if floatText.MatchString(plain) {
		return r.exact(n, plain)
	}
	return s, nil
}

// items are the lines of a list's entries, or of a list object's items, nil for
// anything else.
func (r *resolver) items(n *yaml.Node) []int {
	root := top(n)
	list := root
	for i := 0; root.Kind == yaml.MappingNode && i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "items" {
			list = root.Content[i+1]
			break
		}
	}
	if list.Kind != yaml.SequenceNode {
		return nil
	}
	lines := make([]int, len(list.Content))
	for j, c := range list.Content {
		lines[j] = r.first - 1 + c.Line
	}
	return lines
}
