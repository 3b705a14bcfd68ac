package plandoc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Most is the maximum size of a document.
const Most = 512 << 20

// Parse reads a document strictly: an unknown field, a wrong type or a missing one is an error that
// begins with name and line, and so is a text that was cut off: without its summary, or with other
// objects than the summary counts. Errors quote no value but the kind and apiVersion of another document.
//
// The last object of an unfinished record may be cut off in the middle: its write was not begun, or
// its former entry is correct, and it is left out.
func Parse(name string, text []byte) (*Document, error) {
	if len(text) > Most {
		return nil, fmt.Errorf("%s: is larger than %d MiB", name, Most>>20)
	}
	if bytes.HasPrefix(text, []byte("--- ")) || bytes.HasPrefix(text, []byte("diff ")) {
		return nil, fmt.Errorf("%s: %w, but a diff", name, ErrOther)
	}
	return (&decoder{name: name}).document(text)
}

// decoder reads one document.
type decoder struct {
	name    string
	reader  yamldoc.Reader
	offline bool  // saved objects, which need not have a uid
	err     error // the first one
}

// document reads a text in parts, if it has the layout of Writer: the tree of a whole document
// takes many times its size. Any other text is read at once.
func (d *decoder) document(text []byte) (*Document, error) {
	head, items, tail := split(text)
	if items == nil {
		doc, err := d.top(text, true)
		return doc, cmp.Or(err, d.whole(doc, text))
	}
	blank := bytes.Count(text, newline) - bytes.Count(head, newline) - bytes.Count(tail, newline) // in place of its objects
	doc, err := d.top(slices.Concat(head, bytes.Repeat(newline, blank), tail), false)
	if err == nil && doc.Summary == nil && !doc.Unfinished {
		err = d.whole(doc, text)
	}
	if err != nil {
		return nil, err
	}
	line := 1 + bytes.Count(head, newline) + 1
	for i, part := range items {
		item, err := d.part(part, line)
		switch {
		case err != nil && doc.Unfinished && i == len(items)-1: // was being written when the run was killed
		case err != nil:
			return nil, err
		default:
			doc.Items = append(doc.Items, item)
		}
		line += bytes.Count(part, newline)
	}
	return doc, d.whole(doc, text)
}

// whole returns an error unless all objects that were written are in the document. It takes the last
// one out of an unfinished record if it is cut off.
func (d *decoder) whole(doc *Document, text []byte) error {
	switch {
	case doc == nil:
		return nil
	case doc.Summary == nil && !doc.Unfinished:
		return fmt.Errorf("%s: is cut off behind line %d, its summary is missing", d.name, 1+bytes.Count(bytes.TrimSpace(text), newline))
	case doc.Summary == nil:
		last := len(doc.Items) - 1
		if i := slices.IndexFunc(doc.Items, func(i Item) bool { return !i.Complete }); i >= 0 && i < last {
			return fmt.Errorf("%s: line %d: is cut off in the middle of this object", d.name, doc.Items[i].Line)
		} else if i == last && i >= 0 {
			doc.Items = doc.Items[:last]
		}
		return nil
	}
	counts := map[apply.Action]int{}
	for _, item := range doc.Items {
		counts[item.Action]++
	}
	for _, a := range actions {
		if n := doc.Summary.Counts[a]; n != counts[a] {
			return fmt.Errorf("%s: summary.%s: is %d, and %d are listed: it was edited, or objects of it are lost", d.name, a, n, counts[a])
		}
	}
	return nil
}

var newline = []byte("\n")

