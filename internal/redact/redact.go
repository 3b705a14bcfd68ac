// Package redact lists which fields of which objects are secret, and blanks values in text.
// It refuses to print: a caller that shows a part of an object calls this package first.
package redact

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// LastApplied is the annotation in which kubectl apply keeps the whole object.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// copies lists the annotations in which tools keep a whole object, or its last changes, so
// that they contain the values of a Secret.
var copies = []string{
	LastApplied,
	"kapp.k14s.io/original", // https://carvel.dev/kapp/docs/latest/diff/
	"kapp.k14s.io/original-diff",
	"kapp.k14s.io/original-diff-full",
	"objectset.rio.cattle.io/applied", // https://github.com/rancher/wrangler, compressed
	"banzaicloud.com/last-applied",    // https://github.com/cisco-open/k8s-objectmatcher, compressed
}

// Copies reports whether the annotation of this name may hold a whole object.
func Copies(annotation string) bool { return slices.Contains(copies, annotation) }

// openFields lists the fields of a Secret that hold none of its values. Any other field,
// except data and stringData, is a mistake (stringdata) that may hold some.
var openFields = []string{"apiVersion", "kind", "metadata", "type", "immutable"}

// Open reports whether a field of a Secret holds none of its values. v is the field's
// value: text in immutable is a value in the wrong place.
func Open(field string, v any) bool {
	if _, text := v.(string); text && (field == "immutable" || field == "metadata") {
		return false
	}
	return slices.Contains(openFields, field)
}

// IsSecret reports whether obj is a Secret of the core group, whatever its version and
// spelling. A server accepts "/v1", and a file may leave apiVersion out. Offline, no server
// refuses "secret", "Secrets" or "core/v1". A reference to a Secret does not count.
func IsSecret(obj map[string]any) bool {
	version := merge.At[string](obj, "apiVersion")
	return IsSecretKind(version[:max(strings.IndexByte(version, '/'), 0)], merge.At[string](obj, "kind")) && !reference(obj)
}

// reference reports whether obj has a name outside metadata, and nothing that only an object has.
func reference(obj map[string]any) bool {
	_, named := obj["name"].(string)
	return named && obj["metadata"] == nil && obj["data"] == nil && obj["stringData"] == nil
}

// IsSecretKind is IsSecret for a group and a kind.
func IsSecretKind(group, kind string) bool {
	kind = strings.ToLower(kind)
	return (kind == "secret" || kind == "secrets") && (group == "" || group == "core")
}

// sensitiveWords mark the name of a setting whose value is secret. They match whole words
// of the name: MONKEY does not count.
var sensitiveWords = []string{"PASSWORD", "PASSWORDS", "PASSWD", "PWD", "PASS", "PASSPHRASE", "TOKEN", "SECRET", "SECRETS", "KEY", "KEYS", "APIKEY",
	"CREDENTIAL", "CREDENTIALS", "CREDS", "DSN"}

// sensitiveEnds mark such a name at the end of a word, where words are not separated: DBPASSWORD.
var sensitiveEnds = []string{"PASSWORD", "PASSWD", "PASSPHRASE", "TOKEN", "SECRET", "APIKEY", "ACCESSKEY", "SECRETKEY", "PRIVATEKEY", "CREDENTIAL", "CREDENTIALS"}

// SensitiveName reports whether an environment variable of this name holds a secret by its
// name: DB_PASSWORD, API_KEY, githubToken.
func SensitiveName(name string) bool {
	return slices.ContainsFunc(nameWords(name), func(word string) bool {
		return slices.Contains(sensitiveWords, word) || slices.ContainsFunc(sensitiveEnds, func(end string) bool { return strings.HasSuffix(word, end) })
	})
}

// nameWords returns the words of a name, in capitals. It is split at signs, and where a
// capital follows a small letter.
func nameWords(name string) (words []string) {
	var word strings.Builder
	small := false
	for _, r := range name + "_" {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter || small && r >= 'A' && r <= 'Z' {
			words = append(words, strings.ToUpper(word.String()))
			word.Reset()
		}
		if letter {
			word.WriteRune(r)
		}
		small = r >= 'a' && r <= 'z'
	}
	return words
}

// Fields are sensitive fields, as the user's rules name them. A step below a value leads to
// what is sensitive as a whole, or to a value with such fields. nil: there are none.
type Fields func(merge.Step) (whole bool, below Fields)

// Below returns what a step leads to; a nil Fields leads to nothing.
func (f Fields) Below(s merge.Step) (whole bool, below Fields) {
	if f == nil {
		return false, nil
	}
	return f(s)
}

// EntryStep returns the step to an entry of a list, with everything that could be a key of it.
func EntryStep(v any) merge.Step {
	m, ok := v.(map[string]any)
	if !ok {
		return merge.Step{Kind: merge.ValueStep, Value: v}
	}
	step := merge.Step{Kind: merge.KeyStep}
	for k, e := range m {
		if merge.IsScalar(e) {
			step.Keys = append(step.Keys, merge.KeyPart{Name: k, Value: e})
		}
	}
	return step
}

var (
	kindSecret = Pattern(`(?mi)(?:^[\s"'{,-]*kind|[{,][\s"']*kind)[\s"']*:[\s"']*secrets?[\s"']*(?:[,}#]|$)`)
	secretData = Pattern(`(?mi)(?:^[\s"'{,-]*|[{,][\s"']*)(?:string)?data[\s"']*:`)
	escapedEnd = Pattern(`\\+n`)
)

// Pattern returns a function that compiles a pattern when it is first called: most runs need none. It
// panics then if the pattern is not valid.
func Pattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// HoldsSecret reports whether a text is, or contains, the manifest of a Secret with values,
// in YAML or JSON, for example in a ConfigMap, or in the text of a ConfigMap in a text.
func HoldsSecret(text string) bool {
	if !Mentions(text) {
		return false
	}
	text = strings.ReplaceAll(escapedEnd().ReplaceAllString(text, "\n"), `\`, "") // texts in texts are escaped
	return kindSecret().MatchString(text) && secretData().MatchString(text)
}

// Mentions reports whether a text may be about a Secret.
func Mentions(text string) bool {
	return strings.Contains(text, "ecret")
}

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
