package source

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Document is one YAML or JSON document of a file.
type Document struct {
	Value  any
	Reread []error // see yamldoc
	Nth    int     // from 1, not counting empty ones
	Many   bool    // the file has more than one
	Line   int     // from 1, where it begins
	Items  []int   // lines of a list's items, if they are known
}

// Decode reads all documents of a YAML or JSON file as kubectl does (YAML 1.1: yes, on and
// 0777 are not strings) but strictly: a duplicate key is an error, and so is a whole
// number that the API would round. Numbers are returned exactly, as json.Number. Empty documents are
// left out. The error joins the errors of all documents; valid ones are returned as well.
//
// Unlike kubectl: which keeps the last of two equal keys, leaves a tag such as !Ref out, and reads
// numbers as float64, so that 9007199254740993 becomes 9007199254740992.
func Decode(data []byte) ([]Document, error) {
	chunks, err := split(string(data))
	if err != nil {
		return nil, err
	}
	var docs []Document
	var errs []error
	var r yamldoc.Reader
	for _, c := range chunks {
		got, err := c.documents(&r)
		docs, errs = append(docs, got...), append(errs, err)
	}
	return docs, errors.Join(errs...)
}

// documents returns the documents of a chunk: one, or several that only an end mark separates.
func (c chunk) documents(r *yamldoc.Reader) ([]Document, error) {
	docs, err := c.read(r)
	for i := range docs {
		docs[i].Nth, docs[i].Many = c.nth, c.many
	}
	if bad, ok := errors.AsType[*SyntaxError](err); ok && c.many {
		bad.Document = c.nth
	}
	return docs, err
}

func (c chunk) read(r *yamldoc.Reader) ([]Document, error) {
	f, err := r.Parse(c.text, c.line)
	if err != nil {
		return nil, syntaxError(err)
	}
	var docs []Document
	for _, d := range f.Documents() {
		if d.Value() == nil {
			continue
		}
		if err := cmp.Or(d.Strange, checkNumbers(d)); err != nil {
			return docs, syntaxError(err)
		}
		docs = append(docs, Document{Value: d.Value(), Reread: d.Reread, Line: d.Line(), Items: d.EntryLines("items")})
	}
	return docs, nil
}

func syntaxError(err error) error {
	var e *yamldoc.Error
	if !errors.As(err, &e) {
		return err
	}
	return &SyntaxError{Line: e.Line, Path: pathText(e.Path), What: e.Problem, large: e.Large}
}

// pathText returns a path as text; "" is the whole document.
func pathText(p merge.Path) string {
	if len(p) == 0 {
		return ""
	}
	return p.String()
}

// SyntaxError is a syntax error at a place in a file.
type SyntaxError struct {
	Document int // from 1; 0 if the file has only one
	Line     int // from 1
	Path     string
	What     string
	Why      string

	large bool // see errTooLarge
}

// errTooLarge is any SyntaxError of a document whose aliases expand to too much.
var errTooLarge = errors.New("is too large")

// Is reports whether e is errTooLarge.
func (e *SyntaxError) Is(target error) bool { return target == errTooLarge && e.large }

// Error returns document, line, path, problem and cause, as far as known.
func (e *SyntaxError) Error() string {
	parts := []string{fmt.Sprintf("line %d", e.Line)}
	if e.Document > 0 {
		parts[0] = fmt.Sprintf("document %d, line %d", e.Document, e.Line)
	}
	for _, p := range []string{e.Path, e.What, e.Why} {
		if p != "" {
			parts = append(parts, clip(p))
		}
	}
	return strings.Join(parts, ": ")
}

// checkNumbers finds the first whole number of a document that the API, which has int64 and
// float64 only, would change. Of a fraction, float64 is as near as anybody needs.
func checkNumbers(d *yamldoc.Document) error {
	path, found := changedNumber(d.Value())
	if !found {
		return nil
	}
	n, _ := merge.Lookup(d.Value(), path, nil)
	what, why := rounded(path, fmt.Sprint(n))
	return &SyntaxError{Line: d.LineOf(path), Path: pathText(path), What: what, Why: why}
}

// changedNumber leads to the first number of a value that would not be preserved.
func changedNumber(v any) (at merge.Path, found bool) {
	return merge.First(v, func(_ merge.Step, v any) bool {
		n, _ := v.(json.Number)
		what, _ := rounded(nil, string(n))
		return what != ""
	})
}

// rounded describes a number that would not be preserved; what is "" for one that is. Below data it
// may be a Secret's, and is not shown.
func rounded(path merge.Path, text string) (what, why string) {
	if len(text) < 16 && !strings.ContainsAny(text, "eE") { // float64 keeps any 15 digits
		return "", ""
	}
	const out = "the API rounds it; quote it if it is a string"
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return "number", "is out of the API's range; quote it if it is a string"
	case !object.Rounded(fmt.Sprint(merge.PlainNumbers(json.Number(text))), f): // a fraction is rounded there
		return "", ""
	case slices.ContainsFunc(path, func(s merge.Step) bool { return s.Name == "data" || s.Name == "stringData" }):
		return "number", out
	}
	return "number " + text, fmt.Sprintf("would be stored as %s: %s", strconv.FormatFloat(f, 'g', -1, 64), out)
}

// maxInput is the maximum size of one file, URL or standard input: far more than any cluster
// accepts, but not all memory, which an endless device or pipe would take.
const maxInput = 256 << 20

// ReadFile is os.ReadFile with a limit of the size. The error names the file.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, Plain(err)
	}
	defer f.Close()
	data, err := ReadAll(f)
	if errors.Is(err, errOversize) {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return data, Plain(err)
}

// Plain returns an error of the file system without the name of the system call.
func Plain(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return err
}

var errOversize = fmt.Errorf("is larger than %d MiB: part it into several", maxInput>>20)

// ReadAll is io.ReadAll with a limit of the size. A text beyond it is an error.
func ReadAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxInput:
		return nil, errOversize
	}
	return data, nil
}

// Special states why a file in a directory is not read: it is a pipe or a device, and reading it
// might never end. "" for a regular file, or if that cannot be determined.
func Special(name string) string {
	info, err := os.Stat(name)
	if err != nil || info.Mode().IsRegular() {
		return ""
	}
	return "is no regular file; take it out of the folder, or name it with -f"
}

// mark is the byte order mark of UTF-8.
const mark = "\xef\xbb\xbf"

// inUTF8 returns the text in UTF-8 without a byte order mark, also of a file in UTF-16, as
// PowerShell writes them. Half a character in it becomes U+FFFD.
func inUTF8(data string) string {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case strings.HasPrefix(data, "\xff\xfe"):
	case strings.HasPrefix(data, "\xfe\xff"):
		order = binary.BigEndian
	default:
		return strings.TrimPrefix(data, mark)
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, order.Uint16([]byte(data[i:i+2])))
	}
	return string(utf16.Decode(units))
}

// notText returns an error with the place of the first byte that is not UTF-8 text; nil if there is none.
func notText(data string) error {
	n := 0
	for line := range strings.Lines(data) {
		if n++; !utf8.ValidString(line) {
			return &SyntaxError{Line: n, What: "is not text in UTF-8", Why: "save it as UTF-8 YAML or JSON"}
		}
	}
	return nil
}

// clip shortens a text in an error, such as a path of a thousand steps or a key as long as a file.
func clip(text string) string {
	const most, head, tail = 300, 200, 80
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:head], "") + " … " + strings.ToValidUTF8(text[len(text)-tail:], "")
}
