// Package redact lists which fields of which objects are secret, and blanks values in text.
// It refuses to print: a caller that shows a part of an object calls this package first.
package redact

import (
	"regexp"
	"slices"
	"strings"
	"sync"

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
