package cluster

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
)

// invalid returns one line with all causes: field, value if it is short and not secret, reason.
func invalid(causes []metav1.StatusCause, secret bool, place func(field, kind string) (path, whose string)) string {
	parts := make([]string, 0, len(causes))
	causes = slices.SortedStableFunc(slices.Values(own(causes)), func(a, b metav1.StatusCause) int { return remedied(a) - remedied(b) })
	for _, c := range causes {
		kind, value, why := cutValue(regex.ReplaceAllString(c.Message, "$1"))
		if m := otherType.FindStringSubmatch(c.Message); m != nil {
			kind, value, why = "must be of the type "+m[2]+", and has the type "+m[1], "", ""
		}
		field, whose := place(c.Field, kind)
		if c.Field == "<nil>" || c.Field == "" || c.Field == "[]" { // rules about the whole object, which the caller names
			field, value, whose = "", "", ""
			if why != "" {
				kind = ""
			}
		}
		if secret {
			value, why = "", character.ReplaceAllString(why, "must be JSON")
		}
		if value != "" && len(value) <= maxValue {
			kind, why = kind+" "+value, meant(c.Field, value, why)
		}
		text := slices.DeleteFunc([]string{field, kind, why, whose}, func(part string) bool { return part == "" })
		if part := shorten(strings.Join(text, ": "), maxText); !slices.Contains(parts, part) { // values that are not shown may be all that differs
			parts = append(parts, part)
		}
	}
	return strings.Join(suggest.AtMost(parts, mostCauses), "; ")
}

// meant returns what to do about a value that has a variable, or is supported in another case, else why.
func meant(field, value, why string) string {
	word, err := strconv.Unquote(value)
	supported := regexp.MustCompile(`(?i)^supported values: .*"(` + regexp.QuoteMeta(word) + `)"`).FindStringSubmatch(why)
	switch {
	case err == nil && strings.Contains(word, "${"):
		return "a variable that nothing replaced (envsubst)"
	case word != "" && strings.Trim(word, "0123456789") == "" && (strings.HasSuffix(field, "Port") || strings.HasSuffix(field, ".port")):
		return why + ": a number is written without quotes"
	case err == nil && supported != nil:
		return "write " + supported[1]
	}
	return why
}

// mostCauses are as many as kubectl's users see of an object that is wrong in many places.
const mostCauses = 20

// own returns the causes without those that follow from others: what could not be checked, and what is wrong with the
// absence of a value, where a required value is missing.
func own(causes []metav1.StatusCause) []metav1.StatusCause {
	lacks := slices.ContainsFunc(causes, missing)
	out := slices.DeleteFunc(slices.Clone(causes), func(c metav1.StatusCause) bool {
		return consequence.MatchString(c.Message) || lacks && strings.HasPrefix(c.Message, "Invalid value: null")
	})
	if len(out) == 0 {
		return causes
	}
	return out
}

func missing(c metav1.StatusCause) bool { return strings.HasPrefix(c.Message, "Required value") }

// character matches what encoding/json reports of a value that is not JSON, with one of its characters.
var character = regexp.MustCompile(`invalid character '(?:\\.+?|.)'.*`)

// What the API server reports of invalid values: regular expressions behind examples
// (k8s.io/apimachinery/pkg/util/validation.RegexError), places in a CEL rule, and of values that have not the type which
// a CustomResourceDefinition states (k8s.io/kube-openapi/pkg/validation), with consequences of that.
var (
	regex       = regexp.MustCompile(`,\s*regex used for validation is '.*?'(\))| \(regex used for validation is '.*?'\)|ERROR: <input>:\d+:\d+: `)
	otherType   = regexp.MustCompile(`^Invalid value: "(\w+)": \S+ in body must be of type (string|integer|number|boolean|object|array): "\w+"$`)
	consequence = regexp.MustCompile(`some validation rules were not checked because the object was invalid|Checked value must be of type \w+ \(default format\)`)
)

// cutValue splits a cause such as `Invalid value: {"a":1}: field is immutable`.
func cutValue(message string) (kind, value, why string) {
	for _, kind := range []string{"Invalid value", "Duplicate value", "Unsupported value", "Not found"} {
		rest, ok := strings.CutPrefix(message, kind+": ")
		if !ok {
			continue
		}
		n := valueLength(rest)
		return strings.ToLower(kind), rest[:n], strings.TrimPrefix(rest[n:], ": ")
	}
	return "", "", message
}

func valueLength(text string) int {
	if text == "" {
		return 0
	}
	switch text[0] {
	case '"':
		if q, err := strconv.QuotedPrefix(text); err == nil {
			return len(q)
		}
	case '{', '[':
		d := json.NewDecoder(strings.NewReader(text))
		var v json.RawMessage
		if d.Decode(&v) == nil {
			return int(d.InputOffset())
		}
	default:
		if value, _, _ := strings.Cut(text, ": "); strings.Contains(value, " ") {
			return 0 // a rule's message, and no value
		}
	}
	if i := strings.Index(text, ": "); i >= 0 {
		return i
	}
	return len(text)
}

