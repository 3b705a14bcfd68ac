package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

// lost are the changes of one side alone that are neither in the result nor in a conflict: of values,
// each known by its path without the places in lists, and of comments. A value is lost if it is by its
// path, and by the path that it has by the names that a side has given to mappings and lists, and by the names of
// its object and of the entries that it stands in: what replaces any of these may have the same in it.
func lost(c triple, got merged) []string {
	base, ours, theirs := valuesOf(string(c.base)), valuesOf(string(c.ours)), valuesOf(string(c.theirs))
	as := names{}
	as.find(base, ours, "")
	as.find(base, theirs, "")
	if got.clean && !isYAML(got.text) {
		return []string{"the result is not YAML"}
	}
	out := lostBy(c, got, comments)
	if isYAML(got.ours) && isYAML(got.theirs) { // the sides of a conflict need not be YAML
		plain := lostBy(c, got, names{}.facts)
		renamed, ofObjects := lostBy(c, got, as.facts), lostBy(c, got, factsOfNamed)
		for f, how := range plain {
			_, byName := renamed[as.path(f)]
			_, byObject := ofObjects[f]
			if byName && byObject {
				out[f] = how
			}
		}
	}
	var all []string
	for f, how := range out {
		all = append(all, f+": "+how)
	}
	slices.Sort(all)
	return all
}

func isYAML(text string) bool {
	_, err := yamldoc.Parse([]byte(text))
	return err == nil
}

// lostBy are the facts that are lost, by how texts are read. Of what objects are known by, the object
// is left out.
func lostBy(c triple, got merged, read func(string) map[string]int) map[string]string {
	base, ours, theirs := read(string(c.base)), read(string(c.ours)), read(string(c.theirs))
	out := map[string]string{}
	changesLost(base, theirs, ours, read(got.theirs), out)
	changesLost(base, ours, theirs, read(got.ours), out)
	return out
}

// changesLost adds what one side has added or taken out, and the other has as it was, and
// which a view does not have as that side has it.
func changesLost(base, side, other, view map[string]int, out map[string]string) {
	for f := range union(base, side) {
		if side[f] != base[f] && other[f] == base[f] && view[f] != side[f] {
			how := fmt.Sprintf("%d times, was %d, is %d", side[f], base[f], view[f])
			if _, fact, ok := strings.Cut(f, "\x00"); ok {
				f = fact
			}
			out[f] = how
		}
	}
}

func union(a, b map[string]int) map[string]bool {
	out := map[string]bool{}
	for f := range a {
		out[f] = true
	}
	for f := range b {
		out[f] = true
	}
	return out
}

// names are those that a side has given to mappings and lists, by where they stood.
type names map[string]string

// find finds them: in a mapping the only one that is new beside the only one that is gone, or one with
// the same in it.
func (n names) find(was, is any, at string) {
	switch was := was.(type) {
	case map[string]any:
		is, _ := is.(map[string]any)
		gone, come := without(was, is), without(is, was)
		for _, g := range gone {
			for _, c := range come {
				if len(gone) == 1 && len(come) == 1 || reflect.DeepEqual(was[g], is[c]) {
					n[at+"."+g] = c
					n.find(was[g], is[c], at+"."+c)
				}
			}
		}
		for k, v := range was {
			if _, ok := is[k]; ok {
				n.find(v, is[k], at+"."+k)
			}
		}
	case []any:
		is, _ := is.([]any)
		for i := range min(len(was), len(is)) {
			n.find(was[i], is[i], at+"[]")
		}
	}
}

// without are the mappings and lists of one mapping that another one does not have.
func without(m, other map[string]any) (out []string) {
	for k, v := range m {
		_, isMap := v.(map[string]any)
		_, isList := v.([]any)
		if _, both := other[k]; (isMap || isList) && !both {
			out = append(out, k)
		}
	}
	return out
}

