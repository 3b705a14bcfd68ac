package files

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
)

// Write replaces dest's files by the changed ones: all of them or, if one cannot be
// written, none. Each is written to a temporary file and renamed, with its old
// permissions. Nothing outside dest's folder is touched: a link that leads
// there is an error. Where a file is a link, its target is written and the link
// stays. A file that is read-only, or has changed since it was read, is an error.
func Write(dest *Set, changed []Changed) error { return replace(dest, changed, (*writer).commit) }

// replace is Write with what is done last, once all new texts are beside their files.
func replace(dest *Set, changed []Changed, last func(*writer) error) (err error) {
	if dest.Name == "-" {
		return errors.New("standard input cannot be written back; leave -w out")
	}
	folder, names := dest.Name, object.Each(changed, func(c Changed) string { return c.Name })
	if !dest.Folder {
		at, err := filepath.EvalSymlinks(dest.Name)
		if err != nil {
			return source.Plain(err)
		}
		folder = filepath.Dir(at)
		for i := range names {
			names[i] = filepath.Base(at)
		}
	} else if err := followed(folder, changed, names); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return source.Plain(err)
	}
	defer root.Close()
	w := writer{root: root, folder: folder}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.undo())
		}
		w.clean()
	}()
	for i, c := range changed {
		if err := w.stage(names[i], c); err != nil {
			return w.fail(names[i], err)
		}
	}
	return last(&w)
}

// followed replaces names that are links by their targets.
func followed(folder string, changed []Changed, names []string) error {
	top, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return source.Plain(err)
	}
	for i, c := range changed {
		if c.File == nil || c.Text == nil { // new or removed: the link itself
			continue
		}
		at, err := filepath.EvalSymlinks(filepath.Join(folder, filepath.FromSlash(c.Name)))
		if err != nil {
			return source.Plain(err)
		}
		rel, err := filepath.Rel(top, at)
		if err != nil || !filepath.IsLocal(rel) {
			return fmt.Errorf("%s: %w; nothing was written", filepath.Join(folder, filepath.FromSlash(c.Name)), errLeadsOut)
		}
		names[i] = filepath.ToSlash(rel)
	}
	return nil
}

// errLeadsOut: a merge into a folder must not change files outside it.
var errLeadsOut = errors.New("is a link, or behind one, that leads out of the folder: merge into what it leads to")

// writer records what has been done, to undo it.
type writer struct {
	root   *os.Root
	folder string
	steps  []*step
	dirs   []string // made on the way
}

// step is the replacement of one file.
type step struct {
	name   string
	temp   string // the new content, "" if the file is removed
	backup string // what was there, "" if nothing was
	done   bool
}

func (w *writer) fail(name string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	} else if l, ok := errors.AsType[*os.LinkError](err); ok {
		err = l.Err
	}
	if err.Error() == "path escapes from parent" { // os.Root exports no error for it
		err = errLeadsOut
	}
	return fmt.Errorf("%s: %w; nothing was written", filepath.Join(w.folder, filepath.FromSlash(name)), err)
}

// stage writes the new content beside the file, and backs the old one up.
func (w *writer) stage(name string, c Changed) error {
	s := &step{name: name}
	tag := rand.Text()[:8]
	hidden := func(what string) string { return path.Join(path.Dir(name), "."+path.Base(name)+"."+what+tag) }
	mode := cmp.Or(c.mode, 0o644)
	if c.File != nil {
		mode = c.File.Mode
		if err := unwritable(mode); err != nil {
			return err
		}
		now, err := w.root.ReadFile(name)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, c.File.readText()) {
			return errors.New("has changed since it was read; merge again")
		}
		s.backup = hidden("old")
	} else if _, err := w.root.Lstat(name); !errors.Is(err, fs.ErrNotExist) { // another file, on a case-insensitive file system
		return errors.Join(err, errors.New("exists already, and was not read: remove it, or merge again"))
	}
	if c.Text != nil {
		if err := w.mkdir(path.Dir(name)); err != nil {
			return err
		}
		s.temp = hidden("new")
	}
	w.steps = append(w.steps, s)
	if s.backup != "" {
		if err := w.backUp(s); err != nil {
			return err
		}
	}
	if s.temp != "" {
		return w.write(s.temp, c.Text, mode)
	}
	return nil
}

// backUp gives the old file a second name, or copies it where hard links are not
// supported.
func (w *writer) backUp(s *step) error {
	if w.root.Link(s.name, s.backup) == nil {
		return nil
	}
	text, err := w.root.ReadFile(s.name)
	if err != nil {
		return err
	}
	info, err := w.root.Stat(s.name)
	if err != nil {
		return err
	}
	return w.write(s.backup, text, info.Mode().Perm())
}

func (w *writer) write(name string, text []byte, mode fs.FileMode) error {
	f, err := w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
}

// mkdir creates missing folders, and records which.
func (w *writer) mkdir(dir string) error {
	if dir == "." {
		return nil
	}
	if _, err := w.root.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := w.mkdir(path.Dir(dir)); err != nil {
		return err
	}
	if err := w.root.Mkdir(dir, 0o755); err != nil {
		return err
	}
	w.dirs = append(w.dirs, dir)
	return nil
}

// put moves what another file holds to that name; for "" the file of that name is removed.
func (w *writer) put(name, from string) error {
	if from == "" {
		return w.root.Remove(name)
	}
	return w.root.Rename(from, name)
}

// commit renames everything into its place.
func (w *writer) commit() error {
	for _, s := range w.steps {
		if err := w.put(s.name, s.temp); err != nil {
			return w.fail(s.name, err)
		}
		s.done = true
	}
	w.dirs = nil
	return nil
}

// undo restores what commit has replaced.
func (w *writer) undo() error {
	var errs []error
	for _, s := range w.steps {
		if !s.done {
			continue
		}
		if err := w.put(s.name, s.backup); err != nil {
			errs = append(errs, fmt.Errorf("%s could not be restored: %w; its old content is in %s", s.name, err, s.backup))
			s.backup = ""
		}
	}
	return errors.Join(errs...)
}

// clean removes temporary files, and folders that were created in vain.
func (w *writer) clean() {
	for _, s := range w.steps {
		for _, name := range []string{s.temp, s.backup} {
			if name != "" {
				_ = w.root.Remove(name) // mostly renamed by now
			}
		}
	}
	for i := len(w.dirs) - 1; i >= 0; i-- {
		_ = w.root.Remove(w.dirs[i])
	}
}
