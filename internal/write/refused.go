package write

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// refused rewrites a refusal: paths get the syntax of all other messages, and values that
// local does not set are attributed to their owner. Other errors are returned unchanged.
func (c *applying) refused(ctx context.Context, err error) error {
	r, ok := errors.AsType[*cluster.Refusal](err)
	if !ok || len(r.Causes) == 0 && !indexed.MatchString(r.Text) && !nodePort.MatchString(r.Text) {
		return err
	}
	p := c.out.Planned
	if c.Prepared != nil { // the plan is not stored whole
		live, failed := c.API.Get(ctx, c.Target)
		if failed != nil && !cluster.IsNotFound(failed) {
			return err
		}
		if p, failed = c.Replan(ctx, live); failed != nil {
			return err
		}
	}
	s := sent{Planned: p, owners: ownership.Of(p.Live), undoing: r.For == cluster.Undoing}
	if text := s.nodePort(r.Text); text != "" {
		out := *r
		out.Text = text
		return &out
	}
	once := r.Unchangeable()
	given := *r
	given.Causes = slices.Clone(r.Causes)
	its := merge.At[string](s.Final, "spec", "names", "plural") + "." + merge.At[string](s.Final, "spec", "group")
	for i, c := range given.Causes {
		given.Causes[i].Field += s.entry(c)
		given.Causes[i].Message = strings.Replace(c.Message, `spec.names.plural+"."+spec.group`, its+", spec.names.plural and spec.group", 1) + s.lacking(c) + s.beside(c)
	}
	out := given.Within(func(field, kind string) (path, whose string) {
		path, whose = s.place(field, kind)
		if slices.ContainsFunc(once, func(c metav1.StatusCause) bool { return c.Field == field }) {
			whose = "" // the change itself is refused, not because of a value of live
		}
		return path, whose
	}, s.respell)
	out.Immutable = s.immutable(once)
	if slices.ContainsFunc(out.Immutable, func(field string) bool { return !strings.Contains(out.Text, field) }) { // the server has named the mutable fields instead
		out.Text = strings.Join(out.Immutable, ", ") + ": " + strings.TrimPrefix(out.Text, "spec: Forbidden: ")
		out.Fields = out.Immutable
	}
	return out
}

// sent is the object that was refused.
type sent struct {
	apply.Planned
	owners  merge.Owners
	undoing bool
}

// lacking returns why a value is required that the file does not have, and what to do; "" for other causes.
func (s sent) lacking(c metav1.StatusCause) string {
	at, ok := s.path(c.Field)
	_, had := merge.Lookup(s.Live, at, s.Type)
	_, stated := merge.Lookup(s.Value, at, s.Type)
	switch required := c.Type == metav1.CauseTypeFieldValueRequired; {
	case !ok:
	case required && had && !stated:
		return ": live has it, and the file lacks it: put it back"
	case required && s.Value["kind"] == "Service" && servicePort.MatchString(c.Field):
		return ": there are several ports, so that each needs one"
	case !had && !stated && strings.HasPrefix(c.Message, "Invalid value: 0:"):
		return ": the file does not set it"
	}
	return ""
}

// beside names a field near that of a cause which the server's text names, too, if its value is from live; "" if none.
func (s sent) beside(c metav1.StatusCause) string {
	at, _ := s.path(c.Field)
	_, is := merge.Lookup(s.Final, at, s.Type)
	_, stated := merge.Lookup(s.Value, at, s.Type)
	if c.Type == metav1.CauseTypeForbidden || is && !stated { // it is itself in the way, or an undo has put it there
		return ""
	}
	for _, word := range strings.FieldsFunc(c.Message, func(r rune) bool { return !unicode.IsLetter(r) }) {
		name := merge.Named(strings.ToLower(word[:1]) + word[1:]) // HostPID
		for n := max(0, len(at)-2); n <= len(at); n++ {
			full := at[:n].Child(name)
			text := s.notLocals(full)
			if text != "" && full.String() != at.String() && !merge.NewFinder(s.Live, s.Type).Refilled(full) {
				return ": " + strings.Replace(text, "the value", full.String(), 1)
			}
		}
	}
	return ""
}

