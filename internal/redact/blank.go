package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Blank returns text with "***" in the place of every value, and of the beginning of a
// long one. It takes time linear in the text.
//
// Values of less than eight bytes, a few words that every message has (true, admin,
// default), and what stands in the open as the name of an object or the key or type of a
// Secret are left. A value of less than sixteen bytes counts only as a word of its own.
func (vs *Values) Blank(text string) string { return vs.blank(text, wordy) }

// BlankOwn is Blank of a text about the Secret itself, in which values of four bytes count, too.
func (vs *Values) BlankOwn(text string) string { return vs.blank(text, shortest) }

func (vs *Values) blank(text string, from int) string {
	if vs == nil {
		return text
	}
	vs.mu.RLock()
	defer vs.mu.RUnlock()
	if len(vs.index) == 0 {
		return text
	}
	if vs.raw {
		from = shortest
	}
	var b strings.Builder
	done := 0
	for i := 0; i+shortest <= len(text); i++ {
		n := vs.at(text, i, from)
		if n == 0 {
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
func shared(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
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
