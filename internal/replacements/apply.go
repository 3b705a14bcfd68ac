// Package replacements copies fields from one object into others, as kustomize's
// replacements do, by kustomize's own filter. It refuses what kustomize
// accepts silently: unknown keys, and a mapping or list put into a scalar. It reads
// no cluster: a function given by the caller finds sources that are not among the
// objects.
package replacements

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/api/filters/replacement"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Selector names the object of a source. Empty fields match everything.
type Selector struct {
	Group, Version, Kind, Namespace, Name string
}

// String returns the selector as messages show it.
func (s Selector) String() string {
	if s == (Selector{Version: s.Version}) {
		return "an empty selector"
	}
	out := cmp.Or(strings.ToLower(s.Kind), "*")
	if s.Group != "" {
		out += "." + s.Group
	}
	if s.Name != "" {
		out += "/" + s.Name
	}
	if s.Namespace != "" {
		out += " in " + s.Namespace
	}
	return out
}

// Find returns the objects that a source selects elsewhere, such as in a cluster; finding none is
// not an error.
type Find func(Selector) ([]any, error)

// Apply makes the replacements, one after the other, in objects in the JSON forms of package merge,
// and in those of Lists. It returns the resulting objects in order. find, which may be nil, is called
// for sources that are not among the objects. idle names the targets that match no object. Errors name
// the replacement, and contain no value that may be secret.
//
// Rules: https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/replacements/ and kustomize's replacement filter.
func (r Rules) Apply(objects []any, find Find) (out []any, idle []string, err error) {
	var all []any
	inLists(objects, func(o any) any { all = append(all, o); return o })
	if all, idle, err = r.made(all, find); err != nil {
		return nil, nil, err
	}
	at := -1
	return inLists(objects, func(any) any { at++; return all[at] }), idle, nil
}

// inLists returns the objects with what of makes of each, and of each item of a List.
func inLists(objects []any, of func(any) any) []any {
	return object.Each(objects, func(o any) any {
		if items, is := (object.Object{Value: merge.At[map[string]any](o)}).Items(); is {
			return merge.With(o.(map[string]any), inLists(items, of), "items")
		}
		return of(o)
	})
}

// made makes the replacements in objects that are no Lists; unchanged ones are the very same values.
func (r Rules) made(objects []any, find Find) (out []any, idle []string, err error) {
	var nodes []*kyaml.RNode
	var at []int // their places in objects
	var before []string
	for i, o := range objects {
		if o == nil { // an empty document
			continue
		}
		n, text, err := toNode(o)
		if err != nil {
			return nil, nil, err
		}
		nodes, at, before = append(nodes, n), append(at, i), append(before, text)
	}
	var spent growth
	for _, rule := range r {
		without, err := rule.apply(nodes, find, &spent)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", rule.where, err)
		}
		for _, target := range without {
			idle = append(idle, rule.where+": "+target)
		}
	}
	out = append(out, objects...)
	for i, n := range nodes {
		quoteKeys(n.YNode())
		text, err := n.String()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: the object with its replacements cannot be written as YAML", nameOf(n))
		}
		if text == before[i] {
			continue
		}
		if out[at[i]], err = fromText(text); err != nil {
			err = fmt.Errorf("%s: a replacement put a text where only a number or boolean can stand; quote the target", nameOf(n))
		} else {
			out[at[i]], err = typed(objects[at[i]], out[at[i]], nameOf(n))
		}
		if err != nil {
			last := len(r) - 1
			_, _, earlier := r[:last].made(objects, find)
			return nil, nil, cmp.Or(earlier, fmt.Errorf("%s: %w", r[last].where, err))
		}
	}
	return out, idle, nil
}

func toNode(v any) (*kyaml.RNode, string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, "", fmt.Errorf("replacements: an object is not JSON: %w", err)
	}
	n, err := kyaml.Parse(escaped(string(text)))
	if err != nil {
		return nil, "", errors.New("replacements: kustomize cannot read an object")
	}
	s, err := n.String()
	return n, s, err
}

