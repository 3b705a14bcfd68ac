package yamldoc

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
)

// encodeText writes a string in the first style that reads back as it: a block for
// several lines, plain, single-quoted, double-quoted. A key is never a block.
func (p *encoder) encodeText(s string, indent int, key bool) {
	s = strings.ToValidUTF8(s, "\ufffd")
	switch lines := strings.Contains(s, "\n"); {
	case strings.ContainsFunc(s, escaped), lines && (key || strings.Contains(s, " \n") || strings.HasSuffix(s, " ")), isOther(s):
		p.out = append(p.out, quoted(s, escaped, yamlEscapes)...)
	case lines:
		p.block(s, max(indent, 2))
	case plainForm(s, false):
		p.out = append(p.out, s...)
	default:
		p.out = append(p.out, single(s)...)
	}
}

func (p *encoder) block(s string, indent int) {
	w := word{style: literalStyle, col: indent - 2, deep: indent, eol: "\n", plus: true}
	p.out = append(append(p.out, w.block(s, false)...), '\n')
}

// escaped are the characters that are never written as they are: what the YAML
// library escapes (control characters, the byte order mark, all beyond the basic
// plane), and what this package never prints raw.
func escaped(r rune) bool {
	return r == '\t' || escape.Hidden(r) || r >= 0x10000 || r == 0xfffe || r == 0xffff
}

var base60Text = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$`)

// isOther reports whether kubectl quotes s since some reader would take it for something else
// than text: null, a boolean, a number, a time, a merge key.
func isOther(s string) bool {
	return s == "<<" || !IsText(s) || isTime(s) || strings.Contains(s, ":") && base60Text.MatchString(s)
}

// timeForms are the times that kubectl's YAML library reads.
var timeForms = []string{"2006-1-2T15:4:5.999999999Z07:00", "2006-1-2t15:4:5.999999999Z07:00", "2006-1-2 15:4:5.999999999", "2006-1-2"}

func isTime(s string) bool {
	if len(s) < 5 || s[4] != '-' || strings.IndexFunc(s[:4], func(r rune) bool { return !unicode.IsDigit(r) }) >= 0 {
		return false
	}
	return slices.ContainsFunc(timeForms, func(form string) bool {
		_, err := time.Parse(form, s)
		return err == nil
	})
}
