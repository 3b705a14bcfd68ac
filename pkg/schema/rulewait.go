package schema

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Wanted is the value by which a rule considers an object ready.
type Wanted struct {
	Path  merge.Path // nil where the rule has none
	Value string     // as it is printed
}

// Waits returns what the rules state about waiting for an object: whether to skip it, and
// the value that makes it ready. Of several, the first counts.
func (rs Rules) Waits(o Object) (skip bool, wanted Wanted) {
	for _, r := range rs {
		if (r.NoWait || r.Ready.Path != nil) && r.holds(o) {
			return r.NoWait, r.Ready
		}
	}
	return false, Wanted{}
}

// waits reports whether the rule is only about waiting.
func (r Rule) waits() bool { return r.NoWait || r.Ready.Path != nil }

func (p *ruleParser) wait(r *Rule, n yamldoc.Node) {
	if text, _ := n.Scalar(); text != "false" {
		p.wrong(n.Line(), "wait: there is only false; leave the rule out for objects to be waited for")
	}
	r.NoWait = true
}

// filter matches a JSONPath filter that names the entry of a list by one of its fields.
var filter = regexp.MustCompile(`\[\?\(\s*@\.([\w.-]+)\s*==\s*["']([^"']*)["']\s*\)\]`)

// ready reads JSONPATH=VALUE as kubectl wait --for=jsonpath does, where the path leads to
// one value; the path may also be written as everywhere else.
func (p *ruleParser) ready(r *Rule, n yamldoc.Node) {
	text := p.scalarText(n)
	at := equals(text)
	if at < 0 {
		p.wrong(n.Line(), "ready: expected a JSONPath and the value that is to be there, such as .status.phase=Running")
		return
	}
	path := strings.TrimSpace(text[:at])
	if inner, ok := strings.CutPrefix(path, "{"); ok {
		path = strings.TrimSuffix(inner, "}")
	}
	found, err := merge.ParsePath(filter.ReplaceAllString(path, `[$1="$2"]`))
	if err != nil || len(found) == 0 || slices.ContainsFunc(found, func(s merge.Step) bool { return s.Name == "*" }) {
		p.wrong(n.Line(), "ready: %q is no path to one value: fields, [0] and [?(@.type==\"Ready\")] are understood", path)
		return
	}
	r.Ready = Wanted{Path: found, Value: strings.Trim(text[at+1:], `"'`)}
}

// equals returns where the path of JSONPATH=VALUE ends: at the first = outside brackets; -1
// where there is none.
func equals(text string) int {
	depth := 0
	for i, c := range text {
		switch c {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth--
		case '=':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}
