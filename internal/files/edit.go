package files

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Edited is a file whose objects are edited in place. Every other byte of it stays.
type Edited struct {
	Name     string
	Old, Now []byte
	Hidden   bool // holds values of a Secret in another form than one that Diff masks

	folder string // the given folder in which the file was found; "" if it was named itself
}

// Diff is the unified diff of the file, of which git apply takes a whole one: nothing is hidden in it;
// see Diff.
func (e *Edited) Diff(h Hiding) (text string, whole bool) {
	d := Texts{From: "a/" + e.Name, To: "b/" + e.Name, Old: string(e.Old), Now: string(e.Now)}
	if e.Old == nil {
		d.From = "/dev/null"
	}
	text, err := Diff(d, h)
	switch {
	case e.Hidden, err != nil && !errors.As(err, new(noYAML)): // what is secret in it cannot be masked
		return fmt.Sprintf("--- %s\n+++ %s\n(values of a Secret, which are not shown)\n", escape.Line(d.From), escape.Line(d.To)), false
	case err != nil: // a text of a ConfigMap, which kustomize generates
		text = unified(d)
	}
	return text, text == diff.Text(d, 3)
}

// Stated is an object as a file states it: a document, or an item of a List.
type Stated struct {
	Object object.Object  // with the kind that its list gives it, and its line
	Value  map[string]any // as it is written
	Doc    *yamldoc.Document
	At     merge.Path // of the object in the document
}

// is reports whether it states an object that was read from this file before. The object is in the
// namespace that the user has given it where the file states none.
func (s Stated) is(o object.Object) bool {
	ns := s.Object.Namespace()
	same := o.Origin.Line == s.Object.Origin.Line && (ns == "" || o.Namespace() == "" || ns == o.Namespace())
	return same && merge.Identical(s.Object.InNamespace(o.Namespace()).Value, o.Value)
}

// editing returns the value that an object is to have, and its type; nil if it stays as it is.
type editing func(Stated) (want any, typ *merge.Type, err error)

// Edits are edits of objects in the files that they were read from.
type Edits struct {
	Given []string // the files and folders that were named
	Verb  string   // of the user, who can run it again

	// Edit returns the value that the object of that index is to have, and its type.
	Edit func(i int, s Stated) (want any, typ *merge.Type, err error)

	// Leave is told which objects a file states, and an anchor that others use with another value than
	// Edit returns. It reports whether Edit returns something else now. nil: aliases are written out.
	Leave func(found map[int]Stated, anchor string) bool
}

// Of computes the texts of the files. Those that stay as they are are not returned. The error joins
// those of all files, with their names.
func (e Edits) Of(objects []object.Object) (all []*Edited, err error) {
	in := map[string][]int{}
	for i, o := range objects {
		in[o.Origin.File] = append(in[o.Origin.File], i)
	}
	for _, o := range objects {
		name := o.Origin.File
		those := in[name]
		if delete(in, name); those == nil {
			continue
		}
		edited, bad := e.file(name, objects, those)
		if bad != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", name, bad))
		} else if !bytes.Equal(edited.Old, edited.Now) {
			all = append(all, edited)
		}
	}
	return all, err
}

// file computes the text of a file, which states those objects. One that is stated again is edited
// there, too: only the first was read.
func (e Edits) file(name string, objects []object.Object, those []int) (*Edited, error) {
	edited, err := readEdited(name, e.Given)
	for err == nil {
		found := map[int]Stated{}
		edited.Now, err = editText(edited.Old, e.Leave != nil, func(s Stated) (any, *merge.Type, error) {
			at := slices.IndexFunc(those, func(i int) bool {
				return s.is(objects[i]) || found[i].Doc != nil && s.Object.Same(found[i].Object)
			})
			if at < 0 {
				return nil, nil, nil
			}
			found[those[at]] = s
			return e.Edit(those[at], s)
		})
		shared, ok := errors.AsType[*yamldoc.AliasError](err)
		switch {
		case ok && e.Leave != nil && e.Leave(found, shared.Anchor):
			err = nil
		case err == nil && len(found) < len(those):
			err = fmt.Errorf("has changed since it was read: nothing was written; %s again", e.Verb)
		default:
			return edited, err
		}
	}
	return nil, err
}

// readEdited reads a file to edit. given is that of Edits.
func readEdited(name string, given []string) (*Edited, error) {
	e := &Edited{Name: name, folder: folderOf(name, given)}
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() || errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("is no file that -w could write: give files with -f")
	}
	if err == nil {
		err = leadsOut(e.folder, name)
	}
	if err == nil {
		e.Old, err = source.ReadFile(name)
	}
	return e, err
}

// editText computes the text of a YAML file with edited objects; aliases is that of yamldoc.Edit. The
// error is that of a text that cannot be read or edited, or of edit.
func editText(text []byte, aliases bool, edit editing) ([]byte, error) {
	parsed, err := yamldoc.Parse(text)
	if err != nil {
		return nil, err
	}
	return parsed.Changed(func(_ int, doc *yamldoc.Document) ([]byte, error) { return editDocument(doc, aliases, edit) })
}