// split cuts a text at its list of objects, and the list into its entries. items is nil if the text
// has another layout.
func split(text []byte) (head []byte, items [][]byte, tail []byte) {
	at := bytes.Index(text, []byte("\n"+objectsLine))
	if at < 0 {
		return nil, nil, nil
	}
	head, rest := text[:at+1], text[at+1+len(objectsLine):]
	begin, from := 0, 0
	for line := range bytes.Lines(rest) {
		next := bytes.HasPrefix(line, []byte("- "))
		over := !next && line[0] != ' ' && line[0] != '\n' && line[0] != '\r'
		if (next || over) && from > begin {
			items, begin = append(items, rest[begin:from]), from
		}
		switch {
		case over && items == nil:
			return nil, nil, nil
		case over:
			return head, items, rest[from:]
		}
		from += len(line)
	}
	if begin < len(rest) {
		items = append(items, rest[begin:])
	}
	if items == nil {
		items = [][]byte{}
	}
	return head, items, nil
}

// part reads one entry of the list, which begins on that line.
func (d *decoder) part(text []byte, line int) (Item, error) {
	doc, err := d.parse(text, line)
	if err != nil {
		return Item{}, err
	}
	list, ok := doc.Value().([]any)
	if !ok || len(list) != 1 {
		return Item{}, fmt.Errorf("%s: line %d: objects: must be a list of objects", d.name, line)
	}
	var item Item
	d.err = nil
	at := fieldsAt{d, doc, merge.Path{{Kind: merge.IndexStep}}, nil, nil}
	at.read(list[0], item.read)
	return item, d.err
}

// read is the codec's reading of an object.
func (i *Item) read(c codec) {
	at := c.(fieldsAt)
	i.Line = at.doc.LineOf(at.path)
	i.head(c)
	if i.UID == "" && !at.offline && (i.Action == apply.Change || i.Action == apply.Delete) {
		c.bad("", "must have the uid of the object: without it the plan would be bound to none")
	}
	texts(c, "notes", &i.Notes)
	i.tail(c)
}

func (d *decoder) parse(text []byte, line int) (*yamldoc.Document, error) {
	f, err := d.reader.Parse(string(text), line)
	var bad *yamldoc.Error
	switch {
	case errors.As(err, &bad):
		return nil, fmt.Errorf("%s: line %d: %s", d.name, bad.Line, bad.Problem)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", d.name, err)
	case len(f.Documents()) > 1:
		return nil, fmt.Errorf("%s: line %d: has more than one document: a plan is one", d.name, f.Documents()[1].Line())
	}
	return f.Documents()[0], nil
}

// ErrOther is the error of a file that is something else.
var ErrOther = errors.New("is neither a plan nor a record of a run")

// top reads the parts around the objects and, if they are asked for, the objects.
func (d *decoder) top(text []byte, objects bool) (*Document, error) {
	at, err := d.parse(text, 1)
	if err != nil {
		return nil, err
	}
	m, _ := at.Value().(map[string]any)
	kind, from := merge.At[string](m, "kind"), merge.At[string](m, "apiVersion")
	switch group, _, _ := strings.Cut(APIVersion, "/"); {
	case len(bytes.TrimSpace(text)) == 0:
		return nil, fmt.Errorf("%s: is empty, as a command that fails leaves it", d.name)
	case kind == "":
		return nil, fmt.Errorf("%s: %w", d.name, ErrOther)
	case kind != Kind || !strings.HasPrefix(from, group+"/"):
		return nil, fmt.Errorf("%s: %w, but kind %s of apiVersion %s", d.name, ErrOther, kind, cmp.Or(from, "none"))
	case from != APIVersion:
		return nil, fmt.Errorf("%s: line %d: apiVersion: must be %s: another version of kubectl merge has written it, and reads it", d.name, at.LineOf(merge.Path{merge.Named("apiVersion")}), APIVersion)
	case objects && m["objects"] == nil && m["summary"] == nil && m["unfinished"] != true:
		return nil, d.whole(&Document{}, text)
	}
	doc := &Document{}
	top := fieldsAt{d, at, nil, nil, nil}
	top.read(m, func(c codec) {
		doc.fields(c)
		d.offline = doc.Cluster.Offline
		optional(c, "summary", &doc.Summary, (*Summary).fields)
		if objects {
			each(c, "objects", &doc.Items, (*Item).read)
		}
	})
	if _, there := m["objects"]; objects && !there {
		top.bad("objects", "must be a list")
	}
	return doc, d.err
}
