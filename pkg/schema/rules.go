package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Rules are exceptions as data: who wins at a path, and how a list is split. The
// user's (--rules) and the built-in ones are written in one language, a YAML list:
//
//	# the autoscaler sets replicas
//	- path: spec.replicas
//	  kind: Deployment
//	  namespace: prod-*
//	  winner: live
//	# an operator's list that its CRD calls atomic
//	- path: spec.template.endpoints
//	  kind: Widget
//	  apiGroup: example.com
//	  list: keyed
//	  keys: [name, port]
//	# only where the object has another field
//	- path: rules
//	  kind: ClusterRole
//	  winner: live
//	  when: {has: aggregationRule}
//	# a field whose values are as secret as a Secret's
//	- path: spec.template.data
//	  kind: ExternalSecret
//	  sensitive: true
//	# short for path and winner, on every object
//	- .spec.template.spec.containers[*].resources: live
//
// winner is local, live, original or conflict; list is set, keyed or atomic. A
// path is written as everywhere, with * for any run of characters in a name or
// value and [*] for any entry. A rule holds for its path and all below it; of
// several, the outermost counts, then the first. kind, apiGroup, name and
// namespace take * too, and what is left out fits every object.
type Rules []Rule

// Rule is one of them.
type Rule struct {
	Path merge.Path // * in it stands for any run of characters

	Kind, Name, Namespace string  // patterns; "" fits all
	APIGroup              *string // nil fits all, "" is the core group

	Has merge.Path // the object has a value there; nil asks for nothing

	Winner string // one of winners, or ""
	List   string // one of splits, or ""
	Keys   []string

	Sensitive bool // the values are hidden in what is reported, as a Secret's are

	Line int    // where it is written
	text string // the path as it is written
}

// winners and splits are the words of the language.
var (
	winners = map[string]merge.Choice{
		"local": merge.TakeLocal, "live": merge.TakeLive,
		"original": merge.TakeOriginal, "conflict": merge.LeaveConflict,
	}
	splits = map[string]merge.Kind{"set": merge.Set, "keyed": merge.Keyed, "atomic": merge.List}
)

// ParseRules reads rules from YAML: a list of them, or a list under the key
// rules. Errors name the line, all of them at once; a text without rules gives
// none.
func ParseRules(text []byte) (Rules, error) {
	var p ruleParser
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc yaml.Node
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
		for _, n := range doc.Content {
			p.document(n)
		}
	}
	if len(p.errs) > 0 {
		return nil, errors.Join(p.errs...)
	}
	return p.rules, nil
}

// ruleParser collects rules and everything that is wrong.
type ruleParser struct {
	rules Rules
	errs  []error
}

func (p *ruleParser) wrong(n *yaml.Node, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("line %d: "+format, append([]any{n.Line}, args...)...))
}

func (p *ruleParser) document(n *yaml.Node) {
	n = resolved(n)
	if n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[0].Value == "rules" {
		n = resolved(n.Content[1])
	}
	switch {
	case n.Kind == yaml.SequenceNode:
		for _, e := range n.Content {
			p.rule(resolved(e))
		}
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
	default:
		p.wrong(n, "expected a list of rules, each beginning with \"- path:\"")
	}
}

// ruleKeys are the keys of a rule and what reads their values.
var ruleKeys = map[string]func(*ruleParser, *Rule, *yaml.Node){
	"path":      func(p *ruleParser, r *Rule, n *yaml.Node) { r.Path, r.text = p.path(n), n.Value },
	"kind":      func(p *ruleParser, r *Rule, n *yaml.Node) { r.Kind = p.word(n) },
	"name":      func(p *ruleParser, r *Rule, n *yaml.Node) { r.Name = p.word(n) },
	"namespace": func(p *ruleParser, r *Rule, n *yaml.Node) { r.Namespace = p.word(n) },
	"apiGroup":  func(p *ruleParser, r *Rule, n *yaml.Node) { w := p.text(n); r.APIGroup = &w },
	"winner":    func(p *ruleParser, r *Rule, n *yaml.Node) { r.Winner = oneWord(p, n, "winner", winners) },
	"list":      func(p *ruleParser, r *Rule, n *yaml.Node) { r.List = oneWord(p, n, "list", splits) },
	"keys":      (*ruleParser).keys,
	"sensitive": (*ruleParser).sensitive,
	"when":      (*ruleParser).when,
}