var servicePort = regexp.MustCompile(`^spec\.ports\[\d+\]\.name$`)

// entry returns which label or annotation a cause is about, in brackets; "" if it is about another
// field. The server names only its key or its value (k8s.io/apimachinery/pkg/apis/meta/v1/validation).
func (s sent) entry(c metav1.StatusCause) string {
	at, ok := s.path(c.Field)
	if !ok || !slices.Contains([]string{"labels", "matchLabels", "annotations", "nodeSelector"}, at[len(at)-1].Name) {
		return ""
	}
	v, _ := merge.Lookup(s.Final, at, s.Type)
	entries := merge.At[map[string]any](v)
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if said, _ := strings.CutPrefix(c.Message, "Invalid value: "); strings.HasPrefix(said, strconv.Quote(key)) || strings.HasPrefix(said, fmt.Sprintf("%q", entries[key])) {
			return "[" + key + "]"
		}
	}
	return ""
}

// place translates a path of the server. whose reports which part of the value there, or of
// a duplicate of it, is from live and not set by local; "" if none.
func (s sent) place(field, kind string) (path, whose string) {
	at, ok := s.path(field)
	if !ok {
		return field, ""
	}
	if kind == "duplicate value" {
		return at.String(), s.double(at)
	}
	if v, _ := merge.Lookup(s.Value, at, s.Type); v != nil && strings.HasSuffix(kind, " null") {
		return at.String(), "the server makes null of what the file empties: take it out of the file"
	}
	return lastapplied.StatedAt(s.Value, at).String(), s.notLocals(at)
}

// path reads spec.ports[1].name and spec.limits[cpu] along the object that was sent.
func (s sent) path(field string) (merge.Path, bool) {
	var at merge.Path
	v, t := any(s.Final), s.Type
	if s.Value["kind"] == "CustomResourceDefinition" { // if its versions have one schema, the server names it in a form of its own
		field = strings.Replace(field, "spec.validation.", "spec.versions[0].schema.", 1)
	}
	for rest := field; rest != ""; {
		var word string
		if rest[0] == '[' {
			var ok bool
			if word, rest, ok = bracketed(rest, v); !ok {
				return nil, false
			}
		} else {
			rest = strings.TrimPrefix(rest, ".")
			end := strings.IndexAny(rest+".", ".[")
			word, rest = rest[:end], rest[end:]
		}
		switch now := v.(type) {
		case []any:
			i, err := strconv.Atoi(word)
			if err != nil || i < 0 || i >= len(now) {
				return nil, false
			}
			at = at.Child(schema.EntrySteps(t, now)[i])
			v, t = now[i], t.EntryType()
		case map[string]any:
			at = at.Child(merge.Named(word))
			v, t = now[word], t.Field(word).Type
		default:
			if word == "" || v != nil {
				return nil, false
			}
			at = at.Child(merge.Named(word))
		}
	}
	return at, len(at) > 0
}

// bracketed returns the word in the brackets that a path begins with, and the rest of the path. The
// server quotes nothing: data[[a]] is the key [a], if the mapping there has it.
func bracketed(path string, v any) (word, rest string, ok bool) {
	end := strings.IndexByte(path, ']')
	for at := range path {
		if path[at] != ']' {
			continue
		}
		word, rest = path[1:at], path[at+1:]
		if _, has := merge.At[map[string]any](v)[word]; has && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return word, rest, true
		}
	}
	if end < 0 {
		return "", "", false
	}
	return path[1:end], path[end+1:], true
}

// indexed matches a path of a server, policy or webhook with list indices:
// spec.containers[0].image, and the JSON pointer /spec/containers/0/image.
var indexed = regexp.MustCompile(`\.?[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*|\[[^\[\]\s]+\])*\[\d+\](?:\.[A-Za-z][\w-]*|\[[^\[\]\s]+\])*|(?:/[\w.~-]+)+/\d+(?:/[\w.~-]+)*/?`)

