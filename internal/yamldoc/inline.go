package yamldoc

import (
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// inline writes a scalar or a flow collection as it stands behind a colon or
// dash, without the white space before it. An origin's own spelling is taken where
// it reads as the same value.
func (m model) inline(v any, pl place, l look) string {
	switch {
	case !merge.IsScalar(v):
		return m.flow(v, pl, l)
	case l.kubectl:
		return pl.encoded(v, l)
	}
	style, settled := pl.style, false
	if isText(v) && style >= literalStyle {
		style = plainStyle
	}
	for _, o := range m.from {
		n := o.n.follow()
		if n == nil || n.kind != scalarNode {
			continue
		}
		if s, ok := o.verbatim(n, v, pl, l); ok && (!settled || n.style == style) {
			return s
		}
		if !settled && (isText(n.value) || n.style != plainStyle) {
			style = n.style
		}
		settled = true
	}
	pl.style = style
	return pl.spell(v, l)
}

// blockIndent is the column that the lines of a block scalar get.
func (pl place) blockIndent(l look) int {
	if pl.deep > 0 {
		return pl.deep
	}
	pl.col = max(pl.col, 0)
	return pl.below(l.step)
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}

// verbatim is the scalar as the origin spells it, if that reads as v and can stand
// where it is to go.
func (o origin) verbatim(n *node, v any, pl place, l look) (string, bool) {
	if n.tag != "" || n.missing() || !same(n.value, v) {
		return "", false
	}
	switch block := n.style == literalStyle || n.style == foldedStyle; {
	case block && !pl.flow:
		return o.blockText(n, pl, l)
	case block, pl.json && (n.style == singleStyle || n.style == plainStyle && isText(v)),
		pl.flow && n.style == plainStyle && strings.ContainsAny(n.text, ",?[]{}"):
		return "", false
	}
	s := string(o.s[n.body:n.end])
	return s, !strings.Contains(s, "\n")
}

// blockText moves a block scalar to another indentation. One that states its
// indentation is spelled anew.
func (o origin) blockText(n *node, pl place, l look) (string, bool) {
	lines := strings.Split(string(o.s[n.body:n.end]), "\n")
	header := strings.Fields(lines[0])[0]
	ended := strings.HasSuffix(header, "-") || strings.HasSuffix(n.text, "\n") // not so at the end of a file
	if strings.ContainsAny(header, "123456789") || len(lines) == 1 || !ended || l.careful && strings.HasSuffix(header, "+") {
		return "", false
	}
	own := o.s.deep(n)
	var b strings.Builder
	b.WriteString(header)
	for _, line := range lines[1:] {
		b.WriteString(l.eol)
		if line = strings.TrimRight(line, "\r"); len(line) > own {
			b.WriteString(strings.Repeat(" ", pl.blockIndent(l)))
			b.WriteString(line[own:])
		}
	}
	return b.String(), own > 0
}

// flow is the origin's own text for a flow collection on one line that reads as v and
// has nothing in it that means something else elsewhere.
func (o origins) flow(v any, pl place) (string, bool) {
	for _, from := range o {
		n := from.n.follow()
		if n == nil || n.style != flowStyle {
			continue
		}
		s := string(from.s[n.body:n.end])
		bare := n.kind == mapNode && s[0] != '{' // a key and its value inside [ ]
		return s, !bare && !n.refs && !strings.ContainsAny(s, "\n&!") && exact(n.value, v) && (!pl.json || isJSON(n))
	}
	return "", false
}

// isJSON reports by a flow collection's first entry whether it is written as JSON.
func isJSON(n *node) bool {
	return n != nil && n.style == flowStyle && len(n.entries) > 0 && n.kind == mapNode && n.entries[0].quote == '"'
}

// flow writes a collection on one line.
func (m model) flow(v any, pl place, l look) string {
	if s, ok := m.from.flow(v, pl); ok {
		return s
	}
	parts := m.parts(v, pl.keys, l)
	n, ends, inner := m.from.node(mapNode), "{}", place{col: pl.col, deep: pl.deep, json: pl.json, flow: true}
	if _, isList := v.([]any); isList {
		n, ends, inner.list, inner.keys = m.from.node(seqNode), "[]", true, keysOf(m.t)
	}
	if n != nil {
		inner.json = pl.json || isJSON(n)
		inner.quote, inner.style = n.entries[0].quote, n.entries[0].value.style
	}
	texts := make([]string, len(parts))
	for i, e := range parts {
		texts[i] = e.flowEntry(inner, l)
	}
	return ends[:1] + strings.Join(texts, ", ") + ends[1:]
}

// flowEntry writes one entry of a collection on one line.
func (e part) flowEntry(pl place, l look) string {
	if pl.list {
		return e.inline(e.value, pl, l)
	}
	quote := pl.quote
	if pl.json {
		quote = '"'
	}
	pl.style, pl.quote, pl.keys = plainStyle, 0, nil
	return key(e.name, quote, true) + ": " + e.inline(e.value, pl, l)
}