// escaped returns JSON with escapes for characters that JSON may contain literally and YAML may
// not, or treats as line breaks. It is not escape.JSON, which writes surrogate pairs: YAML has
// none.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// quoteKeys quotes the keys that kustomize has created, like all others: a plain n or yes is not
// text in YAML 1.1.
func quoteKeys(n *kyaml.Node) {
	for i, c := range n.Content {
		if n.Kind == kyaml.MappingNode && i%2 == 0 {
			c.Style = kyaml.DoubleQuotedStyle
		}
		quoteKeys(c)
	}
}

func fromText(text string) (any, error) {
	f, err := yamldoc.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	return f.Documents()[0].Value(), nil
}

// apply makes one replacement, and returns the targets that match nothing.
func (r rule) apply(nodes []*kyaml.RNode, find Find, spent *growth) (idle []string, err error) {
	value := kyaml.NewScalarRNode(*cmp.Or(r.SourceValue, new(string)))
	all, one := nodes, copied(r.Replacement)
	if r.SourceValue == nil {
		var extra bool
		if r.from, extra, err = r.sourceNode(nodes, find); err != nil {
			return nil, err
		}
		if value, err = r.sourceValue(r.from); err != nil {
			return nil, err
		}
		if extra {
			all = append(nodes[:len(nodes):len(nodes)], r.from)
			one = onlySource(one, r.from)
		}
	}
	var targets []*kyaml.RNode
	for _, t := range r.Targets {
		got, matched, err := r.target(nodes, t, value, spent)
		if err != nil {
			return nil, err
		}
		if !matched {
			idle = append(idle, "targets: select: "+selected(t.Select)+" matches no object"+meant(t.Select.Kind, t.Select.Name, nodes))
		}
		targets = append(targets, got...)
	}
	if _, err := (replacement.Filter{Replacements: []types.Replacement{one}}).Filter(all); err != nil {
		return nil, withoutValues(err)
	}
	for _, n := range targets {
		settle(n.YNode(), value.YNode())
	}
	return idle, nil
}

// copied returns a replacement that the filter may write its defaults into.
func copied(r types.Replacement) types.Replacement {
	if r.Source != nil {
		s := *r.Source
		r.Source = &s
	}
	targets := make([]*types.TargetSelector, len(r.Targets))
	for i, t := range r.Targets {
		c := *t
		targets[i] = &c
	}
	r.Targets = targets
	return r
}

// onlySource makes an object from elsewhere a source and never a target.
func onlySource(r types.Replacement, source *kyaml.RNode) types.Replacement {
	id := idOf(source)
	r.Source.ResId = id
	// Selectors are regular expressions: this one matches nothing else.
	gvk := resid.Gvk{Group: regexp.QuoteMeta(id.Group), Version: regexp.QuoteMeta(id.Version), Kind: regexp.QuoteMeta(id.Kind)}
	own := resid.NewResIdWithNamespace(gvk, regexp.QuoteMeta(id.Name), regexp.QuoteMeta(id.Namespace))
	for _, t := range r.Targets {
		not := &types.Selector{ResId: own}
		t.Reject = append(t.Reject[:len(t.Reject):len(t.Reject)], not)
	}
	return r
}

// withoutValues returns an error of the filter without the values that kustomize quotes.
func withoutValues(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	for _, quoting := range []string{": value:", " for value "} {
		text, _, _ = strings.Cut(text, quoting)
	}
	return errors.New(text)
}

// settle gives fields that the filter has created the type of the source, and the keys of entries that of a text: the
// filter leaves them unquoted, so that the text "8080" would be read as a number.
//
// Unlike kustomize: which leaves it so.
func settle(n, value *kyaml.Node) {
	if n.Kind == kyaml.ScalarNode && n.Tag == "" && value.Kind == kyaml.ScalarNode {
		if n.Tag = kyaml.NodeTagString; n.Value == value.Value {
			n.Tag, n.Style = cmp.Or(value.Tag, n.Tag), value.Style
		}
	}
	for i, c := range n.Content {
		if n.Kind != kyaml.MappingNode || i%2 == 1 { // keys stay text
			settle(c, value)
		}
	}
}
