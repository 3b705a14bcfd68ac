package schema

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// readRule reads a rule for what the server fills in, as facts.yaml explains it:
// PATH VALUE [if CONDITION…].
func readRule(text string) merge.Default {
	words := strings.Fields(text)
	d := merge.Default{Path: segments(words[0])}
	readValue(&d, words[1])
	for _, w := range words[2:] {
		switch w {
		case "if":
		case "admission":
			d.Admission = true
		default:
			d.If = append(d.If, readCondition(w))
		}
	}
	return d
}

func readValue(d *merge.Default, text string) {
	d.Remove, d.Stays, d.Refused = text == "-", text == "~", text == "X"
	if d.Moot = text == "x" || d.Refused; d.Remove || d.Stays || d.Moot {
		return
	}
	text, d.Always = strings.CutPrefix(text, "=")
	rest, more := strings.CutPrefix(text, "+")
	rest, d.Lower = strings.CutPrefix(rest, "lower")
	from, isPath := strings.CutPrefix(rest, "@")
	if !isPath {
		d.Value, d.Append = readDefault(rest), more
		return
	}
	d.Each = more
	from, suffix, ok := strings.Cut(from, "+")
	if d.From = segments(from); ok {
		d.Value = suffix
	}
}

func readCondition(text string) merge.Condition {
	if path, ok := strings.CutPrefix(text, "!"); ok {
		return merge.Condition{Kind: merge.IfUnset, Path: segments(path)}
	}
	for prefix, kind := range map[string]merge.ConditionKind{"latest:": merge.IfLatest, "alone:": merge.IfAlone, "none:": merge.IfNone} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			path, more, _ := strings.Cut(rest, ":")
			return merge.Condition{Kind: kind, Path: segments(path), Text: more}
		}
	}
	if path, value, ok := strings.Cut(text, "!="); ok {
		return merge.Condition{Kind: merge.IfNot, Path: segments(path), Text: value}
	}
	if path, value, ok := strings.Cut(text, "="); ok {
		return merge.Condition{Kind: merge.IfIs, Path: segments(path), Text: value}
	}
	return merge.Condition{Kind: merge.IfSet, Path: segments(text)}
}

// readFixed reads what can no longer be changed: PATH [grows] [shrinks] [except PATH…]
// [was CONDITION…] [if CONDITION…].
func readFixed(text string) merge.Fixed {
	words := strings.Fields(text)
	f := merge.Fixed{Path: segments(words[0])}
	mode := ""
	for _, w := range words[1:] {
		switch {
		case w == "grows":
			f.Grows = true
		case w == "shrinks":
			f.Shrinks = true
		case w == "except", w == "was", w == "if":
			mode = w
		case mode == "except":
			f.Except = append(f.Except, segments(w))
		case mode == "was":
			f.Was = append(f.Was, readCondition(w))
		default:
			f.If = append(f.If, readCondition(w))
		}
	}
	return f
}

// segments splits a path at "/"; "~1" stands for one inside a name (RFC 6901).
func segments(path string) []string {
	names := strings.Split(path, "/")
	for i, n := range names {
		names[i] = strings.ReplaceAll(n, "~1", "/")
	}
	return names
}

// Wanted is the value by which a rule considers an object ready.
type Wanted struct {
	Path  merge.Path // nil where the rule has none
	Value string     // as it is printed
}

// Waits returns what the rules state about waiting for an object: whether to skip it, and
// the value that makes it ready. Of several, the first counts.
func (rs Rules) Waits(o Object) (skip bool, wanted Wanted) {
	for _, r := range rs {
		if r.waits() && r.holds(o) {
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

// Sensitive returns the fields of an object that rules call sensitive; nil where none does.
func (rs Rules) Sensitive(o Object) redact.Fields {
	var paths []merge.Path
	for _, r := range rs.For(o) {
		if r.Sensitive {
			paths = append(paths, r.Path)
		}
	}
	return below(paths)
}

// SensitiveText returns the rules that call fields sensitive, as text that ParseRules reads; ""
// where none does. Their condition (has) is left out: the fields are hidden in every object.
func (rs Rules) SensitiveText() string {
	var b strings.Builder
	for _, r := range rs {
		if !r.Sensitive {
			continue
		}
		text, err := json.Marshal(struct {
			Path      string  `json:"path"`
			Kind      string  `json:"kind,omitempty"`
			APIGroup  *string `json:"apiGroup,omitempty"`
			Namespace string  `json:"namespace,omitempty"`
			Name      string  `json:"name,omitempty"`
			Sensitive bool    `json:"sensitive"`
		}{r.text, r.Kind, r.APIGroup, r.Namespace, r.Name, true})
		if err == nil { // it holds only text
			b.WriteString("- " + string(text) + "\n")
		}
	}
	return b.String()
}

// below returns what a step leads to in the paths.
func below(paths []merge.Path) redact.Fields {
	if len(paths) == 0 {
		return nil
	}
	return func(s merge.Step) (whole bool, rest redact.Fields) {
		var left []merge.Path
		for _, p := range paths {
			switch {
			case !stepFits(p[0], s):
			case len(p) == 1:
				whole = true
			default:
				left = append(left, p[1:])
			}
		}
		return whole, below(left)
	}
}
