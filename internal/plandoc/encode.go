package plandoc

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
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
			texts(c, "objects", &[]string{})
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
	out, _ := encoded("  ", func(c codec) { texts(c, "notes", &notes) }) // texts never fail
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

func (e *encoder) field(name string, v merge.Opt, _ func(merge.Opt) string) {
	if v.Set {
		e.put(name, v.Value)
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

// codec is a mapping of a document that is being written or read. Each field is listed once, for
// both directions: an encoder takes its value, a decoder sets it.
type codec interface {
	// field is left out if v is absent. read takes what was decoded, and returns what is wrong with it.
	field(name string, v merge.Opt, read func(merge.Opt) (problem string))
	mapping(name string, used bool, fields func(codec))
	list(name string, n int, entry func(i int, c codec))
	bad(name, problem string) // of what was decoded; name "" is the mapping itself
}

// textField passes a string, which is left out if it is empty; read takes "" for an absent one.
func textField(c codec, name, v string, read func(string) (problem string)) {
	c.field(name, merge.Opt{Value: v, Set: v != ""}, func(o merge.Opt) string {
		s, ok := o.Value.(string)
		if o.Set && !ok {
			return "must be text"
		}
		return read(s)
	})
}

// codeText passes a string to which nothing applies.
func codeText(c codec, name string, v *string) {
	textField(c, name, *v, func(s string) string {
		*v = s
		return ""
	})
}

func flag(c codec, name string, v *bool) {
	c.field(name, merge.Opt{Value: true, Set: *v}, func(o merge.Opt) (problem string) {
		*v, problem = o.Value == true, unless(!o.Set || o.Value == true || o.Value == false, "must be true or false")
		return problem
	})
}

func number(c codec, name string, v *int) {
	c.field(name, merge.Some(json.Number(strconv.Itoa(*v))), func(o merge.Opt) string {
		count, err := strconv.Atoi(merge.At[json.Number](o.Value).String())
		*v = count
		return unless(!o.Set || err == nil && count >= 0, "must be a number")
	})
}

func valueField(c codec, name string, v *merge.Opt) {
	c.field(name, *v, func(o merge.Opt) string {
		*v = o
		return ""
	})
}

// texts passes a list of strings, which is left out if it is nil.
func texts(c codec, name string, v *[]string) {
	c.field(name, merge.Opt{Value: object.Each(*v, func(s string) any { return s }), Set: *v != nil}, func(o merge.Opt) string {
		list, ok := o.Value.([]any)
		if !o.Set {
			return ""
		}
		*v = make([]string, len(list))
		for i, e := range list {
			s, isText := e.(string)
			(*v)[i], ok = s, ok && isText
		}
		return unless(ok, "must be a list of texts")
	})
}

// each passes a list of mappings.
func each[T any](c codec, name string, all *[]T, fields func(*T, codec)) {
	c.list(name, len(*all), func(i int, c codec) {
		if i == len(*all) {
			*all = append(*all, *new(T))
		}
		fields(&(*all)[i], c)
	})
}

// optional passes a mapping that may be absent.
func optional[T any](c codec, name string, v **T, fields func(*T, codec)) {
	c.mapping(name, *v != nil, func(c codec) {
		if *v == nil {
			*v = new(T)
		}
		fields(*v, c)
	})
}

func (h *Header) fields(c codec) {
	version, kind := APIVersion, Kind // were checked before
	codeText(c, "apiVersion", &version)
	codeText(c, "kind", &kind)
	c.mapping("cluster", true, func(c codec) {
		codeText(c, "uid", &h.Cluster.UID)
		codeText(c, "server", &h.Cluster.Server)
		flag(c, "offline", &h.Cluster.Offline)
	})
	if h.Cluster == (Cluster{}) {
		c.bad("cluster", "must have the uid of the cluster: without it the plan would be bound to none")
	}
	optional(c, "set", &h.Set, func(s *Set, c codec) {
		codeText(c, "id", &s.ID)
		codeText(c, "parent", &s.Parent)
		codeText(c, "namespace", &s.Namespace)
	})
	flag(c, "serverSide", &h.ServerSide)
	flag(c, "record", &h.Record)
	rules := ""
	if h.Record {
		flag(c, "unfinished", &h.Unfinished)
		codeText(c, "manager", &h.Manager)
		rules = h.Rules.SensitiveText()
	}
	textField(c, "sensitive", rules, func(s string) string {
		var err error
		if h.Rules, err = schema.ParseRules([]byte(s)); err != nil {
			return "must be rules: " + err.Error()
		}
		return ""
	})
	textField(c, "secrets", map[bool]string{true: "shown", false: "hashed"}[h.ShowSecrets], func(s string) string {
		h.ShowSecrets = s == "shown"
		return unless(h.ShowSecrets || s == "hashed", "must be shown or hashed")
	})
	textField(c, "salt", base64.StdEncoding.EncodeToString(h.Salt), func(s string) string {
		var err error
		h.Salt, err = base64.StdEncoding.DecodeString(s)
		return unless(err == nil && len(h.Salt) >= 8, "must be at least 8 bytes in base64")
	})
}

// unless returns the problem if there is one.
func unless(fine bool, problem string) string {
	if fine {
		return ""
	}
	return problem
}

func (s *Summary) fields(c codec) {
	if s.Counts == nil {
		s.Counts = map[apply.Action]int{}
	}
	for _, a := range actions {
		n := s.Counts[a]
		number(c, string(a), &n)
		s.Counts[a] = n
	}
	number(c, "unchanged", &s.Unchanged)
}

// head passes the fields before the notes.
func (i *Item) head(c codec) {
	textField(c, "action", string(i.Action), func(s string) string {
		i.Action = apply.Action(s)
		if slices.Contains(actions, i.Action) {
			return ""
		}
		names := strings.Fields(strings.Trim(fmt.Sprint(actions), "[]"))
		return "must be one of " + strings.Join(names, ", ") + suggest.Hint(s, names)
	})
	codeText(c, "apiVersion", &i.APIVersion)
	codeText(c, "kind", &i.Kind)
	codeText(c, "namespace", &i.Namespace)
	codeText(c, "name", &i.Name)
	codeText(c, "uid", &i.UID)
	codeText(c, "resourceVersion", &i.ResourceVersion)
	codeText(c, "impact", &i.Impact)
	codeText(c, "reason", &i.Reason)
	if i.APIVersion == "" || i.Kind == "" || i.Name == "" {
		c.bad("", "must have apiVersion, kind and name")
	}
}

// tail passes the fields after the notes.
func (i *Item) tail(c codec) {
	textField(c, "outcome", string(i.Outcome), func(s string) string {
		i.Outcome = Outcome(s)
		return unless(slices.Contains([]Outcome{"", Begun, Done, Refused}, i.Outcome), "must be begun, done or refused")
	})
	c.mapping("written", i.Written.UID+i.Written.ResourceVersion != "", func(c codec) {
		codeText(c, "uid", &i.Written.UID)
		codeText(c, "resourceVersion", &i.Written.ResourceVersion)
		texts(c, "appliedBy", &i.Written.AppliedBy)
	})
	each(c, "conflicts", &i.Conflicts, func(at *ConflictAt, c codec) {
		codeText(c, "path", &at.Path)
		codeText(c, "reason", &at.Reason)
	})
	each(c, "changes", &i.Changes, (*ChangeOf).fields)
	optional(c, "lastApplied", &i.LastApplied, func(s *Sides, c codec) {
		if !s.Before.Set && !s.After.Set {
			s.After = merge.Some(nil)
		}
		valueField(c, "before", &s.Before)
		valueField(c, "after", &s.After)
		*s = Sides{stated(s.Before), stated(s.After)}
	})
	held := merge.Opt{Value: i.ManagedFields, Set: i.ManagedFields != nil}
	valueField(c, "managedFields", &held)
	if i.ManagedFields = merge.At[[]any](held.Value); held.Set && i.ManagedFields == nil {
		c.bad("managedFields", "must be a list")
	}
	flag(c, "complete", &i.Complete)
}

// stated returns o, and absent for null.
func stated(o merge.Opt) merge.Opt {
	o.Set = o.Set && o.Value != nil
	return o
}

func (c *ChangeOf) fields(to codec) {
	textField(to, "path", c.Path, func(s string) string {
		c.Path = s
		if _, err := c.ParsedPath(); err != nil {
			return err.Error()
		}
		return unless(s != "", "is missing")
	})
	valueField(to, "before", &c.Before)
	valueField(to, "after", &c.After)
	optional(to, "order", &c.Order, func(o *Order, to codec) {
		texts(to, "before", &o.Before)
		texts(to, "after", &o.After)
	})
	codeText(to, "reason", &c.Reason)
	if c.Order == nil && !c.Before.Set && !c.After.Set {
		to.bad("", "must have before or after")
	}
}

// ParsedPath returns the path of a change; empty for the whole object. The error is
// merge.ParsePath's.
func (c ChangeOf) ParsedPath() (merge.Path, error) {
	if c.Path == "." {
		return merge.Path{}, nil
	}
	return merge.ParsePath(c.Path)
}
