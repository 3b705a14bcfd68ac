package yamldoc

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// maxUnfolded bounds what aliases may add to all documents together, beyond twice the
// size of each: room for every template, and no bomb. A key or a value counts one, and
// more if it is a long text.
const maxUnfolded = 1_000_000

// longText is how many bytes of text count as much as one value.
const longText = 64

// atItems notes whether the value of a key is read next whose entries are handed over: in is where the
// mapping begins.
func (p *parser) atItems(in int, key string) {
	p.apart = p.reader.Item != nil && in == p.top && key == "items"
}

// readsApart reports whether the entries of what begins here are handed over: of a list to which no alias can
// refer, and which needs no value around it.
func (p *parser) readsApart() bool {
	apart := p.apart && p.peek(0) != '{' && len(p.open)+len(p.anchors) == 0
	p.apart = false
	return apart
}

// handOver gives an entry away; see Reader.
func (p *parser) handOver(n *node) error {
	v, err := p.valueOf(n)
	if err != nil {
		return err
	}
	p.seen = [2]int{n.start, p.seen[1] + strings.Count(p.src[p.seen[0]:n.start], "\n")}
	return p.reader.Item(v, p.line+p.seen[1])
}

// valueOf makes the JSON value of a node, of which each part is shared by all who refer to it. What it would come to
// if it were not is bounded.
func (p *parser) valueOf(root *node) (any, error) {
	p.own, p.taken = 0, 0
	size, err := p.unfold(root)
	if err == nil && size > 2*p.own {
		if p.reader.unfolded += size - 2*p.own; p.reader.unfolded > maxUnfolded {
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
func (p *parser) unfold(n *node) (size int, err error) {
	size = 1 + (n.end-n.start)/longText
	if n.kind != scalarNode {
		size = 1
	}
	p.own += size
	switch n.kind {
	case scalarNode:
		n.value, err = p.scalarValue(n)
	case aliasNode:
		n.value, size = n.target.value, p.sizes[n.target]
	case seqNode:
		size, err = p.unfoldList(n)
	case mapNode:
		size, err = p.unfoldMapping(n)
	}
	if err != nil {
		return 0, err
	}
	if size > maxUnfolded*100 { // long before an int could overflow
		return 0, p.tooLarge(n)
	}
	if n.anchor != "" {
		p.sizes[n] = size
	}
	return size, nil
}

func (p *parser) unfoldList(n *node) (int, error) {
	list := make([]any, len(n.entries))
	total := 1
	for i := range n.entries {
		size, err := p.unfold(n.entries[i].value)
		if err != nil {
			return 0, err
		}
		total += size
		list[i] = n.entries[i].value.value
	}
	n.value = list
	return total, nil
}

func (p *parser) unfoldMapping(n *node) (int, error) {
	m := make(map[string]any, len(n.entries))
	n.value = m
	total, merged := 1, false
	if len(n.entries) > manyNames {
		n.names = make(map[string]int, len(n.entries))
	}
	for i := range n.entries {
		e := &n.entries[i]
		size, err := p.unfold(e.value)
		if err != nil {
			return 0, err
		}
		total += size + len(e.name)/longText
		p.own += len(e.name) / longText
		if e.merge {
			merged = true
			if err := p.merge(m, e.value, 0); err != nil {
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
				return 0, p.fail(e.start, "key %q is given twice: first on line %d; %s", e.name, p.lineAt(first.start), way)
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
func (p *parser) merge(m map[string]any, n *node, depth int) error {
	target := n.follow()
	switch {
	case target.kind == mapNode:
		from := target.value.(map[string]any)
		if p.taken += len(from); p.taken+p.reader.unfolded > maxUnfolded+len(p.src) {
			return p.tooLarge(n)
		}
		maps.Copy(m, from)
		return nil
	case target.kind == seqNode && target == n && depth == 0:
		for i := len(n.entries) - 1; i >= 0; i-- {
			if err := p.merge(m, n.entries[i].value, 1); err != nil {
				return err
			}
		}
		return nil
	}
	return p.fail(n.start, "<< needs a mapping or a list of mappings")
}

// words are the plain scalars that YAML 1.1 reads as something else than text.
var words = map[string]any{
	"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil,
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"true": true, "True": true, "TRUE": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
	"false": false, "False": false, "FALSE": false,
	".nan": math.NaN(), ".NaN": math.NaN(), ".NAN": math.NaN(),
	".inf": math.Inf(1), ".Inf": math.Inf(1), ".INF": math.Inf(1), "+.inf": math.Inf(1), "+.Inf": math.Inf(1), "+.INF": math.Inf(1),
	"-.inf": math.Inf(-1), "-.Inf": math.Inf(-1), "-.INF": math.Inf(-1),
}

var floatForm = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// resolve returns what a plain scalar is: nil, bool, json.Number or string. Infinity
// and not-a-number have no JSON and give math.Inf and math.NaN.
//
// Source: go-yaml v2's resolve, which is how kubectl reads.
func resolve(s string) any {
	hint := byte(0)
	if s != "" {
		hint = s[0]
	}
	if hint == 0 || strings.IndexByte("yYnNtTfFoO~.+-", hint) >= 0 {
		if v, ok := words[s]; ok {
			return v
		}
	}
	switch {
	case hint >= '0' && hint <= '9', hint == '+', hint == '-':
		return number(s)
	case hint == '.':
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return floatText(s, f)
		}
	}
	return s
}

// number reads what starts like a number; a date does too, and is text.
func number(s string) any {
	plain := strings.ReplaceAll(s, "_", "")
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return json.Number(strconv.FormatInt(i, 10))
	}
	if u, err := strconv.ParseUint(plain, 0, 64); err == nil {
		return json.Number(strconv.FormatUint(u, 10))
	}
	if floatForm.MatchString(plain) {
		if f, err := strconv.ParseFloat(plain, 64); err == nil {
			return floatText(plain, f)
		}
	}
	return s
}

// floatText keeps the digits of a number as they are written, and turns what JSON does
// not allow (+1.5, .5, 5., 010.5) into a JSON number of the same value. f is what it
// comes to: a zero has no sign, which kubectl's reader loses too.
func floatText(s string, f float64) json.Number {
	s = strings.TrimPrefix(s, "+")
	digits := strings.TrimPrefix(s, "-")
	sign := s[:len(s)-len(digits)]
	if f == 0 {
		sign = ""
	}
	mantissa, exponent := digits, ""
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		mantissa, exponent = digits[:i], digits[i:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return json.Number(sign + whole + fraction + exponent)
}

// scalarValue returns the value of a scalar node.
func (p *parser) scalarValue(n *node) (any, error) {
	var v any = n.text
	switch tag := n.tag; {
	case tag == "" && n.style == plainStyle:
		v = resolve(n.text)
		if _, isText := v.(string); isText && p.json {
			if _, err := strconv.ParseFloat(n.text, 64); errors.Is(err, strconv.ErrRange) {
				return nil, p.fail(n.start, "is out of the API's range; quote it if it is a string")
			}
		}
	case tag == "!!binary":
		data, err := base64.StdEncoding.DecodeString(n.text)
		if err != nil {
			return nil, p.fail(n.start, "!!binary: is not base64")
		}
		v = string([]rune(string(data))) // what is no UTF-8 cannot be in JSON, and becomes U+FFFD
	case tag == "!!int" || tag == "!!float" || tag == "!!bool" || tag == "!!null":
		if v = resolve(n.text); tagOf(v) != tag && !(tag == "!!float" && tagOf(v) == "!!int") {
			return nil, p.fail(n.start, "%s: does not fit the value", tag)
		}
	}
	if _, ok := v.(float64); ok {
		return nil, p.fail(n.start, "is no number: JSON knows neither infinity nor NaN; quote it if it is a string")
	}
	return v, nil
}

func tagOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "!!null"
	case bool:
		return "!!bool"
	case float64:
		return "!!float"
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return "!!float"
		}
		return "!!int"
	}
	return "!!str"
}

// writtenWhole: a number is an integer as it is written, and not a fraction that
// comes to one, as 01008000 is, which has a digit that is not octal.
func writtenWhole(s string) bool {
	_, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 0, 64)
	return err == nil
}

// keyName is the text that a key has in JSON.
func (p *parser) keyName(key *node) (name string, merge bool, err error) {
	plain := key.tag == "" && key.style == plainStyle || key.tag == "!"
	if plain && key.text == "<<" || key.tag == "!!merge" {
		return "<<", true, nil
	}
	v, err := p.scalarValue(key)
	if err != nil {
		return "", false, err
	}
	key.value = v // an alias may refer to it
	switch v := v.(type) {
	case string:
		return v, false, nil
	case bool:
		return strconv.FormatBool(v), false, nil
	case json.Number:
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil && key.tag != "!!float" && writtenWhole(key.text) {
			return strconv.FormatInt(i, 10), false, nil
		}
		if f, err := v.Float64(); err == nil {
			// Source: sigs.k8s.io/yaml, which prints a key that is a number so.
			name := strconv.FormatFloat(f, 'g', -1, 32)
			return strings.NewReplacer("+Inf", ".inf", "-Inf", "-.inf").Replace(name), false, nil
		}
	}
	return "", false, p.fail(key.start, "a key cannot be null; quote it")
}
