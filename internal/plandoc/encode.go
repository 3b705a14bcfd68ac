package plandoc

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/yamldoc"
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
	return &Writer{w: w, summary: Summary{Counts: map[Action]int{}}}, err
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
func (d *Writer) Count(a Action) { d.summary.Counts[a]++ }

// Unchanged counts an object that is left out, since it is not changed.
func (d *Writer) Unchanged() { d.summary.Unchanged++ }

// Close writes the summary, by which a whole document is recognized. The error is that of the
// underlying writer.
func (d *Writer) Close() error {
	var b builder
	if !d.begun {
		b.field("", "objects", []any{})
	}
	b.line("summary:")
	for _, a := range actions {
		b.field("  ", string(a), number(d.summary.Counts[a]))
	}
	b.field("  ", "unchanged", number(d.summary.Unchanged))
	_, err := d.w.Write(b.Bytes())
	return err
}

const objectsLine = "objects:\n"

func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }

// Encode returns the header in its document form. The error is that of a text that cannot be
// encoded.
func (h Header) Encode() ([]byte, error) {
	var b builder
	b.field("", "apiVersion", APIVersion)
	b.field("", "kind", Kind)
	b.line("cluster:")
	b.text("  ", "uid", h.Cluster.UID)
	b.text("  ", "server", h.Cluster.Server)
	if h.Cluster.Offline {
		b.field("  ", "offline", true)
	}
	if h.Set != nil {
		b.line("set:")
		b.text("  ", "id", h.Set.ID)
		b.text("  ", "parent", h.Set.Parent)
		b.text("  ", "namespace", h.Set.Namespace)
	}
	if h.ServerSide {
		b.field("", "serverSide", true)
	}
	if h.Record {
		b.field("", "record", true)
		b.text("", "sensitive", h.Rules.SensitiveText())
	}
	b.field("", "secrets", map[bool]string{true: "shown", false: "hashed"}[h.ShowSecrets])
	b.field("", "salt", base64.StdEncoding.EncodeToString(h.Salt))
	return b.Bytes(), b.err
}

// Encode returns the object as an entry of a document's list. The error quotes no value.
func (i Item) Encode() ([]byte, error) {
	head, tail, err := i.Parts()
	return slices.Concat(head, Notes(i.Notes), tail), err
}

// Notes encodes notes as they appear between the Parts of an object; empty for none.
func Notes(notes []string) []byte {
	var b builder
	if len(notes) > 0 {
		b.field("  ", "notes", texts(notes)) // texts never fail
	}
	return b.Bytes()
}

// Parts returns the text of Encode before and after the object's notes. The error quotes no value.
func (i Item) Parts() (head, tail []byte, err error) {
	var b builder
	b.field("- ", "action", string(i.Action))
	b.text("  ", "apiVersion", i.APIVersion)
	b.text("  ", "kind", i.Kind)
	b.text("  ", "namespace", i.Namespace)
	b.text("  ", "name", i.Name)
	b.text("  ", "uid", i.UID)
	b.text("  ", "resourceVersion", i.ResourceVersion)
	b.text("  ", "impact", i.Impact)
	b.text("  ", "reason", i.Reason)
	head = bytes.Clone(b.Bytes())
	b.Reset()
	b.text("  ", "outcome", string(i.Outcome))
	if i.Written != (Written{}) {
		b.line("  written:")
		b.text("    ", "uid", i.Written.UID)
		b.text("    ", "resourceVersion", i.Written.ResourceVersion)
	}
	if len(i.Conflicts) > 0 {
		b.line("  conflicts:")
	}
	for _, c := range i.Conflicts {
		b.field("  - ", "path", c.Path)
		b.text("    ", "reason", c.Reason)
	}
	if len(i.Changes) > 0 {
		b.line("  changes:")
	}
	for _, c := range i.Changes {
		b.change(c)
	}
	if s := i.LastApplied; s != nil {
		b.line("  lastApplied:")
		b.sides("    ", *s)
		if !s.Before.Set && !s.After.Set {
			b.field("    ", "after", nil)
		}
	}
	return head, bytes.Clone(b.Bytes()), b.err // without the buffer's spare capacity
}

// builder writes fields in a given order.
type builder struct {
	bytes.Buffer
	err error
}

func (b *builder) line(text string) { b.WriteString(text + "\n") }

// text writes a field, and nothing for "".
func (b *builder) text(lead, key, v string) {
	if v != "" {
		b.field(lead, key, v)
	}
}

// field writes a field. lead is the beginning of its first line; the others are indented as far.
func (b *builder) field(lead, key string, v any) {
	if yamldoc.Deep(v) { // is printed as one line of JSON, which a block cannot contain
		text, err := json.Marshal(v)
		b.err = cmp.Or(b.err, err)
		b.line(lead + key + ": " + string(escape.JSON(text)))
		return
	}
	text, err := yamldoc.Encode(map[string]any{key: v})
	if err != nil && b.err == nil {
		b.err = err
		return
	}
	rest := bytes.Repeat([]byte(" "), len(lead))
	for i, line := range bytes.SplitAfter(text, []byte("\n")) {
		switch {
		case len(line) == 0:
			continue
		case i == 0:
			b.WriteString(lead)
		case len(line) > 1: // a blank line of a block needs no spaces
			b.Write(rest)
		}
		b.Write(line)
	}
}

func (b *builder) sides(lead string, s Sides) {
	b.side(lead, "before", s.Before)
	b.side(lead, "after", s.After)
}

func (b *builder) side(lead, key string, v merge.Opt) {
	if v.Set {
		b.field(lead, key, v.Value)
	}
}

func (b *builder) change(c ChangeOf) {
	b.field("  - ", "path", c.Path)
	b.sides("    ", c.Sides)
	if c.Order != nil {
		b.line("    order:")
		b.steps("before", c.Order.Before)
		b.steps("after", c.Order.After)
	}
	b.text("    ", "reason", c.Reason)
}

func (b *builder) steps(key string, steps []string) {
	if steps == nil {
		return
	}
	b.field("      ", key, texts(steps))
}

func texts(all []string) []any {
	list := make([]any, len(all))
	for i, s := range all {
		list[i] = s
	}
	return list
}
