package files

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Values are the documents of a set, in order; nil for one that is empty.
func (s *Set) Values() []any {
	return slices.Concat(object.Each(s.Files, func(f *File) []any { return docValues(f.YAML) })...)
}

// Rewrite gives the files in which a document is to hold something else: values are those of
// Values, each as it is or changed. A file in which nothing changes is not returned. Errors
// name file and line of a document that cannot be edited; the other files are returned beside
// them.
func (s *Set) Rewrite(values []any) ([]Changed, error) {
	var out []Changed
	var errs []error
	i := 0
	for _, f := range s.Files {
		texts := map[*yamldoc.Document][]byte{}
		for _, d := range f.YAML.Documents() {
			if !merge.Identical(d.Value(), values[i]) {
				text, err := d.Edit(yamldoc.Edit{Want: values[i]})
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: line %d: %w", f.Where(), d.Line(), err))
				}
				texts[d] = text
			}
			i++
		}
		if text := f.YAML.Assemble(texts, nil); len(texts) > 0 && string(text) != string(f.YAML.Text()) {
			out = append(out, Changed{Name: f.Name, File: f, Text: text, Plain: text})
		}
	}
	return out, errors.Join(errs...)
}

// Stream is every file of a set as one YAML stream, with changes made: what is
// printed where nothing is written. What is not YAML is not in it.
func (s *Set) Stream(changed []Changed) []byte {
	by := map[string]Changed{}
	for _, c := range changed {
		if !c.lines {
			by[c.Name] = c
		}
	}
	var out []byte
	add := func(text []byte) {
		if len(out) > 0 && len(text) > 0 {
			if out[len(out)-1] != '\n' {
				out = append(out, '\n')
			}
			if !bytes.HasPrefix(text, []byte("---")) {
				out = append(out, "---\n"...)
			}
		}
		out = append(out, text...)
	}
	for _, f := range s.Files {
		if c, ok := by[f.Name]; ok {
			add(c.Text)
			continue
		}
		add(f.YAML.Text())
	}
	for _, c := range changed {
		if c.File == nil && !c.lines {
			add(c.Text)
		}
	}
	return out
}
