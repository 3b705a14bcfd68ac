// Package source reads objects from files, directories, URLs, standard input, kustomizations and
// saved live objects, and finds the files that a kustomization is built of. It decides nothing about
// a field, and refuses ambiguous input: duplicate keys, numbers that would be rounded, duplicate
// objects.
package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
)

// Inputs are the objects to read, as kubectl's -f, -R, -k and -l select them.
type Inputs struct {
	Files     []string // files, folders, URLs, patterns, "-"
	Flag      string   // the flag of Files, for errors; "" is -f
	Recursive bool
	Kustomize string // directory or URL of a kustomization; "" for none
	Selector  string // label selector; "" selects all
	Stdin     io.Reader
	Timeout   time.Duration // for a URL, all attempts together; 0: RequestTimeout, negative: none
	Agent     string        // User-Agent for URLs
	Edited    bool          // the files are to be written back, for advice in errors
	Pack      bool          // return objects Packed, to save memory

	// Kept is called after each object that is read, with how many were kept so far; may be nil.
	Kept func(n int)

	// Empty is called with the name of each file, URL or standard input that has no object, and is
	// given by its name; may be nil.
	Empty func(name string)

	// Note is called with a file, and a key of it that is read as another, or an entry of a kustomization that fits
	// nothing of what is built; may be nil.
	Note func(file, text string)

	// Values collects the values of the Secrets that are read; may be nil.
	Values *redact.Values

	built *generators
}

// Stdin is the name of standard input in errors.
const Stdin = "standard input"

// extensions lists those of the files that are read from a directory; a file given by name may have
// any.
var extensions = []string{".json", ".yaml", ".yml"}

// Read reads all objects of the inputs in order; a List is returned as its items. The error joins
// the errors of all documents; valid objects are returned, too.
func Read(ctx context.Context, in Inputs) ([]object.Object, error) {
	keep, err := in.keeping()
	if err != nil {
		return nil, err
	}
	var objects []object.Object
	var errs []error
	in.built = in.generators()
	in.texts(ctx, func(name, text string, err error) {
		if err == nil {
			var got []object.Object
			got, err = in.parse(name, text, keep)
			if bad, ok := errors.AsType[*object.FieldError](err); ok && bad.Key != "" && in.Kustomize != "" {
				in.built.collect()
				err = cmp.Or(errors.Join(in.built.strange...), err)
			}
			if len(got) == 0 && err == nil && in.Selector == "" && in.Empty != nil && slices.Contains(in.Names(), name) {
				in.Empty(name)
			}
			for i := range got {
				if in.Kustomize != "" { // it has been built: its lines are in no file
					got[i].Origin.Line, got[i].Origin.Many = 0, false
				}
			}
			if in.Kustomize != "" && in.Note != nil && in.Selector == "" && err == nil {
				in.idle(text, got)
			}
			objects = append(objects, got...)
		}
		errs = append(errs, err)
	})
	return objects, errors.Join(errs...)
}

func (in Inputs) parse(name, text string, keep keeping) ([]object.Object, error) {
	p := &parser{file: name, keep: keep, edited: in.Edited}
	objects, err := p.parse(text)
	for _, again := range p.reread {
		if in.Note != nil {
			in.Note(name, again.Error())
		}
	}
	if err != nil && redact.Mentions(text) {
		in.Values.AddLines(text) // the error may quote the text
		in.Values.AddOpen(name)
		in.Values.AddOpen(filepath.Base(name))
	}
	return objects, err
}

// Names returns the names of the inputs for errors. nil if none is named.
func (in Inputs) Names() (names []string) {
	for _, f := range in.Files {
		switch {
		case f == "-":
			f = Stdin
		case isURL(f):
			f = nameOf(f)
		}
		names = append(names, f)
	}
	if in.Kustomize != "" {
		names = append(names, remoteName(in.Kustomize))
	}
	return names
}

// ParseSelector reads the value of --selector; "" selects all. The error names the flag.
func ParseSelector(text string) (labels.Selector, error) {
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("--selector=%q: cannot be read: labels are selected by key=value, key!=value, key in (a,b) or key, with commas between", text)
	}
	return selector, nil
}

// keeping filters objects by the selector and packs them if asked to.
func (in Inputs) keeping() (keeping, error) {
	selector, err := ParseSelector(in.Selector)
	if err != nil {
		return nil, err
	}
	n := 0
	return func(o object.Object) (object.Object, bool) {
		in.Values.Add(o.Value)
		if in.Selector != "" && !selector.Matches(labels.Set(o.Labels())) {
			return o, false
		}
		if in.Pack {
			o = o.Packed()
		}
		if n++; in.Kept != nil {
			in.Kept(n)
		}
		return o, true
	}, nil
}

