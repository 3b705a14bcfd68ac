package source

import (
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// At returns the place of a field of an object from this package, as errors name it: web.yaml: line
// 7. The file is read again for it, so it is for errors that end a run. If that is impossible
// (standard input, a URL), or the field is missing, At returns the object's place.
func At(o object.Object, p merge.Path) string {
	at := o.Origin
	if line := lineOf(o, p); line > 0 {
		return fmt.Sprintf("%s: line %d", at.File, line)
	}
	return at.String()
}

// onItsLine puts the line of the field into an error, instead of the object's.
func onItsLine(err error) error {
	var field *object.FieldError
	if !errors.As(err, &field) {
		return err
	}
	p, bad := merge.ParsePath(field.Path)
	if bad != nil {
		return err
	}
	if line := lineOf(field.Object, p); line > 0 {
		field.Object.Origin.Line = line
	}
	return field
}

func lineOf(o object.Object, p merge.Path) int {
	if Special(o.Origin.File) != "" { // a pipe can be read only once
		return 0
	}
	data, err := ReadFile(o.Origin.File)
	if err != nil {
		return 0
	}
	chunks, err := split(data)
	if err != nil {
		return 0
	}
	for _, c := range chunks {
		if c.nth != o.Origin.Document {
			continue
		}
		f, err := new(yamldoc.Reader).Parse(c.text, c.line)
		if err != nil {
			return 0
		}
		for _, d := range f.Documents() {
			if line := d.LineBelow(o.Origin.Line, p); line > 0 {
				return line
			}
		}
	}
	return 0
}
