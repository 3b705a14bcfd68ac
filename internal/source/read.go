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

	"github.com/kubectl-merge/kubectl-merge/pkg/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
)

// Inputs says where objects are to be read, as kubectl's -f, -R, -k and -l do.
type Inputs struct {
	Files     []string // files, folders, URLs, patterns, "-"
	Flag      string   // that Files were given with, for errors; "" is -f
	Recursive bool
	Kustomize string // a kustomization's folder or URL; "" for none
	Selector  string // keeps only objects whose labels match; "" keeps all
	Stdin     io.Reader
	Timeout   time.Duration // of a URL, all tries together; 0: RequestTimeout, less: none
	Agent     string        // as what the program presents itself to a URL's server
	Pack      bool          // objects come back Packed, so that many of them take little room

	// Values, which may be nil, is given the values of the Secrets that are read.
	Values *redact.Values

	// Change, which may be nil, is given all objects before any is left out or
	// packed. Where one of them cannot be read, none is given back.
	Change func([]object.Object) ([]object.Object, error)
}

// Stdin is the name of standard input in errors.
const Stdin = "standard input"

// extensions are the files of a folder that are read; a file that is named is
// read whatever it is called.
var extensions = []string{".json", ".yaml", ".yml"}

// Read reads every object of the inputs, in their order; kind: List comes back as
// its items. The error joins what is wrong with any of the documents, and the
// good objects come back beside it.
func Read(ctx context.Context, in Inputs) ([]object.Object, error) {
	keep, err := in.keeping()
	if err != nil {
		return nil, err
	}
	first := keep
	if in.Change != nil { // it has to see all of them, as they are
		first = func(o object.Object) (object.Object, bool) { in.Values.Add(o.Value); return o, true }
	}
	var (
		objects []object.Object
		errs    []error
	)
	in.texts(ctx, func(name string, data []byte, err error) {
		if err == nil {
			var got []object.Object
			if got, err = parse(name, data, first); err != nil && redact.Mentions(string(data)) {
				in.Values.AddLines(string(data)) // the error may quote what nobody could read
			}
			objects = append(objects, got...)
		}
		errs = append(errs, err)
	})
	switch err := errors.Join(errs...); {
	case in.Change == nil:
		return objects, err
	case err != nil: // what is not as it is to be is of no use
		return nil, err
	}
	changed, err := in.Change(objects)
	objects = nil
	for _, o := range changed {
		if o, ok := keep(o); ok {
			objects = append(objects, o)
		}
	}
	return objects, err
}

// Names are the inputs as errors name them.
func (in Inputs) Names() []string {
	var names []string
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

// keeping lets the objects through that the selector lets through, packed if they
// are to be.
func (in Inputs) keeping() (keeping, error) {
	selector, err := labels.Parse(in.Selector)
	if err != nil {
		return nil, fmt.Errorf("--selector %q: %w", in.Selector, err)
	}
	return func(o object.Object) (object.Object, bool) {
		in.Values.Add(o.Value)
		if in.Selector != "" && !selector.Matches(labels.Set(o.Labels())) {
			return o, false
		}
		if in.Pack {
			o = o.Packed()
		}
		return o, true
	}, nil
}

// texts reads one file after the other, and holds none: add is given its name and
// what is in it, or why it cannot be read.
func (in Inputs) texts(ctx context.Context, add func(name string, data []byte, err error)) {
	stdin := false
	for _, f := range in.Files {
		switch {
		case f == "-":
			if stdin {
				add("", nil, errors.New("-f -: standard input can be read once only"))
				continue
			}
			stdin = true
			data, err := ReadAll(in.Stdin)
			if err != nil {
				err = fmt.Errorf("%s: %w", Stdin, err)
			}
			add(Stdin, data, err)
		case isURL(f):
			name := nameOf(f)
			data, err := in.get(ctx, f)
			if err != nil {
				err = fmt.Errorf("%s: cannot be read: %w", name, err)
			}
			add(name, data, err)
		default:
			names, err := in.expand(f)
			if err != nil {
				add(f, nil, err)
			}
			for _, name := range names {
				data, err := ReadNamed(ctx, name)
				add(name, data, err)
			}
		}
	}
	if in.Kustomize != "" {
		data, err := in.build(ctx)
		add(remoteName(in.Kustomize), data, err)
	}
}

// expand lists the files that a path names: itself, a folder's files (with all
// below it if recursive), or what a pattern matches.
func (in Inputs) expand(path string) ([]string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		matches, globErr := filepath.Glob(path)
		if globErr != nil || len(matches) == 0 {
			return nil, fmt.Errorf("the path %q does not exist; check the name after %s", path, cmp.Or(in.Flag, "-f"))
		}
		var names []string
		for _, m := range matches {
			more, err := in.expand(m)
			if err != nil {
				return nil, err
			}
			names = append(names, more...)
		}
		return names, nil
	}
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	names, err := walk(path, in.Recursive)
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("folder %s: holds no file to read: recognized file extensions are %v%s", path, extensions, hint(in.Recursive, "; -R reads the folders below it too"))
	}
	return names, err
}

// Walk is filepath.WalkDir for a folder that may be a link: WalkDir itself does not
// follow one, not even where it begins. step is given what stands below the folder, with
// its path from there, "." for the folder itself.
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

// walk lists the files of a folder. Links below it are not followed; nor are folders
// like those where the kubelet keeps what it mounts (..2026_11_21), which the files
// beside them are links into.
func walk(path string, recursive bool) ([]string, error) {
	var names []string
	err := Walk(path, func(below string, d fs.DirEntry, err error) error {
		name := filepath.Join(path, below)
		switch {
		case err != nil:
			return err
		case d.IsDir() && below != "." && (!recursive || strings.HasPrefix(d.Name(), "..")):
			return filepath.SkipDir
		case !d.IsDir() && slices.Contains(extensions, filepath.Ext(name)):
			if why := Special(name); why != "" {
				return fmt.Errorf("%s: %s", name, why)
			}
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

func hint(recursive bool, text string) string {
	if recursive {
		return ""
	}
	return text
}