func (p *ruleParser) rule(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		p.wrong(n, "expected a rule, such as \"path: spec.replicas\" and \"winner: live\"")
		return
	}
	r := Rule{Line: n.Line}
	before := len(p.errs)
	p.fields(n, ruleKeyNames(), func(key, value *yaml.Node) bool {
		if read, ok := ruleKeys[key.Value]; ok {
			read(p, &r, value)
			return true
		}
		if len(n.Content) != 2 || winnerUnknown(value) {
			return false
		}
		r.Path, r.text, r.Winner = p.path(key), key.Value, value.Value // the short form
		return true
	})
	if len(p.errs) == before {
		p.check(n, r)
	}
	if len(p.errs) == before {
		p.rules = append(p.rules, r)
	}
}

func winnerUnknown(n *yaml.Node) bool {
	_, ok := winners[n.Value]
	return !ok || n.Kind != yaml.ScalarNode
}

// check refuses rules that say nothing or contradict themselves.
func (p *ruleParser) check(n *yaml.Node, r Rule) {
	switch {
	case r.Path == nil:
		p.wrong(n, "the rule has no path")
	case r.Sensitive && len(r.Path) == 0:
		p.wrong(n, "sensitive: true needs the path of a field")
	case r.Winner == "" && r.List == "" && !r.Sensitive:
		p.wrong(n, "the rule says nothing: it needs winner (%s), list (%s) or sensitive: true", words(winners), words(splits))
	case r.List == "keyed" && len(r.Keys) == 0:
		p.wrong(n, "list: keyed needs keys, such as keys: [name]")
	case r.List != "keyed" && len(r.Keys) > 0:
		p.wrong(n, "keys say how entries are told apart: that is list: keyed")
	case r.List != "" && len(r.Has) > 0:
		p.wrong(n, "when decides who wins, not how a list is split")
	case r.List != "" && slices.ContainsFunc(r.Path, func(s merge.Step) bool { return s.Kind != merge.FieldStep }):
		p.wrong(n, "a list is split alike in every entry: write [*] in the path")
	}
}

// fields walks a mapping's keys, refusing repeated and unknown ones.
func (p *ruleParser) fields(n *yaml.Node, known []string, read func(key, value *yaml.Node) bool) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], resolved(n.Content[i+1])
		switch {
		case seen[key.Value]:
			p.wrong(key, "%q is there twice", key.Value)
		case !read(key, value):
			if near := nearest(key.Value, known); near != "" {
				p.wrong(key, "unknown key %q: did you mean %s?", key.Value, near)
			} else {
				p.wrong(key, "unknown key %q: a rule has %s", key.Value, strings.Join(known, ", "))
			}
		}
		seen[key.Value] = true
	}
}

func (p *ruleParser) path(n *yaml.Node) merge.Path {
	path, err := merge.ParsePath(p.word(n))
	if err != nil && n.Kind == yaml.ScalarNode && n.Value != "" {
		p.wrong(n, "%w", err)
	}
	return path
}

func (p *ruleParser) text(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		p.wrong(n, "expected a word")
		return ""
	}
	return n.Value
}

func (p *ruleParser) word(n *yaml.Node) string {
	before := len(p.errs)
	w := p.text(n)
	if w == "" && len(p.errs) == before {
		p.wrong(n, "is empty: leave it out, or write *")
	}
	return w
}

func oneWord[V any](p *ruleParser, n *yaml.Node, key string, allowed map[string]V) string {
	w := p.text(n)
	if _, ok := allowed[w]; !ok && w != "" {
		p.wrong(n, "%s: %q is none of %s", key, w, words(allowed))
	}
	return w
}

func (p *ruleParser) keys(r *Rule, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		p.wrong(n, "keys: expected a list of field names, such as [name, port]")
		return
	}
	for _, e := range n.Content {
		r.Keys = append(r.Keys, p.word(resolved(e)))
	}
}

func (p *ruleParser) sensitive(r *Rule, n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || n.Value != "true" {
		p.wrong(n, "sensitive: there is only true; leave the rule out for fields that are not")
	}
	r.Sensitive = true
}

func (p *ruleParser) when(r *Rule, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		p.wrong(n, "when: expected a condition, such as {has: aggregationRule}")
		return
	}
	p.fields(n, []string{"has"}, func(key, value *yaml.Node) bool {
		if key.Value == "has" {
			r.Has = p.path(value)
		}
		return key.Value == "has"
	})
}

func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func words[V any](m map[string]V) string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func ruleKeyNames() []string {
	return []string{"path", "kind", "apiGroup", "name", "namespace", "winner", "list", "keys", "sensitive", "when"}
}
