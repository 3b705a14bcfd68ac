package yamldoc

import (
	"regexp"
	"strings"
)

// inline reads a scalar, an alias or a flow collection in block context; start and
// pr are the properties in front of it.
func (p *parser) inline(parent, start int, pr *prop) (*node, error) {
	p.begin(pr)
	n, err := p.flowValue(parent, false)
	if err != nil || pr == nil {
		return n, err
	}
	return n, p.attach(n, start, pr)
}

// attach gives a node the properties in front of it.
func (p *parser) attach(n *node, start int, pr *prop) error {
	if n.kind == aliasNode {
		return p.fail(start, "an alias cannot have an anchor or a tag")
	}
	n.start, n.prop = start, *pr
	p.name(n)
	return nil
}

// begin marks an anchor as being defined, so that an alias inside its own value is
// found out; name ends that.
func (p *parser) begin(pr *prop) {
	if pr != nil && pr.anchor != "" && pr.serial == 0 {
		p.serial++
		pr.serial = p.serial
		p.open[pr.anchor] = true
	}
}

// name makes a node known under its anchor. Of two with one name the one that
// starts later counts, also where it stands inside the other.
func (p *parser) name(n *node) {
	a := n.anchor
	if a == "" {
		return
	}
	delete(p.open, a)
	if old := p.anchors[a]; old == nil || old.serial < n.serial {
		p.anchors[a] = n
	}
}

// properties reads an anchor and a tag in either order, nil if there are none, and
// the white space behind them.
func (p *parser) properties() (*prop, error) {
	var pr prop
	for {
		switch c := p.peek(0); {
		case c == '&' && pr.anchor == "":
			name, err := p.word()
			if err != nil {
				return nil, err
			}
			pr.anchor = name
		case c == '!' && pr.tag == "":
			start := p.pos
			pr.tag = p.tag()
			if !tagForm.MatchString(pr.tag) || !ends(p.peek(0)) {
				return nil, p.fail(start, "a tag may be !name, !!name or !<name>")
			} else if p.doc.Strange == nil && !ownTag.MatchString(pr.tag) {
				// The tag is not quoted: it may be a password that begins so.
				p.doc.Strange = p.fail(start, "a tag (!…) means nothing to Kubernetes: take it out, or quote the text that begins with !")
			}
		case pr == (prop{}):
			return nil, nil
		default:
			return &pr, nil
		}
		p.blanks()
	}
}

// word reads the name behind & or *.
func (p *parser) word() (string, error) {
	start := p.pos
	p.pos++
	for c := p.peek(0); c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-'; c = p.peek(0) {
		p.pos++
	}
	if p.pos == start+1 && p.src[start] == '*' {
		return "", p.fail(start, `"*" begins an alias: quote the value, as in schedule: "0 * * * *"`)
	}
	if p.pos == start+1 || !ends(p.peek(0)) && strings.IndexByte("?:,]}%@`", p.peek(0)) < 0 {
		return "", p.fail(start, "the name of an anchor is letters, digits, - and _")
	}
	return p.src[start+1 : p.pos], nil
}

var tagForm = regexp.MustCompile(`^!!?[0-9A-Za-z_./-]+$|^!$|^!<[0-9A-Za-z_./:,;#?@&=+$~*()-]+>$`)

// ownTag is a tag of YAML itself.
var ownTag = regexp.MustCompile(`^!$|^!!(str|int|float|bool|null|binary|timestamp|map|seq|set|omap|pairs|merge|value)$`)

// longTag is the prefix that !! stands for.
const longTag = "tag:yaml.org,2002:"

func (p *parser) tag() string {
	start, exact := p.pos, p.peek(1) == '<'
	for c := p.peek(0); !ends(c) && (exact || strings.IndexByte(",[]{}", c) < 0); c = p.peek(0) {
		p.pos++
	}
	t := p.src[start:p.pos]
	if strings.HasPrefix(t, "!<"+longTag) && strings.HasSuffix(t, ">") {
		return "!!" + t[len("!<"+longTag):len(t)-1]
	}
	return t
}

// flowValue reads one scalar, alias or flow collection; a block scalar only outside of one.
func (p *parser) flowValue(parent int, flow bool) (*node, error) {
	if !flow {
		p.around = parent
		if c := p.peek(0); c == '|' || c == '>' {
			return p.block(parent)
		}
	}
	switch p.peek(0) {
	case '[', '{':
		return p.flowCollection()
	case '"', '\'':
		return p.quoted()
	case '*':
		return p.alias()
	}
	if flow && p.peek(0) == '-' && ends(p.peek(1)) {
		return nil, p.fail(p.pos, "a list with dashes cannot stand inside [ ] or { }")
	}
	return p.plain(p.around+1, flow)
}

func (p *parser) alias() (*node, error) {
	start := p.pos
	name, err := p.word()
	if err != nil {
		return nil, err
	}
	target := p.anchors[name]
	switch {
	case p.open[name]:
		return nil, p.fail(start, "the value of this anchor contains itself")
	case target == nil:
		return nil, p.fail(start, "there is no anchor of this name before it; quote a text that begins with *")
	}
	return &node{kind: aliasNode, refs: true, start: start, body: start, end: p.pos, text: name, target: target}, nil
}

