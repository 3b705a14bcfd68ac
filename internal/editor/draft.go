package editor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Draft is a text on its way to and from an editor, in a folder that nobody else
// may look into, where backups and swap files of the editor lie, too.
type Draft struct{ dir, path string }

// NewDraft makes the file; name is what the user sees of it, for example deployment-web.yaml.
// The error is that of the folder for it, which cannot be made.
func NewDraft(name string) (*Draft, error) {
	dir, err := os.MkdirTemp("", "kubectl-merge-edit-*")
	if err != nil {
		return nil, err
	}
	return &Draft{dir: dir, path: filepath.Join(dir, filepath.Base(name))}, nil
}

// maxText bounds what an editor may save: an object that large no server would take.
const maxText = 16 << 20

// Edit writes text to the file, has the user edit it and gives back what it then
// holds, also where the editor failed. An editor that leaves no file to be read is
// an error, and text is in the file that Path then names.
func (d *Draft) Edit(ctx context.Context, e Editor, s Streams, text []byte) ([]byte, error) {
	if err := d.write(text); err != nil {
		return nil, err
	}
	ran := e.Run(ctx, d.path, s)
	info, err := os.Lstat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, d.lost("has taken the file away", text, ran)
	case err != nil:
		return nil, errors.Join(ran, err)
	case !info.Mode().IsRegular(): // reading a pipe may take for ever, and a link leads elsewhere
		return nil, d.lost("has put something else in the file's place, which is no regular file", text, ran)
	case info.Size() > maxText:
		return nil, errors.Join(ran, fmt.Errorf("the text is larger than %d MiB, which no server takes", maxText>>20))
	}
	// An editor that writes a new file gives it rights of its own.
	if err := os.Chmod(d.path, 0o600); err != nil {
		return nil, errors.Join(ran, err)
	}
	got, err := os.ReadFile(d.path)
	return got, errors.Join(ran, err)
}

// write puts a text into the file in one step: where there is no space for it, what the
// user has saved before stays.
func (d *Draft) write(text []byte) error {
	next := filepath.Join(d.dir, ".next")
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return os.Rename(next, d.path)
}

// lost keeps the text that the editor was given in another file, where what it left
// is not in the way.
func (d *Draft) lost(what string, text []byte, ran error) error {
	kept := filepath.Join(d.dir, "kept-"+filepath.Base(d.path))
	if err := os.WriteFile(kept, text, 0o600); err != nil {
		return errors.Join(ran, err)
	}
	d.path = kept
	if ran != nil {
		return ran
	}
	return fmt.Errorf("the editor %s; nothing was saved", what)
}

// Path is where the text is.
func (d *Draft) Path() string { return d.path }

// Written reports whether there is a text: none could be written to a full disk.
func (d *Draft) Written() bool {
	_, err := os.Lstat(d.path)
	return err == nil
}

// Discard takes the text away, with all that the editor has left beside it. The error is that
// of the file system.
func (d *Draft) Discard() error { return os.RemoveAll(d.dir) }
