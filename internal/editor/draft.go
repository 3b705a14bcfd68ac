package editor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// Draft is a text on its way through an editor. Its file can be read by nobody
// else, and stands in a folder of its own, so that what editors leave beside a
// file goes with it.
type Draft struct{ dir, path string }

// NewDraft makes the file; name is what the user sees of it, deployment-web.yaml
// say.
func NewDraft(name string) (*Draft, error) {
	dir, err := os.MkdirTemp("", "kubectl-merge-edit-*")
	if err != nil {
		return nil, err
	}
	return &Draft{dir: dir, path: filepath.Join(dir, filepath.Base(name))}, nil
}

// Edit puts text into the file, has it edited, and gives what the user saved. The
// text comes back beside an error too, as far as the file can be read.
func (d *Draft) Edit(ctx context.Context, e Editor, s Streams, text []byte) ([]byte, error) {
	if err := os.WriteFile(d.path, text, 0o600); err != nil {
		return nil, err
	}
	ran := e.Run(ctx, d.path, s)
	// An editor that writes a new file gives it rights of its own.
	if err := os.Chmod(d.path, 0o600); err != nil {
		return nil, errors.Join(ran, err)
	}
	got, err := os.ReadFile(d.path)
	return got, errors.Join(ran, err)
}

// Path is the file.
func (d *Draft) Path() string { return d.path }

// Discard throws the file away, with all that an editor left beside it.
func (d *Draft) Discard() error { return os.RemoveAll(d.dir) }