// editDocument returns the new text of a document: an object, or a List; nil if it stays.
func editDocument(doc *yamldoc.Document, aliases bool, edit editing) (text []byte, err error) {
	obj, isMap := doc.Value().(map[string]any)
	if !isMap {
		return nil, nil
	}
	whole := object.Object{Value: obj, Origin: object.Origin{Line: doc.Line()}}
	items, isList := source.Items(whole)
	if !isList {
		want, typ, err := edit(Stated{Object: whole, Value: obj, Doc: doc})
		if want == nil || err != nil {
			return nil, err
		}
		return doc.Edit(yamldoc.Edit{Want: want, Type: typ, Aliases: aliases})
	}
	lines, list := doc.EntryLines("items"), merge.At[[]any](obj, "items")
	edited := map[*merge.Type]map[int]any{} // entries of lists are paired by their type
	var types []*merge.Type
	for i, item := range items {
		s := Stated{Doc: doc, At: merge.Path{merge.Named("items"), {Kind: merge.IndexStep, Index: i}}}
		s.Object.Value, _ = item.(map[string]any)
		s.Object.Origin.Line = lines[i]
		s.Value, _ = list[i].(map[string]any)
		want, typ, err := edit(s)
		if err != nil {
			return nil, err
		}
		if want == nil {
			continue
		}
		if edited[typ] == nil {
			edited[typ], types = map[int]any{}, append(types, typ)
		}
		edited[typ][i] = want
	}
	for _, typ := range types {
		if doc, err = editItems(doc, edited[typ], yamldoc.Edit{Type: typ, Aliases: aliases}); err != nil {
			return nil, err
		}
		text = doc.Text()
	}
	return text, nil
}

// editItems gives items of a List, all of the edit's type, new values.
func editItems(doc *yamldoc.Document, edited map[int]any, e yamldoc.Edit) (*yamldoc.Document, error) {
	obj, _ := doc.Value().(map[string]any)
	list := slices.Clone(merge.At[[]any](obj, "items"))
	for i, want := range edited {
		list[i] = want
	}
	e.Want, e.Type = merge.With(obj, list, "items"), ListType(e.Type)
	again, err := doc.Edited(e)
	if err != nil {
		return nil, err
	}
	return again.Documents()[0], nil
}

// ListType is the type of a List whose items are of a type.
func ListType(of *merge.Type) *merge.Type {
	items := merge.Field{Type: &merge.Type{Kind: merge.List, Elem: of}}
	return &merge.Type{Kind: merge.Object, Open: true, Fields: map[string]merge.Field{"items": items}}
}

// folderOf returns the given folder that a file was found in; "" if it was named itself.
func folderOf(name string, given []string) string {
	for _, at := range given {
		below, err := filepath.Rel(at, name)
		if err != nil || !filepath.IsLocal(below) || below == "." {
			continue
		}
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			return at
		}
	}
	return ""
}

// ReplaceAll replaces the content of edited files, and creates those that were not there (a nil Old):
// all or, if one cannot be written, none; see Write.
func ReplaceAll(all []*Edited) error { return replaceAll(all, (*writer).commit) }

// Rehearse is ReplaceAll without its last step: it returns the error that the files could not be
// written for, and leaves them as they are.
func Rehearse(all []*Edited) error {
	return replaceAll(all, func(*writer) error { return nil })
}

func replaceAll(all []*Edited, last func(*writer) error) error {
	if len(all) == 0 {
		return nil
	}
	changed := make([]Changed, len(all))
	top := ""
	for i, e := range all {
		at, err := e.writable()
		if err != nil {
			return fmt.Errorf("%s: %w; nothing was written", e.Name, err)
		}
		changed[i] = Changed{Name: at.Path, Text: e.Now, File: at}
		if e.Old == nil {
			changed[i].File = nil
		}
		folder := filepath.Dir(at.Path)
		top = common(cmp.Or(top, folder), folder)
	}
	for i, c := range changed {
		below, err := filepath.Rel(top, c.Name)
		if err != nil {
			return err
		}
		changed[i].Name = filepath.ToSlash(below)
	}
	return replace(&Set{Name: top, Folder: true}, changed, last)
}

// writable returns the file that an edited one leads to.
func (e *Edited) writable() (*File, error) {
	if err := leadsOut(e.folder, e.Name); err != nil {
		return nil, err
	}
	if e.Old == nil {
		at, err := filepath.Abs(e.Name)
		return &File{Path: at}, err
	}
	at, err := filepath.EvalSymlinks(e.Name)
	if err != nil {
		return nil, source.Plain(err)
	}
	if at, err = filepath.Abs(at); err != nil {
		return nil, err
	}
	info, err := os.Stat(at)
	if err != nil {
		return nil, source.Plain(err)
	}
	if err := unwritable(info.Mode()); err != nil {
		return nil, err
	}
	return &File{Path: at, Mode: info.Mode().Perm(), raw: e.Old}, nil
}

// unwritable is the error of a file that has been made read-only, or is a device or a pipe; nil for any
// other. That its folder would let it be replaced is not the author's permission.
func unwritable(mode fs.FileMode) error {
	switch {
	case !mode.IsRegular():
		return errors.New("is no regular file, and would be replaced by one: name a file, or leave -w out")
	case mode.Perm()&0o222 == 0:
		return errors.New("is read-only: make it writable (chmod u+w), or leave it out")
	}
	return nil
}

// common returns the folder that holds both folders.
func common(a, b string) string {
	for a != filepath.Dir(a) && a != b && !strings.HasPrefix(b, a+string(filepath.Separator)) {
		a = filepath.Dir(a)
	}
	return a
}

// leadsOut is the error of a file that Write would refuse because it leads out of the folder; nil
// for any other, and for a folder that is "".
func leadsOut(folder, name string) error {
	if folder == "" {
		return nil
	}
	below, err := filepath.Rel(folder, name)
	if err != nil {
		return err
	}
	c := Changed{Name: filepath.ToSlash(below), File: &File{}, Text: []byte{}}
	if err = followed(folder, []Changed{c}, make([]string, 1)); errors.Is(err, errLeadsOut) {
		return errLeadsOut // without the name, which the caller knows
	}
	return err
}
