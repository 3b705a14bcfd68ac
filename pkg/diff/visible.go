package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Visible spells out the characters that drive a terminal or change the order in
// which text is read: control characters other than newline and tab, and
// Unicode's format characters.
func Visible(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if strings.IndexFunc(s, unseen) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !unseen(r):
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

// inLine is Visible for what stands within a line: a name with a line break in it
// must not pass for a line of its own.
func inLine(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(Visible(s))
}

func unseen(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029')
}

// marshal is json.Marshal whose text is safe on a terminal.
func marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, unprintable()
	}
	return SpellJSON(data), nil
}

// SpellJSON escapes in a JSON text what JSON does not ask to be escaped and a
// terminal would obey, or show as another text. It means the same: outside of
// strings JSON has no such characters.
func SpellJSON(data []byte) []byte {
	if bytes.IndexFunc(data, unseen) < 0 {
		return data
	}
	var b bytes.Buffer
	for _, r := range string(data) {
		switch {
		case !unseen(r):
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
