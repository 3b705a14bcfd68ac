package yamldoc

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// spell writes a scalar, keeping the style where the value allows it. The text may
// hold several lines (block scalars), each indented as it must be.
func (pl place) spell(v any, l look) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return string(v)
	case string:
		return pl.spellText(v, l)
	}
	return "null"
}

func (pl place) spellText(s string, l look) string {
	style := pl.style
	if pl.json {
		style = doubleStyle
	}
	switch style {
	case doubleStyle:
		return double(s)
	case singleStyle:
		if printable(s, "") {
			return single(s)
		}
	case plainStyle:
		if plainFits(s, pl.flow) {
			return s
		}
	}
	folded := style == foldedStyle && foldedFits(s)
	if l.careful && strings.HasSuffix(s, "\n\n") {
		return double(s)
	}
	if !pl.flow && (folded || literalFits(s) && (style >= literalStyle || strings.Contains(s, "\n"))) {
		return pl.block(s, folded, l)
	}
	return double(s)
}

// block writes a literal, or a folded scalar with each paragraph on one line.
func (pl place) block(s string, folded bool, l look) string {
	var b strings.Builder
	b.WriteByte('|')
	if folded {
		b.Reset()
		b.WriteByte('>')
	}
	base, indent := max(pl.col, 0), pl.blockIndent(l)
	if c := s[0]; c == ' ' || c == '\n' || c == '\t' {
		indent = min(indent, base+9)
		b.WriteString(strconv.Itoa(indent - base))
	}
	lines := strings.Split(s, "\n")
	switch last := len(lines) - 1; {
	case lines[last] != "":
		b.WriteByte('-')
	case last > 1 && lines[last-1] == "" || last == 1 && lines[0] == "":
		b.WriteByte('+')
		lines = lines[:last]
	default:
		lines = lines[:last]
	}
	for i, line := range lines {
		if folded && i > 0 && line != "" && lines[i-1] != "" {
			b.WriteString(l.eol)
		}
		b.WriteString(l.eol)
		if line != "" {
			b.WriteString(strings.Repeat(" ", indent))
			b.WriteString(line)
		}
	}
	return b.String()
}

// odd are texts that some YAML reader takes for something else, though kubectl's
// does not: dates, numbers to base 60, octal with 0o, infinity, the = tag.
var odd = regexp.MustCompile(`^([0-9]{4}-[0-9]|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$|[-+]?\.(inf|Inf|INF)$|\.(nan|NaN|NAN)$|[-+.]?[0-9][0-9_.]*$|[-+]?0[xob]|=$|<<$)`)

// plainFits reports whether a text can stand without quotes and still be this text
// to every reader.
func plainFits(s string, flow bool) bool {
	return plainForm(s, flow) && printable(s, "") && isText(resolve(s)) && !odd.MatchString(s)
}

// plainForm reports whether a text of one line can stand without quotes, as far as it is not
// taken for something else.
func plainForm(s string, flow bool) bool {
	if s == "" || s[0] == ' ' || s[len(s)-1] == ' ' || s[len(s)-1] == ':' {
		return false
	}
	p := parser{src: s}
	switch {
	case !p.startsPlain(flow), len(s) == 1 && strings.Contains("-?:", s), flow && strings.ContainsAny(s, ",?[]{}"):
		return false
	}
	return !strings.Contains(s, ": ") && !strings.Contains(s, " #") && !strings.HasPrefix(s, "---") && !strings.HasPrefix(s, "...")
}

// printable reports whether a text needs no escapes; also lists characters that may
// stand in it besides.
func printable(s, also string) bool {
	for i, r := range s {
		switch {
		case r < ' ' || r == 0x7f:
			if !strings.ContainsRune(also, r) {
				return false
			}
		case r < 0x7f:
		case r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
			return false
		case r == utf8.RuneError:
			if _, n := utf8.DecodeRuneInString(s[i:]); n <= 1 {
				return false
			}
		}
	}
	return true
}

// literalFits reports whether a text can be a literal: with something else than line
// breaks in it.
func literalFits(s string) bool {
	return printable(s, "\n\t") && strings.Trim(s, "\n") != ""
}