// texts reads one file after the other and calls add with its name and content, or with the error
// of reading it.
func (in Inputs) texts(ctx context.Context, add func(name, text string, err error)) {
	for i, f := range in.Files {
		switch {
		case f == "-" && slices.Contains(in.Files[:i], "-"):
			add("", "", errors.New("-f -: standard input can be read once only"))
		case f == "-":
			data, err := ReadAll(in.Stdin)
			if err != nil {
				err = fmt.Errorf("%s: %w", Stdin, err)
			}
			add(Stdin, string(data), err)
		case isURL(f):
			name := nameOf(f)
			data, err := in.get(ctx, f)
			if err != nil {
				err = fmt.Errorf("%s: cannot be read: %w", name, err)
			}
			add(name, string(data), err)
		default:
			names, err := in.expand(f)
			if err != nil {
				add(f, "", err)
			}
			for _, name := range names {
				data, err := ReadNamed(ctx, name)
				add(name, string(data), err)
			}
		}
	}
	if in.Kustomize != "" {
		data, err := in.build(ctx)
		add(remoteName(in.Kustomize), string(data), err)
	}
}

// expand lists the files of a path: the file itself, the files of a directory (recursively if asked
// to), or the matches of a pattern.
func (in Inputs) expand(path string) ([]string, error) {
	info, err := os.Stat(path)
	if scheme, _, ok := strings.Cut(path, "://"); ok && err != nil {
		return nil, fmt.Errorf("%s: cannot be read from a URL that begins with %s: only http and https are", remoteName(path), scheme)
	}
	if errors.Is(err, fs.ErrNotExist) {
		matches, globErr := filepath.Glob(path)
		if globErr != nil || len(matches) == 0 {
			quoted := ""
			if strings.HasPrefix(path, "~") {
				quoted = " (a shell replaces a ~ where a word begins with it, without quotes)"
			}
			return nil, fmt.Errorf("the path %q does not exist; check the name after %s%s%.0w", path, cmp.Or(in.Flag, "-f"), quoted, err) // .0: the cause without its text
		}
		var names []string
		if _, notLink := os.Readlink(path); notLink == nil { // it is its own match
			return nil, fmt.Errorf("%s: is a link to what does not exist: check where it leads%.0w", path, err)
		}
		for _, m := range matches {
			more, err := in.expand(m)
			if err != nil {
				return nil, err
			}
			names = append(names, more...)
		}
		return names, nil
	}
	if err != nil {
		file := strings.TrimRight(path, "/")
		if _, statErr := os.Stat(file); statErr == nil {
			err = fmt.Errorf("%s is a file: leave out the slash behind it", file)
		}
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	names, err := walk(path, in.Recursive)
	if err == nil && len(names) == 0 {
		hint := ""
		if !in.Recursive {
			hint = "; -R reads the folders below it too"
		}
		err = fmt.Errorf("folder %s: holds no file to read: recognized file extensions are %v%s", path, extensions, hint)
	}
	return names, err
}

// With adds a file, if it is there and not read already, and returns the name by which it is read.
func (in *Inputs) With(file string) string {
	is, err := os.Stat(file)
	if err != nil || !is.Mode().IsRegular() {
		return file
	}
	for _, path := range in.Files {
		names, _ := in.expand(path) // its error is that of reading
		same := func(name string) bool { other, err := os.Stat(name); return err == nil && os.SameFile(is, other) }
		if i := slices.IndexFunc(names, same); i >= 0 {
			return names[i]
		}
	}
	in.Files = append(in.Files, file)
	return file
}

// Below returns the objects in the folders below those of Files, which are read only with Recursive, also with the error
// of what cannot be read.
func (in Inputs) Below(ctx context.Context) ([]object.Object, error) {
	below := Inputs{Values: in.Values}
	var errs []error
	for _, path := range in.Files {
		if info, err := os.Stat(path); err == nil && info.IsDir() && !in.Recursive {
			all, err := walk(path, true)
			errs = append(errs, err)
			below.Files = append(below.Files, slices.DeleteFunc(all, func(name string) bool { return filepath.Dir(name) == filepath.Clean(path) })...)
		}
	}
	objects, err := Read(ctx, below)
	return objects, errors.Join(append(errs, err)...)
}

// Walk is filepath.WalkDir for a directory that may be a symbolic link, which WalkDir does not
// follow. step is called with paths relative to the directory, "." for itself. The error is step's,
// or that of a missing folder.
func Walk(folder string, step func(below string, d fs.DirEntry, err error) error) error {
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		below, relErr := filepath.Rel(root, name)
		return step(below, d, errors.Join(err, relErr))
	})
}

// walk lists the files of a directory. It does not follow links to directories, nor enter
// directories such as ..2026_11_21, in which the kubelet stores mounted files: the files
// beside them are links into those.
func walk(path string, recursive bool) ([]string, error) {
	var names []string
	var bad []error
	err := Walk(path, func(below string, d fs.DirEntry, err error) error {
		name := filepath.Join(path, below)
		switch {
		case err != nil:
			return err
		case d.IsDir() && below != "." && (!recursive || strings.HasPrefix(d.Name(), "..")):
			return filepath.SkipDir
		case !d.IsDir() && slices.Contains(extensions, filepath.Ext(name)):
			if why := Special(name); why != "" {
				bad = append(bad, fmt.Errorf("%s: %s", name, why))
			} else {
				names = append(names, name)
			}
		}
		return nil
	})
	return names, errors.Join(append(bad, err)...)
}
