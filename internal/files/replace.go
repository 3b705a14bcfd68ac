package files

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/source"
)

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
	if err := readOnly(info.Mode()); err != nil {
		return nil, err
	}
	return &File{Path: at, Mode: info.Mode().Perm(), raw: e.Old}, nil
}

// readOnly is the error of a file that has been made read-only; nil for any other. That its folder
// would let it be replaced is not the author's permission.
func readOnly(mode fs.FileMode) error {
	if mode.Perm()&0o222 == 0 {
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
	return followed(folder, []Changed{c}, make([]string, 1))
}
