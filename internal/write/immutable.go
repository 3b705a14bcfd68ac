package write

import (
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

var (
	// exempt captures the fields that may be changed, if the server names those instead of the ones
	// that may not (StatefulSet, Pod, PersistentVolumeClaim).
	exempt = regexp.MustCompile(`(?s)(?:other than|except) (.*)`)
	named  = regexp.MustCompile("[`'][^`']+[`']")
	// entry matches the keys of an entry of a list, which the server writes as [*] there.
	entry = regexp.MustCompile(`\[[^\]]*\]`)
)

// immutable returns the fields that the causes of a refusal are about, and that the write changes.
func (s sent) immutable(causes []metav1.StatusCause) (out []string) {
	for _, c := range causes {
		at, ok := s.path(c.Field)
		if !ok {
			at = nil
		}
		fields := s.changedIn(at, c.Message)
		if len(fields) == 0 && c.Field != "" && c.Field != "<nil>" {
			fields = []string{c.Field}
			if ok {
				fields = []string{at.String()}
			}
		}
		for _, f := range fields {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// changedIn returns the fields below a path that the write changes and that the message does not
// exempt; none if the message is about the path itself.
func (s sent) changedIn(at merge.Path, message string) []string {
	m := exempt.FindStringSubmatch(message)
	if m == nil {
		return nil
	}
	var may []string
	inside := map[string]bool{} // the fields of which a part may be changed
	for _, word := range named.FindAllString(m[1], -1) {
		word = strings.TrimPrefix(word[1:len(word)-1], at.String()+".")
		name, _, deeper := strings.Cut(strings.ReplaceAll(word, "[", "."), ".")
		may, inside[name] = append(may, word), deeper
	}
	var out []string
	for _, c := range s.Changes {
		if len(c.Path) <= len(at) || c.Path[:len(at)].String() != at.String() {
			continue
		}
		first := c.Path[:len(at)+1]
		if inside[first[len(at)].Name] {
			first = c.Path
		}
		exempted := entry.ReplaceAllString(strings.TrimPrefix(first.String(), at.String()+"."), "[*]")
		if !slices.Contains(may, exempted) && !slices.Contains(out, first.String()) {
			out = append(out, first.String())
		}
	}
	return out
}
