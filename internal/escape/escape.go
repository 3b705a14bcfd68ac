// Package escape escapes control characters in texts of others, and characters that make a
// text read as another one. It refuses to interpret the text.
package escape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Text escapes the characters that control a terminal or change the order in
// which text is read: control characters other than newline and tab, and
// Unicode's format characters.
func Text(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if strings.IndexFunc(s, Hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !Hidden(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// Line is Text for part of a line: a name with a line break in it must not look like a
// separate line.
func Line(s string) string {
	if s = Text(s); !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(s)
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// FileName replaces the characters that are not valid in every file system.
func FileName(s string) string { return notInNames.ReplaceAllString(s, "_") }

// Hidden reports whether a character controls a terminal, or changes the order in which
// text is read; a newline and a tab do not count.
func Hidden(r rune) bool {
	if r < 0x7f { // most characters, decided without a table
		return r < ' ' && r != '\n' && r != '\t'
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// JSON escapes in a JSON text what JSON allows unescaped, but a terminal would execute, or
// show as another text. The meaning stays the same: outside of strings JSON has no such
// characters.
func JSON(data []byte) []byte {
	if bytes.IndexFunc(data, Hidden) < 0 {
		return data
	}
	var b bytes.Buffer
	for _, r := range string(data) {
		switch {
		case !Hidden(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.Bytes()
}

// WriteJSON writes a value on one line or, with an indent, on several, as JSON does. The error is w's,
// or says that v is not a JSON value, and does not quote it.
func WriteJSON(w io.Writer, v any, indent string) error {
	text, err := json.Marshal(v)
	if indent != "" {
		text, err = json.MarshalIndent(v, "", indent)
	}
	if err != nil {
		return errors.New("a value is not JSON, and cannot be printed")
	}
	_, err = w.Write(append(JSON(text), '\n'))
	return err
}
