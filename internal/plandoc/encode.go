package plandoc

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Writer writes a document object by object, and keeps none of them.
type Writer struct {
	w       io.Writer
	begun   bool
	summary Summary
}

// NewWriter writes the header. The error is w's, or that of a value that cannot be encoded.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	text, err := h.Encode()
	if err != nil {
		return nil, err
	}
	_, err = w.Write(text)
	return &Writer{w: w, summary: Summary{Counts: map[apply.Action]int{}}}, err
}

// Raw writes an object as Item.Encode has it, without counting it. The error is that of the
// underlying writer.
func (d *Writer) Raw(text []byte) error {
	if !d.begun {
		text = append([]byte(objectsLine), text...)
	}
	d.begun = true
	_, err := d.w.Write(text)
	return err
}

// Count counts an object in the summary.
func (d *Writer) Count(a apply.Action) { d.summary.Counts[a]++ }

// Unchanged counts an object that is left out, since it is not changed.
func (d *Writer) Unchanged() { d.summary.Unchanged++ }

// Close writes the summary, by which a whole document is recognized. The error is that of the
// underlying writer.
func (d *Writer) Close() error {
	text, _ := encoded("", func(c codec) { // numbers never fail
		if !d.begun {
			c.texts("objects", &[]string{})
		}
		c.mapping("summary", true, d.summary.fields)
	})
	_, err := d.w.Write(text)
	return err
}

const objectsLine = "objects:\n"

// End is written behind each object of an unfinished record.
const End = "  complete: true\n"

// Encode returns the header in its document form. The error is that of a text that cannot be
// encoded.
func (h Header) Encode() ([]byte, error) { return encoded("", h.fields) }

// Encode returns the object as an entry of a document's list. The error quotes no value.
func (i Item) Encode() ([]byte, error) {
	head, tail, err := i.Parts()
	return slices.Concat(head, Notes(i.Notes), tail), err
}

// Notes encodes notes as they appear between the Parts of an object; empty for none.
func Notes(notes []string) []byte {
	if len(notes) == 0 {
		return nil
	}
	out, _ := encoded("  ", func(c codec) { c.texts("notes", &notes) }) // texts never fail
	return out
}

// Parts returns the text of Encode before and after the object's notes. The error quotes no value.
func (i Item) Parts() (head, tail []byte, err error) {
	head, err = encoded("- ", i.head)
	if err == nil {
		tail, err = encoded("  ", i.tail)
	}
	return head, tail, err
}

// encoded returns the text of fields, the first of which begins with lead.
func encoded(lead string, fields func(codec)) ([]byte, error) {
	var b builder
	fields(&encoder{&b, lead})
	return bytes.Clone(b.Bytes()), b.err // without the buffer's spare capacity
}

// encoder is the codec that writes a mapping.
type encoder struct {
	*builder
	lead string // of the next field
}

// put writes a field, whose first line begins with the lead; the others are indented as far.
func (e *encoder) put(name string, v any) {
	lead := e.lead
	e.lead = strings.Repeat(" ", len(lead))
	if yamldoc.Deep(v) { // is printed as one line of JSON, which a block cannot contain
		text, err := json.Marshal(v)
		e.err = cmp.Or(e.err, err)
		e.line(lead + name + ": " + string(escape.JSON(text)))
		return
	}
	text, err := yamldoc.Encode(map[string]any{name: v})
	if err != nil && e.err == nil {
		e.err = err
		return
	}
	for i, line := range bytes.SplitAfter(text, []byte("\n")) {
		switch {
		case len(line) == 0:
			continue
		case i == 0:
			e.WriteString(lead)
		case len(line) > 1: // a blank line of a block needs no spaces
			e.WriteString(e.lead)
		}
		e.Write(line)
	}
}

func (e *encoder) textField(name, v string, _ func(string) string) {
	if v != "" {
		e.put(name, v)
	}
}

func (e *encoder) flag(name string, v *bool) {
	if *v {
		e.put(name, true)
	}
}

func (e *encoder) number(name string, v *int) { e.put(name, json.Number(strconv.Itoa(*v))) }

func (e *encoder) valueField(name string, v *merge.Opt) {
	if v.Set {
		e.put(name, v.Value)
	}
}

func (e *encoder) texts(name string, v *[]string) {
	if *v != nil {
		e.put(name, object.Each(*v, func(s string) any { return s }))
	}
}

func (e *encoder) mapping(name string, used bool, fields func(codec)) {
	if used {
		e.line(e.lead + name + ":")
		fields(&encoder{e.builder, e.lead + "  "})
	}
}

func (e *encoder) list(name string, n int, entry func(int, codec)) {
	if n > 0 {
		e.line(e.lead + name + ":")
	}
	for i := range n {
		entry(i, &encoder{e.builder, e.lead + "- "})
	}
}

func (e *encoder) bad(string, string) {} // what is written was not read

// builder writes fields in a given order.
type builder struct {
	bytes.Buffer
	err error
}

func (b *builder) line(text string) { b.WriteString(text + "\n") }