// foldedFits: no line starts with white space, which would not be folded, and none
// is empty but between paragraphs.
func foldedFits(s string) bool {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	return literalFits(s) && !slices.ContainsFunc(lines, func(l string) bool { return l == "" || l[0] == ' ' || l[0] == '\t' })
}

func single(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// double writes a text in double quotes, as YAML and JSON both read it.
func double(s string) string {
	return quoted(s, func(r rune) bool { return r != utf8.RuneError && !printable(string(r), "") }, jsonEscapes)
}

// The short escapes that are written, of those that are read: JSON has the first.
const (
	jsonEscapes = `"\tnr`
	yamlEscapes = jsonEscapes + "0abvfeNLP"
)

// quoted writes a text in double quotes. escaped states which characters are not written
// as they are, beside those with one of the short escapes.
func quoted(s string, escaped func(rune) bool, short string) string {
	b := make([]byte, 1, len(s)+2)
	b[0] = '"'
	for _, r := range s {
		i := strings.IndexFunc(short, func(name rune) bool { return escapes[byte(name)] == string(r) })
		switch {
		case i >= 0:
			b = append(b, '\\', short[i])
		case !escaped(r):
			b = utf8.AppendRune(b, r)
		case short == jsonEscapes:
			b = fmt.Appendf(b, `\u%04x`, r)
		case r <= 0xff:
			b = fmt.Appendf(b, `\x%02X`, r)
		case r <= 0xffff:
			b = fmt.Appendf(b, `\u%04X`, r)
		default:
			b = fmt.Appendf(b, `\U%08X`, r)
		}
	}
	return string(append(b, '"'))
}

// key writes the key of an entry; quote is how its neighbours are quoted.
func key(name string, quote byte, flow bool) string {
	switch {
	case quote == '"':
		return double(name)
	case quote == '\'' && printable(name, ""):
		return single(name)
	case plainFits(name, flow) && !strings.HasPrefix(name, "? "):
		return name
	}
	return double(name)
}

// leading are the fields that people write first, before the keys of a list's entry.
var leading = []string{"apiVersion", "kind", "metadata", "name", "namespace", "image"}

// orderOf puts the keys of a mapping in order: as the origins have them, the
// first one's order first; what none of them has comes last: what people write first,
// the keys of a list's entry, and all others, sorted.
func orderOf(m map[string]any, from origins, keys []merge.Key) []string {
	names := make([]string, 0, len(m))
	at := make(map[string]bool, len(m))
	for _, o := range from {
		n := o.n.follow()
		if n == nil || n.kind != mapNode {
			continue
		}
		var own []string
		for i := range n.entries {
			e := &n.entries[i]
			if _, wanted := m[e.name]; wanted && !e.merge {
				own = append(own, e.name)
			}
		}
		names = weave(names, own, at)
		for _, n := range own {
			at[n] = true
		}
	}
	rest := slices.DeleteFunc(slices.Collect(maps.Keys(m)), func(name string) bool { return at[name] })
	first := slices.Clone(leading)
	for _, k := range keys {
		first = append(first, k.Name)
	}
	place := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortFunc(rest, func(a, b string) int { return cmp.Or(place(a)-place(b), strings.Compare(a, b)) })
	return append(names, rest...)
}

// weave takes what is new in more into names, each behind the one it follows
// there; what stands first there comes before the first that both have.
func weave(names, more []string, have map[string]bool) []string {
	if len(names) == 0 {
		return more
	}
	behind := map[string][]string{}
	var front []string
	last, anchored := "", ""
	for _, n := range more {
		switch {
		case have[n]:
			if last == "" {
				anchored = n
			}
			last = n
		case last == "":
			front = append(front, n)
		default:
			behind[last] = append(behind[last], n)
		}
	}
	out := make([]string, 0, len(names)+len(more))
	for _, n := range names {
		if n == anchored {
			out = append(out, front...)
			front = nil
		}
		out = append(append(out, n), behind[n]...)
	}
	return append(out, front...)
}