// flowNode reads a value with its properties inside a flow collection.
func (p *parser) flowNode(open int) (*node, error) {
	start := p.pos
	pr, err := p.properties()
	if err != nil {
		return nil, err
	}
	p.begin(pr)
	if pr != nil {
		behind := text(p.src).trimmed(start, p.pos)
		if err := p.flowSpace(open); err != nil {
			return nil, err
		}
		if c := p.peek(0); c == ',' || c == ']' || c == '}' {
			n := &node{start: start, body: behind, end: behind, prop: *pr}
			p.name(n)
			return n, nil
		}
	}
	n, err := p.flowValue(-1, true)
	if err != nil || pr == nil {
		return n, err
	}
	return n, p.attach(n, start, pr)
}

// flowSpace steps over white space, line breaks and comments inside a flow
// collection that has been opened there.
func (p *parser) flowSpace(open int) error {
	for {
		p.blanks()
		switch c := p.peek(0); {
		case c == '#':
			p.comment()
		case isBreak(c):
			p.newline()
		case p.pos >= len(p.src) || p.marker():
			return p.fail(open, "a [ or { is not closed; quote a text that begins with one")
		default:
			return nil
		}
	}
}

func (p *parser) flowCollection() (*node, error) {
	if p.depth++; p.depth > MaxDepth {
		return nil, p.fail(p.pos, "nested more than %d deep", MaxDepth)
	}
	defer func() { p.depth-- }()
	n := &node{kind: seqNode, style: flowStyle, start: p.pos, body: p.pos}
	closing, apart := byte(']'), p.readsApart()
	if p.peek(0) == '{' {
		n.kind, closing = mapNode, '}'
	}
	p.pos++
	for {
		if err := p.flowSpace(n.start); err != nil {
			return nil, err
		}
		if p.peek(0) == closing {
			p.pos++
			n.end = p.pos
			return n, nil
		}
		e, err := p.flowEntry(n.kind, n.start)
		if err != nil {
			return nil, err
		}
		if !apart {
			n.entries, n.refs = append(n.entries, e), n.refs || e.refers()
		} else if err := p.handOver(e.value); err != nil {
			return nil, err
		}
		if err := p.flowSpace(n.start); err != nil {
			return nil, err
		}
		switch c := p.peek(0); {
		case c == ',':
			p.pos++
		case c != closing:
			return nil, p.fail(p.pos, "expected a comma or %q, which closes the %c of line %d", string(closing), p.src[n.start], p.lineAt(n.start))
		}
	}
}

// flowEntry reads one entry. A key with its value inside [ ] is a mapping of its own.
func (p *parser) flowEntry(k kind, open int) (entry, error) {
	start, line, asked := p.pos, p.lineStart, p.peek(0) == '?'
	n, err := p.flowKey(open)
	if err != nil {
		return entry{}, err
	}
	end := p.pos
	p.blanks()
	if colon := p.peek(0) == ':'; k == seqNode && !colon && !asked {
		p.pos = end
		return entry{start: n.start, mark: n.start, value: n}, nil
	} else if colon && !asked && p.lineStart != line {
		return entry{}, p.fail(n.start, "a key must stand on one line: is a comma missing before it, or what closes the %c of line %d?", p.src[open], p.lineAt(open))
	}
	if k == mapNode && p.peek(0) != ':' && n.style == plainStyle && strings.Contains(n.text, ":") {
		p.doc.Reread = append(p.doc.Reread, p.fail(n.start, "the key %s has no value: a space has to follow the colon", n.text))
	}
	e, err := p.flowField(n, end, open)
	e.start, e.asked = start, asked
	if err != nil || k == mapNode {
		return e, err
	}
	m := &node{kind: mapNode, style: flowStyle, start: start, body: start, end: e.end(), entries: []entry{e}, refs: e.refers()}
	return entry{start: start, mark: start, value: m}, nil
}

// flowKey reads what may be a key inside a flow collection.
func (p *parser) flowKey(open int) (*node, error) {
	if p.peek(0) != '?' {
		return p.flowNode(open)
	}
	p.pos++
	if err := p.flowSpace(open); err != nil {
		return nil, err
	}
	n, err := p.flowNode(open)
	if err != nil {
		return nil, err
	}
	return n, p.flowSpace(open)
}

// flowField makes an entry of a key that ends there, and of what follows it.
func (p *parser) flowField(key *node, end, open int) (entry, error) {
	if p.peek(0) != ':' {
		p.pos = end
		e, err := p.keyed(key)
		p.pos, e.mark = end, end
		e.value = &node{start: end, body: end, end: end}
		return e, err
	}
	e, err := p.keyed(key)
	if err != nil {
		return e, err
	}
	p.atItems(open, e.name)
	if err := p.flowSpace(open); err != nil {
		return e, err
	}
	if c := p.peek(0); c == ',' || c == '}' || c == ']' {
		e.value = &node{start: e.mark, body: e.mark, end: e.mark}
		return e, nil
	}
	e.value, err = p.flowNode(open)
	return e, err
}