// shorten makes a text one line of at most n bytes, with control characters escaped.
func shorten(text string, n int) string {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = strings.TrimRight(text[:i], " {[(") + " …"
	}
	quoted := strconv.QuoteToGraphic(text)
	text = strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	if len(text) > n {
		text = strings.ToValidUTF8(text[:n], "") + " …"
	}
	return text
}

// unchangeable matches what the API server reports of a field that can be set only once
// (k8s.io/kubernetes/pkg/apis/*/validation, k8s.io/apimachinery/pkg/api/validate and
// CEL transition rules of CustomResourceDefinitions without a message).
var unchangeable = regexp.MustCompile(`immutable|may not (?:be )?changed?\b|cannot (?:be )?changed?\b|can ?not be (?:modified|updated)\b|updates to .+ are forbidden|\boldSelf\b` +
	`|(?:only|no) (?:addition|deletion)\S* .*allowed|updates may not|must not update|than previous value`)

// Holding lists the kinds that are never deleted to be created again: data, or all objects in them,
// would be lost.
var Holding = []Resource{
	{Version: "v1", Kind: "PersistentVolumeClaim", Plural: "persistentvolumeclaims"},
	{Version: "v1", Kind: "PersistentVolume", Plural: "persistentvolumes"},
	{Version: "v1", Kind: "Namespace", Plural: "namespaces"},
	definitions,
}

var definitions = Resource{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Plural: "customresourcedefinitions"}

// Recreatable reports whether an object of the kind may be deleted to be created again.
func (r Resource) Recreatable() bool {
	return !slices.ContainsFunc(Holding, func(h Resource) bool { return h.Group == r.Group && h.Kind == r.Kind })
}

// Unchangeable returns the causes of a refusal (422) that are about fields which can be set only
// once; none for other errors.
func (r *Refusal) Unchangeable() []metav1.StatusCause {
	if r.Code != http.StatusUnprocessableEntity {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(own(r.Causes)), func(c metav1.StatusCause) bool { return !unchangeable.MatchString(c.Message) })
}

// Purpose states what a write is for. It decides which remedies an error names: not every command
// has every flag.
type Purpose uint8

// The purposes.
const (
	Merging  Purpose = iota // a merge, written as a patch
	Applying                // a merge, written by server-side apply
	Undoing                 // an undo of a recorded run's writes
)

// allocated matches what the API server reports of a nodePort or an address that another
// Service has (k8s.io/kubernetes/pkg/registry/core/service/portallocator and ipallocator).
var allocated = regexp.MustCompile(`provided (?:port|IP) is already allocated`)

// outside matches what the API server reports of an address that is not in the range of Services.
var outside = regexp.MustCompile(`provided IP \(.*\) is not in the valid range|does not match the current range`)

// remedied returns 1 for a cause that remedy is about, which then follows it directly, and 0 for others.
func remedied(c metav1.StatusCause) int {
	if strings.Contains(c.Message, "{{") || allocated.MatchString(c.Message) || outside.MatchString(c.Message) || unchangeable.MatchString(c.Message) {
		return 1
	}
	return 0
}

// remedy returns the remedy for a refusal of an invalid object (422), beginning with a colon; "" if
// the causes say it themselves.
func (r *Refusal) remedy() string {
	states := func(is func(string) bool) bool {
		return r.Code == http.StatusUnprocessableEntity && slices.ContainsFunc(r.Causes, func(c metav1.StatusCause) bool { return is(c.Message) })
	}
	switch {
	case states(func(text string) bool { return strings.Contains(text, "{{") }):
		return ": {{ }} " + object.Unrendered
	case states(allocated.MatchString) && r.For == Undoing:
		return ": another Service has it by now (kubectl get services -A shows which): free it there, and undo again; --partial undoes the other objects"
	case states(allocated.MatchString):
		return ": another Service has it (kubectl get services -A shows which): free it there, or leave it out of the file, and the server chooses one"
	case states(outside.MatchString):
		return ": leave it out, and the server chooses one"
	case len(r.Unchangeable()) > 0:
		return r.instead()
	}
	return ""
}

// instead returns the remedy for fields that can be set only once.
func (r *Refusal) instead() string {
	switch {
	case r.For == Undoing && r.Target.Recreatable():
		return ": it can be set only once: kubectl merge --recreate=" + r.Target.Kind + ", with the file as it was, deletes the object and creates it again; undo --partial undoes the other objects"
	case r.For == Undoing:
		return ": it can be set only once: undo --partial undoes the other objects"
	case !r.Target.Recreatable():
		return ": set it back to what the cluster has, or delete the object, with what it holds, and merge again; --recreate never deletes a " + r.Target.Kind
	case r.For == Applying:
		return ": set it back to what the cluster has, or delete the object with kubectl delete, and merge again"
	}
	return ": set it back to what the cluster has, or have the object deleted and created again: --recreate=" + r.Target.Kind
}
