package files

import (
	"os"
	"path/filepath"
)

// Replace replaces the content of one file atomically, as Write does: after a crash there
// is the old file or the new one, a link stays a link, and a file that has changed since it
// was read is an error. folder is the one in which the file was found, which a link may not
// lead out of; "" where the file itself was named. was is what was read; nil creates a file.
func Replace(folder, name string, was, text []byte) error {
	dest, c := &Set{Name: name}, Changed{Name: filepath.Base(name), Text: text}
	if folder == "" && was == nil {
		folder = filepath.Dir(name)
	}
	if folder != "" {
		below, err := filepath.Rel(folder, name)
		if err != nil {
			return err
		}
		dest.Name, dest.Folder, c.Name = folder, true, filepath.ToSlash(below)
	}
	if was != nil {
		info, err := os.Stat(name)
		if err != nil {
			return plainError(err)
		}
		c.File = &File{Name: c.Name, Path: name, Mode: info.Mode().Perm(), raw: was}
	}
	return Write(dest, []Changed{c})
}

// LeadsOut is the error of a file that Replace would refuse because it leads out of the
// folder; nil for any other, and for a folder that is "".
func LeadsOut(folder, name string) error {
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
