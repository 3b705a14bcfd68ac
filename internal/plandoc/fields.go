package plandoc

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/yamldoc"
)

// fieldsAt holds the fields of a mapping at a place of a document. Taken fields are removed, so the
// fields left at the end are unknown ones.
type fieldsAt struct {
	*decoder
	doc  *yamldoc.Document
	path merge.Path
	left map[string]any
}

// of returns the same place with the fields of v, which must be a mapping.
func (f fieldsAt) of(v any) (fieldsAt, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return f, f.fail(f.path, "must be a mapping")
	}
	f.left = maps.Clone(m)
	return f, nil
}

// at returns the place one field further.
func (f fieldsAt) at(name string) fieldsAt {
	f.path, f.left = f.path.Child(merge.Named(name)), nil
	return f
}

func (f fieldsAt) entry(i int) fieldsAt {
	f.path, f.left = f.path.Child(merge.Step{Kind: merge.IndexStep, Index: i}), nil
	return f
}

// fail returns an error at a path: name, line, path, problem.
func (f fieldsAt) fail(p merge.Path, problem string) error {
	line := f.doc.LineOf(p)
	if len(p) > 0 && p[0].Kind == merge.IndexStep { // of an entry that was read separately
		p = p[1:]
	}
	if len(p) == 0 {
		return fmt.Errorf("%s: line %d: %s", f.name, line, problem)
	}
	return fmt.Errorf("%s: line %d: %s: %s", f.name, line, p, problem)
}

func (f fieldsAt) bad(name, problem string) error {
	return f.fail(f.path.Child(merge.Named(name)), problem)
}

func (f fieldsAt) take(name string) (any, bool) {
	v, ok := f.left[name]
	delete(f.left, name)
	return v, ok
}

// end returns an error if a field is left.
func (f fieldsAt) end() error {
	if len(f.left) == 0 {
		return nil
	}
	return f.bad(slices.Sorted(maps.Keys(f.left))[0], "is no field of a plan")
}

// text takes a field that must be a string, if it exists.
func (f fieldsAt) text(name string, to *string) error {
	v, given := f.take(name)
	if !given {
		return nil
	}
	s, ok := v.(string)
	if !ok {
		return f.bad(name, "must be text")
	}
	*to = s
	return nil
}

// texts takes several.
func (f fieldsAt) texts(to map[string]*string) error {
	for _, name := range slices.Sorted(maps.Keys(to)) {
		if err := f.text(name, to[name]); err != nil {
			return err
		}
	}
	return nil
}

// flag takes a field that must be true or false, if it exists.
func (f fieldsAt) flag(name string, to *bool) error {
	v, given := f.take(name)
	b, ok := v.(bool)
	if given && !ok {
		return f.bad(name, "must be true or false")
	}
	*to = b
	return nil
}

// mapping takes a field that must be a mapping and passes it to read, unless it is absent.
func (f fieldsAt) mapping(name string, read func(fieldsAt) error) error {
	v, given := f.take(name)
	if !given {
		return nil
	}
	inner, err := f.at(name).of(v)
	if err != nil {
		return err
	}
	if err := read(inner); err != nil {
		return err
	}
	return inner.end()
}

// each takes a field that must be a list of mappings and passes each of them to read.
func (f fieldsAt) each(name string, read func(fieldsAt) error) error {
	v, _ := f.take(name)
	list, ok := v.([]any)
	if v != nil && !ok {
		return f.bad(name, "must be a list")
	}
	for i, e := range list {
		inner, err := f.at(name).entry(i).of(e)
		if err == nil {
			err = read(inner)
		}
		if err == nil {
			err = inner.end()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// strings takes a field that must be a list of strings; nil if it is absent.
func (f fieldsAt) strings(name string) ([]string, error) {
	v, given := f.take(name)
	if !given {
		return nil, nil
	}
	list, ok := v.([]any)
	out := make([]string, len(list))
	for i, e := range list {
		s, isText := e.(string)
		out[i], ok = s, ok && isText
	}
	if !ok {
		return nil, f.bad(name, "must be a list of texts")
	}
	return out, nil
}

// opt takes a value that may be absent.
func (f fieldsAt) opt(name string) merge.Opt {
	v, given := f.take(name)
	return merge.Opt{Value: v, Set: given}
}
