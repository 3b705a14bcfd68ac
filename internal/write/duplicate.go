package write

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// remedy is the remedy for an entry of live and one of local that cannot be in one list.
const remedy = ": write live's entry in the file as it should be, or remove it from live"

// nodePort matches the API server's report of a Service whose ports share a nodePort. It names
// neither (k8s.io/kubernetes/pkg/registry/core/service/portallocator).
var nodePort = regexp.MustCompile(`^duplicate nodePort: \{\w+ (\d+)\}`)

// nodePort returns the text for a nodePort that live has in another entry than local; "" for others.
func (s sent) nodePort(text string) string {
	m := nodePort.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	ports := merge.Path{merge.Named("spec"), merge.Named("ports")}
	list, _ := merge.Lookup(s.Value, ports, s.Type)
	entries, _ := list.([]any)
	for i, step := range schema.EntrySteps(s.Type.At(ports), entries) {
		if entry, _ := entries[i].(map[string]any); fmt.Sprint(entry["nodePort"]) == m[1] {
			at := append(ports[:2:2], step, merge.Named("nodePort"))
			if whose := s.double(at); whose != "" {
				return at.String() + ": duplicate value " + m[1] + ": " + whose
			}
		}
	}
	return ""
}

// double returns the other entry of the list that has the value at a path, who set the one that
// local does not set, and the remedy.
func (s sent) double(at merge.Path) string {
	n := len(at) - 1
	for n >= 0 && at[n].Kind == merge.FieldStep {
		n--
	}
	if n < 0 {
		return ""
	}
	t := s.Type.At(at[:n])
	list, _ := merge.Lookup(s.Final, at[:n], s.Type)
	value, _ := merge.Lookup(s.Final, at, s.Type)
	for _, step := range schema.EntrySteps(t, merge.At[[]any](list)) {
		other := append(at[:n:n], step)
		full := append(other[:len(other):len(other)], at[n+1:]...)
		v, has := merge.Lookup(s.Final, full, s.Type)
		if !has || other.String() == at[:n+1].String() || !merge.Equal(v, value, nil) {
			continue
		}
		if _, stated := merge.Lookup(s.Value, other, s.Type); !stated {
			return "live has it at " + full.String() + s.by(full) + remedy
		}
		if _, stated := merge.Lookup(s.Value, at[:n+1], s.Type); !stated {
			return "that is live's" + s.by(at) + ", and local has it at " + full.String() + remedy
		}
	}
	return ""
}

// clash names the entry of live that has most in common with one of local, in a refused list: a
// rule of a CustomResourceDefinition names no entry.
func (s sent) clash(list merge.Path, entries []any) (text string) {
	t, most := s.Type.At(list), 0
	steps := schema.EntrySteps(t, entries)
	at := func(i int) merge.Path { return list.Child(steps[i]) }
	stated := make([]bool, len(entries))
	for i := range entries {
		_, stated[i] = merge.Lookup(s.Value, at(i), s.Type)
	}
	for i, lives := range entries {
		for j, locals := range entries {
			if stated[i] || !stated[j] {
				continue
			}
			if same := alike(t, lives, locals); len(same) > most {
				most = len(same)
				text = at(i).String() + " is live's" + s.by(at(i)) + ", with the same " + strings.Join(same, ", ") + " as " + at(j).String() + remedy
			}
		}
	}
	return text
}

// alike returns the fields besides the keys in which two entries have equal values.
func alike(t *merge.Type, a, b any) (names []string) {
	for name, v := range merge.At[map[string]any](a) {
		w, has := merge.At[map[string]any](b)[name]
		isKey := slices.ContainsFunc(t.Keys, func(k merge.Key) bool { return k.Name == name })
		if has && !isKey && merge.Equal(v, w, t.EntryType().Field(name).Type) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