// respell rewrites the paths in a text to the syntax of all other messages, if the object
// that was sent contains them.
func (s sent) respell(text string) string {
	return indexed.ReplaceAllStringFunc(text, func(found string) string {
		field := found
		if strings.HasPrefix(found, "/") {
			field = "[" + strings.ReplaceAll(strings.Trim(found, "/"), "/", "][") + "]" // as s.path reads it
		}
		at, ok := s.path(field)
		if _, has := merge.Lookup(s.Final, at, s.Type); !ok || !has {
			return found
		}
		return at.String()
	})
}

// notLocals names the part of the value at a path that is from live.
func (s sent) notLocals(at merge.Path) string {
	v, has := merge.Lookup(s.Final, at, s.Type)
	if !has {
		return ""
	}
	if list, isList := v.([]any); isList && s.Type.At(at) != nil && s.Type.At(at).Kind == merge.Keyed {
		return s.clash(at, list)
	}
	if _, stated := merge.Lookup(s.Value, at, s.Type); stated { // of a map, local's part may be what is refused
		return ""
	}
	if m, isMap := v.(map[string]any); isMap {
		for _, c := range merge.Diff(map[string]any{}, m, s.Type.At(at)) {
			if full := append(at[:len(at):len(at)], c.Path...); s.by(full) != "" {
				return full.String() + " is live's" + s.by(full) + s.wayOut(full)
			}
		}
		return ""
	}
	if live, there := merge.Lookup(s.Live, at, s.Type); !there || !merge.Equal(live, v, s.Type.At(at)) {
		return "" // values of an undo are in neither
	}
	return "the value is live's" + s.by(at) + s.wayOut(at)
}

// by names who set live's value, with a leading space; "" if unknown.
func (s sent) by(at merge.Path) string {
	if owners := ownership.At(s.owners, at); len(owners) > 0 {
		return " (set by " + diff.OwnerName(&owners[0]) + ")"
	}
	return ""
}

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

// wayOut returns the remedy for a value of live that is refused beside one of local; "" for an undo, which has no file.
func (s sent) wayOut(at merge.Path) string {
	switch {
	case s.undoing:
		return ""
	case at[0].Name == "status":
		return ": a file does not set it: change it with kubectl patch --subresource=status"
	}
	return ": state it in the file, or as null to remove it"
}

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

// double returns the other entry of the list, or of one with the same entries beside it (initContainers), that has
// the value at a path, or the keys of its entry, who set the one that local does not set, and the remedy.
func (s sent) double(at merge.Path) string {
	n := len(at) - 1
	for n >= 0 && at[n].Kind == merge.FieldStep {
		n--
	}
	if n < 1 {
		return ""
	}
	t, first := s.Type.At(at[:n]), at[n]
	first.Nth = 0
	value, _ := merge.Lookup(s.Final, at, s.Type)
	around, _ := merge.Lookup(s.Final, at[:n-1], s.Type)
	for _, name := range slices.Sorted(maps.Keys(merge.At[map[string]any](around))) {
		list := at[:n-1].Child(merge.Named(name))
		if name != at[n-1].Name && (t == nil || s.Type.At(list) != t) {
			continue
		}
		for _, step := range schema.EntrySteps(t, merge.At[[]any](around, name)) {
			other := list.Child(step)
			full := append(other[:len(other):len(other)], at[n+1:]...)
			v, has := merge.Lookup(s.Final, full, s.Type)
			if !has || other.String() == at[:n+1].String() || (len(at) > n+1 || step.String() != first.String()) && !merge.Equal(v, value, nil) {
				continue
			}
			if _, stated := merge.Lookup(s.Value, other, s.Type); !stated {
				return "live has it at " + full.String() + s.by(full) + remedy
			}
			if _, stated := merge.Lookup(s.Value, at[:n+1], s.Type); !stated {
				return "that is live's" + s.by(at) + ", and local has it at " + full.String() + remedy
			}
			return full.String() + " has it already: change one of them"
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