// valuesOf are the documents of a text; none where it is not YAML. A List is nothing but its items, as it
// is to kubectl: one without items is left where each side has deleted some, or one all with the List.
func valuesOf(text string) (out []any) {
	f, err := yamldoc.Parse([]byte(text))
	if err != nil {
		return nil
	}
	for _, d := range f.Documents() {
		v := d.Value()
		fields, _ := v.(map[string]any)
		items, _ := fields["items"].([]any)
		switch isList := fields["kind"] == "List"; {
		case isList:
			out = append(out, items...)
		case !isList && !d.Empty():
			out = append(out, v)
		}
	}
	return out
}

// path is a fact's path by the names of the sides.
func (n names) path(f string) string {
	path, what, _ := strings.Cut(f, " ")
	at := ""
	for i, step := range strings.Split(path, ".") {
		name, lists, _ := strings.Cut(step, "[]")
		if as := n[at+"."+name]; as != "" && i > 0 {
			name = as
		}
		if i > 0 {
			at += "."
		}
		if at += name; lists != "" || strings.HasSuffix(step, "[]") {
			at += "[]" + lists
		}
	}
	return at + " " + what
}

// facts are the scalars of a text with their paths, counted. A null is an absent field.
func (n names) facts(text string) map[string]int {
	out := map[string]int{}
	for _, v := range valuesOf(text) {
		n.gather(v, "[]", func(f string) { out[f]++ })
	}
	return out
}

// factsOfNamed are the facts of each object, and of each entry that has a name.
func factsOfNamed(text string) map[string]int {
	out := map[string]int{}
	for _, v := range valuesOf(text) {
		fields, _ := v.(map[string]any)
		gatherNamed(v, fmt.Sprint(fields["kind"], nameOf(fields["metadata"])), "[]", out)
	}
	return out
}

// nameOf identifies an entry: by its name, by the path that a kustomization's patches have, or as an
// item of a List by the kind and the name of the object.
func nameOf(v any) string {
	fields, _ := v.(map[string]any)
	meta, _ := fields["metadata"].(map[string]any)
	return fmt.Sprint(" ", fields["name"], fields["path"], fields["kind"], meta["name"])
}

func gatherNamed(v any, who, at string, out map[string]int) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			gatherNamed(e, who, at+"."+k, out)
		}
	case []any:
		for _, e := range v {
			gatherNamed(e, who+nameOf(e), at+"[]", out)
		}
	}
	scalar(v, at, func(f string) { out[who+"\x00"+f]++ })
}

// gather adds the facts of a value.
func (n names) gather(v any, at string, add func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if as := n[at+"."+k]; as != "" && v[as] == nil {
				k = as
			}
			n.gather(e, at+"."+k, add)
		}
	case []any:
		for _, e := range v {
			n.gather(e, at+"[]", add)
		}
	}
	scalar(v, at, add)
}

// scalar adds the facts of a value that holds no others.
func scalar(v any, at string, add func(string)) {
	switch v := v.(type) {
	case nil:
		return
	case map[string]any:
		if len(v) > 0 {
			return
		}
	case []any:
		if len(v) > 0 {
			return
		}
	case string:
		if len(v) > 80 && !strings.Contains(v, "\n") { // it stands on several lines, maybe
			for _, word := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
				add(at + " | " + word)
			}
			return
		}
		for line := range strings.Lines(v) { // lines are merged
			add(at + " | " + strings.TrimSpace(line))
		}
		if v != "" {
			return
		}
	}
	data, _ := json.Marshal(v)
	add(at + " = " + string(data))
}

// comments are the comments of a text, counted; a # that a string holds is read as one too.
func comments(text string) map[string]int {
	out := map[string]int{}
	for line := range strings.Lines(text) {
		line = " " + strings.TrimSpace(line)
		if _, c, ok := strings.Cut(line, " #"); ok && strings.TrimSpace(c) != "" {
			out["#"+c]++
		}
	}
	return out
}
