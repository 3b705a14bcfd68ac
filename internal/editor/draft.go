package editor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Draft is a text passed to and from an editor, in a folder that only the user may read. Backups
// and swap files of the editor are there, too.
type Draft struct{ dir, path string }

// NewDraft makes the file; name is its name for the user, for example deployment-web.yaml. The
// error is that of creating its folder.
func NewDraft(name string) (*Draft, error) {
	dir, err := os.MkdirTemp("", "kubectl-merge-edit-*")
	if err != nil {
		return nil, err
	}
	return &Draft{dir: dir, path: filepath.Join(dir, filepath.Base(name))}, nil
}

// maxText bounds the text that an editor may save: no server would accept such a large object.
const maxText = 16 << 20

// Edit writes text to the file, has the user edit it and returns the file's new content, also if
// the editor failed. An editor that leaves no readable file is an error; Path then names a file
// with text.
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
	case !info.Mode().IsRegular(): // a pipe may block for ever, and a link may lead elsewhere
		return nil, d.lost("has put something else in the file's place, which is no regular file", text, ran)
	case info.Size() > maxText:
		return nil, errors.Join(ran, fmt.Errorf("the text is larger than %d MiB, which no server takes", maxText>>20))
	}
	// An editor that writes a new file chooses its permissions.
	if err := os.Chmod(d.path, 0o600); err != nil {
		return nil, errors.Join(ran, err)
	}
	got, err := os.ReadFile(d.path)
	return got, errors.Join(ran, err)
}

// write puts a text into the file in one step: without space for it, the previously saved text is
// kept.
func (d *Draft) write(text []byte) error {
	next := filepath.Join(d.dir, ".next")
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return os.Rename(next, d.path)
}

// lost keeps the text that the editor received in another file, outside its leftovers.
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

// Path returns the file of the text.
func (d *Draft) Path() string { return d.path }

// Written reports whether the text exists: it cannot be written to a full disk.
func (d *Draft) Written() bool {
	_, err := os.Lstat(d.path)
	return err == nil
}

// Discard deletes the text, and all files that the editor has left beside it. The error is that of
// the file system.
func (d *Draft) Discard() error { return os.RemoveAll(d.dir) }
