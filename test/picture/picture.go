// Package picture draws what a terminal shows as SVG, and reads the text in such a
// drawing: pictures in the documentation are made of real runs, and a test compares them.
package picture

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The measures of a character and of the frame, in pixels.
const (
	wide, high = 8.4, 18
	frame, bar = 16, 28
)

// span is text of one colour.
type span struct {
	text, class string
}

// line is the content of one row of the terminal.
type line []span

func (l line) columns() int {
	n := 0
	for _, s := range l {
		n += utf8.RuneCountInString(s.text)
	}
	return n
}

// Draw is an SVG of a terminal of so many columns that shows the text: lines, with the
// colours of ECMA-48 (SGR). Longer lines go on in the next row, as in a terminal.
func Draw(text string, columns int) []byte {
	rows := lines(strings.TrimRight(text, "\n"), columns)
	width, height := float64(columns)*wide+2*frame, bar+len(rows)*high+frame
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img">`+"\n", width, height, width, height)
	b.WriteString(`<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d6deeb; white-space: pre }
.bold { font-weight: bold } .dim { fill: #8899aa } .red { fill: #ff7a85 } .green { fill: #9ece6a }
.yellow { fill: #e5c07b } .blue { fill: #7aa2f7 } .magenta { fill: #c792ea } .cyan { fill: #7fdbca }
</style>
`)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%d" rx="8" fill="#16202c"/>`+"\n", width, height)
	for i, c := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="16" r="5" fill="%s"/>`+"\n", frame+4+18*i, c)
	}
	for i, row := range rows {
		fmt.Fprintf(&b, `<text x="%d" y="%d" xml:space="preserve">`, frame, bar+14+i*high)
		for _, s := range row {
			if s.class == "" {
				b.WriteString(html.EscapeString(s.text))
				continue
			}
			fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, s.class, html.EscapeString(s.text))
		}
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

var (
	row = regexp.MustCompile(`(?m)^<text [^>]*>(.*)</text>$`)
	tag = regexp.MustCompile(`<[^>]*>`)
)

// Text returns the text of a drawing's rows, one line each.
func Text(svg []byte) string {
	var b strings.Builder
	for _, m := range row.FindAllSubmatch(svg, -1) {
		b.WriteString(html.UnescapeString(tag.ReplaceAllString(string(m[1]), "")) + "\n")
	}
	return b.String()
}

var graphics = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// classes are the colours and weights that terminals know by number.
var classes = map[string]string{
	"1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow", "34": "blue", "35": "magenta", "36": "cyan",
}

// lines splits a text into rows of at most so many columns.
func lines(text string, columns int) []line {
	var out []line
	var set []string // the codes that count now
	for _, source := range strings.Split(text, "\n") {
		current := line{}
		add := func(s string) {
			for s != "" {
				if current.columns() == columns {
					out, current = append(out, current), line{}
				}
				head, tail := cut(s, columns-current.columns())
				current, s = append(current, span{head, class(set)}), tail
			}
		}
		at := 0
		for _, m := range graphics.FindAllStringSubmatchIndex(source, -1) {
			add(source[at:m[0]])
			set = after(set, source[m[2]:m[3]])
			at = m[1]
		}
		add(source[at:])
		out = append(out, current)
	}
	return out
}

// cut is the first n characters of a text, and the rest.
func cut(s string, n int) (head, tail string) {
	for i := range s {
		if n == 0 {
			return s[:i], s[i:]
		}
		n--
	}
	return s, ""
}

// after returns the codes that are in effect after a sequence of codes.
func after(set []string, codes string) []string {
	for _, code := range strings.Split(codes, ";") {
		if code == "" || code == "0" {
			set = nil
			continue
		}
		set = append(set[:len(set):len(set)], code)
	}
	return set
}

func class(set []string) string {
	var out []string
	for _, code := range set {
		if c := classes[code]; c != "" {
			out = append(out, c)
		}
	}
	return strings.Join(out, " ")
}
