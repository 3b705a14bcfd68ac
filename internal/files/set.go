// Package files merges YAML files and folders of them into others, two ways
// (source into dest) and three ways (what changed between original and updated,
// into dest), and writes them back all at once or not at all. It does not
// contact a cluster, guess what text means that is not YAML, or decide which side
// wins: the policy does.
//
// In the terms of pkg/merge, updated (the source) is local, and dest is live.
package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Set is one side of a merge: a file, a folder of files, or standard input.
type Set struct {
	Name   string  // as the user gave it
	Folder bool    // it is a folder
	Files  []*File // by name

	keeps Keeping
	texts []*File // those that are kept and are not YAML
}

// Keeping selects the files of a folder that are kept beside its YAML files, to be merged by lines.
type Keeping int

// The selections.
const (
	YAML       Keeping = iota
	Templates          // what is named as YAML and is a template of it (for example of Helm)
	Everything         // and every other regular file, to be merged as git merges it
)

// File is one file of a Set.
type File struct {
	Name string      // inside its folder, with slashes; the base name of a single file
	Path string      // where it is, "" for standard input
	Mode fs.FileMode // its type and permissions

	// Label is what messages call the file, "" for Path: a merge driver is given the
	// names of temporary files.
	Label string
	YAML  *yamldoc.File

	raw []byte // what is in it, where it was not read as YAML
}

// Empty reports whether no file of a Set holds a document.
func (s *Set) Empty() bool {
	for _, f := range s.Files {
		if slices.ContainsFunc(f.YAML.Documents(), func(d *yamldoc.Document) bool { return !d.Empty() }) {
			return false
		}
	}
	return len(s.texts) == 0
}

// readText is the file's content as read.
func (f *File) readText() []byte {
	if f == nil {
		return nil
	}
	if f.YAML == nil {
		return f.raw
	}
	return f.YAML.Text()
}

// Where is the file's name as messages show it.
func (f *File) Where() string {
	switch {
	case f.Label != "":
		return f.Label
	case f.Path == "":
		return "standard input"
	}
	return f.Path
}

// Call has messages call the only file of a Set by another name. A folder keeps its names,
// and so does everything where name is "".
func (s *Set) Call(name string) {
	if s != nil && !s.Folder && len(s.Files) == 1 {
		s.Files[0].Label = name
	}
}

// Read reads a side: a file, every .yaml, .yml and .json of a folder and the
// folders below it (hidden folders aside) and what keeps selects, or, for "-", standard
// input. Reading a pipe ends with ctx. The error names all files that cannot be read, with
// their lines.
func Read(ctx context.Context, name string, stdin io.Reader, keeps Keeping) (*Set, error) {
	s := &Set{Name: name, keeps: keeps}
	if name == "-" {
		text, err := source.ReadAll(stdin)
		if err != nil {
			return s, fmt.Errorf("standard input: %w", err)
		}
		return s, s.add("-", "", 0o644, text)
	}
	info, err := os.Stat(name)
	if err != nil {
		return s, source.Plain(err)
	}
	if !info.IsDir() {
		return s, s.read(ctx, filepath.Base(name), name)
	}
	s.Folder = true
	return s, s.readFolder(ctx)
}

func (s *Set) readFolder(ctx context.Context) error {
	var errs []error
	err := source.Walk(s.Name, func(below string, d fs.DirEntry, err error) error {
		path := filepath.Join(s.Name, below)
		switch {
		case err != nil:
			errs = append(errs, source.Plain(err))
			return nil
		case d.IsDir() && below != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		errs = append(errs, s.readBelow(ctx, filepath.ToSlash(below), path))
		return nil
	})
	if err != nil {
		errs = append(errs, source.Plain(err))
	}
	return errors.Join(errs...)
}

// readBelow reads one file of a folder, or passes it over.
func (s *Set) readBelow(ctx context.Context, name, path string) error {
	why := source.Special(path)
	switch {
	case isYAML(path) && why != "":
		return fmt.Errorf("%s: %s", path, why)
	case isYAML(path), s.keeps == Everything && why == "":
		return s.read(ctx, name, path)
	}
	return nil
}

func isYAML(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(path)))
}

// read reads a file. One of a folder that is not named as YAML is kept as it is.
func (s *Set) read(ctx context.Context, name, path string) error {
	text, err := source.ReadNamed(ctx, path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return source.Plain(err)
	}
	mode := info.Mode() & (fs.ModePerm | fs.ModeType)
	if s.Folder && !isYAML(path) {
		s.texts = append(s.texts, &File{Name: name, Path: path, Mode: mode, raw: text})
		return nil
	}
	return s.add(name, path, mode, text)
}

func (s *Set) add(name, path string, mode fs.FileMode, text []byte) error {
	f := &File{Name: name, Path: path, Mode: mode}
	yaml, err := yamldoc.Parse(text)
	if err == nil && !slices.ContainsFunc(yaml.Documents(), isText) {
		f.YAML, s.Files = yaml, append(s.Files, f)
		return nil
	}
	if err != nil && utf8.Valid(text) {
		_, advised := source.Parse(f.Where(), text)
		if bad, ok := errors.AsType[*source.SyntaxError](advised); ok {
			err = bad // with what the text probably is
		}
	}
	f.raw = text
	if s.keeps >= Templates && s.Folder && (err == nil || bytes.Contains(text, []byte("{{"))) {
		s.texts = append(s.texts, f)
		return nil
	}
	return fmt.Errorf("%s: %w", f.Where(), cmp.Or(err, errText))
}

var errText = errors.New("is text, and neither a mapping nor a list: git merge-file merges text, by lines")

func isText(d *yamldoc.Document) bool { return d.Value() != nil && merge.IsScalar(d.Value()) }

// Parse makes a Set of one text, as if it had been read from a file of that name. Errors name
// the place, as those of Read do.
func Parse(name string, text []byte) (*Set, error) {
	s := &Set{Name: name}
	return s, s.add(name, name, 0o644, text)
}

// Kubernetes reports whether every document of all sides is a Kubernetes object; a
// side may be nil or empty. A merge driver hands everything else back to git.
func Kubernetes(sides ...*Set) bool {
	return !slices.ContainsFunc(sides, func(s *Set) bool { return s != nil && !s.manifest() })
}

// Paths are the files of a merge driver: git's %O, %B and %A.
type Paths struct{ Original, Updated, Dest string }

// ErrBinary is a file that is no text by git's rule.
var ErrBinary = errors.New("is not text, it has a zero byte")

// TextMerge merges by lines as git does without a merge driver, and writes the
// result, with markers where both sides changed the same lines, into dest. It reports
// whether there are any. On an error of git, or ErrBinary, dest is unchanged.
func TextMerge(ctx context.Context, p Paths) (conflicts bool, err error) {
	for _, name := range []string{p.Original, p.Updated, p.Dest} {
		if text, err := os.ReadFile(name); err == nil && (&File{raw: text}).binary() {
			return true, ErrBinary
		}
	}
	cmd := exec.CommandContext(ctx, "git", "merge-file", "-q",
		"-L", "dest", "-L", "original", "-L", "updated", "--", p.Dest, p.Original, p.Updated)
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false, nil
	case errors.As(err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() < 128:
		return true, nil
	case len(said) > 0:
		first, _, _ := strings.Cut(string(said), "\n")
		return false, fmt.Errorf("git merge-file: %s", visible(first))
	}
	return false, fmt.Errorf("git merge-file: %w", err)
}

// IsFile reports whether name is an existing file, not a folder.
func IsFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

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
