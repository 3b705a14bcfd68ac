package redact

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Blank returns a message of the program's own with "***" in the place of every value, and of
// the beginning of a long one. It takes time linear in the text.
//
// Values of less than eight bytes, a few words that every message has (true, admin,
// default), and what stands in the open as the name of an object or the key or type of a
// Secret are left. A value of less than sixteen bytes counts only as a word of its own. One that is
// a plain word, such as "error", counts only between quotation marks, in which messages quote: it
// may be a word of the message itself, and blanking it would tell that the Secret holds it.
func (vs *Values) Blank(text string) string { return vs.blank(text, reading{wordy, false}) }

// BlankOthers is Blank of a text that others wrote, in which plain words count everywhere: a
// server's warning, kustomize's error.
func (vs *Values) BlankOthers(text string) string { return vs.blank(text, reading{wordy, true}) }

// BlankOwn is BlankOthers of a text about the Secret itself, in which values of four bytes count, too.
func (vs *Values) BlankOwn(text string) string { return vs.blank(text, reading{shortest, true}) }

var jsonText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(\s*:)?`)

// BlankJSON is Blank of a JSON document, each of its texts as a message of its own; its keys stay.
func (vs *Values) BlankJSON(document string) string {
	return jsonText.ReplaceAllStringFunc(document, func(quoted string) string {
		var text string
		if strings.HasSuffix(quoted, ":") || json.Unmarshal([]byte(quoted), &text) != nil {
			return quoted
		}
		blanked := vs.Blank(text)
		if encoded, err := json.Marshal(blanked); err == nil && blanked != text {
			return string(encoded)
		}
		return quoted
	})
}

// reading states what of a text counts as a value.
type reading struct {
	least int  // bytes
	words bool // plain words do outside of quotation marks, too
}

func (vs *Values) blank(text string, r reading) string {
	if vs == nil {
		return text
	}
	vs.mu.RLock()
	defer vs.mu.RUnlock()
	if len(vs.index) == 0 {
		return text
	}
	if vs.raw {
		r.least = shortest
	}
	var b strings.Builder
	done := 0
	quoted := quotations(text)
	for i := 0; i+shortest <= len(text); i++ {
		n := vs.at(text, i, r.least)
		if n == 0 || !r.words && n < partly && plainWord(text[i:i+n]) && !cutOff(text[i+n:]) && !quoted(i) {
			continue
		}
		b.WriteString(text[done:i])
		b.WriteString(Blanked)
		done = i + n
		i = done - 1
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// plainWord reports whether a text is a word as people write them: lower-case letters behind any
// first letter, perhaps with a mark before or behind it.
func plainWord(text string) bool {
	text = strings.Trim(text, marks)
	return len(text) > 0 && strings.Trim(text[1:], "abcdefghijklmnopqrstuvwxyz") == "" && unicode.IsLetter(rune(text[0]))
}

// quotations returns a function that is called with growing places of the text, and reports whether
// one is between quotation marks of its line. An apostrophe within a word is not one.
func quotations(text string) func(i int) bool {
	at, open := 0, byte(0)
	return func(i int) bool {
		for ; at < i; at++ {
			c := text[at]
			switch {
			case c == '\n' || c == open:
				open = 0
			case open == 0 && strings.IndexByte("\"'`", c) >= 0 && (at == 0 || !inWord(rune(text[at-1]))):
				open = c
			}
		}
		return open != 0
	}
}

// at is how much of the text from i on is a value of at least so many bytes.
func (vs *Values) at(text string, i, least int) int {
	longest := 0
	for _, value := range vs.index[[shortest]byte([]byte(text[i:i+shortest]))] {
		n := shared(text[i:], value)
		whole := n == len(value) && n >= least && !vs.open[value] && ends(text, i+n)
		cut := n >= shortest && n < len(value) && cutOff(text[i+n:])
		if (n >= partly || (whole || cut) && begins(text, i)) && n > longest {
			longest = n
		}
	}
	return longest
}

// cutOff: what was quoted before is shortened here.
func cutOff(rest string) bool {
	return strings.HasPrefix(strings.TrimLeft(rest, " "), "…") || strings.HasPrefix(rest, "...")
}

// shared is how long the two texts begin alike.
func shared(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// begins: a word may begin at i. The letter of an escape sequence, as in \n, is no part of it.
func begins(text string, i int) bool {
	before, size := utf8.DecodeLastRuneInString(text[:i])
	if joins(before) {
		before, _ = utf8.DecodeLastRuneInString(text[:i-size])
	}
	return !inWord(before) || !inWord(rune(text[i])) || i > 1 && text[i-2] == '\\'
}

// ends: a word may end before i.
func ends(text string, i int) bool {
	after, size := utf8.DecodeRuneInString(text[i:])
	if joins(after) {
		after, _ = utf8.DecodeRuneInString(text[i+size:])
	}
	return !inWord(after) || !inWord(rune(text[i-1]))
}

// joins: the name of a program continues behind it, as that of a manager does.
func joins(r rune) bool { return r == '-' || r == '.' }

// inWord: text has a letter, digit or underscore there. Bytes of what is not ASCII count as none.
func inWord(r rune) bool {
	return r == '_' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
