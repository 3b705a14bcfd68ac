// Package editor has the user edit a text in the editor of the environment, and never loses it. The
// text is in a file that only the user can read until it is deleted on purpose. It refuses to know
// what the text means.
package editor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Editor is a command that edits the file given as its last argument.
type Editor struct {
	name string
	args []string // with the program first; the last one is a shell's line if shell
	sh   bool
}

// FromEnv returns the editor that KUBE_EDITOR or EDITOR names, otherwise vi, or notepad on Windows,
// as kubectl chooses it. A plain command is run directly, one with quotes or escapes by the shell.
// getenv is os.Getenv.
func FromEnv(getenv func(string) string) Editor {
	name := cmp.Or(getenv("KUBE_EDITOR"), getenv("EDITOR"), choose("vi", "notepad"))
	if !strings.Contains(name, " ") {
		return Editor{name: name, args: []string{name}}
	}
	if !strings.ContainsAny(name, "\"'\\") {
		return Editor{name: name, args: strings.Fields(name)}
	}
	shell, flag := cmp.Or(getenv("SHELL"), choose("/bin/bash", "cmd")), "-c"
	if shell == "cmd" {
		flag = "/C"
	}
	return Editor{name: name, args: []string{shell, flag, name}, sh: true}
}

// NeedsTerminal reports whether FromEnv returns an editor that no variable names, and that cannot work
// without a terminal.
func NeedsTerminal(getenv func(string) string) bool {
	return getenv("KUBE_EDITOR")+getenv("EDITOR") == "" && runtime.GOOS != "windows"
}

func choose(unix, windows string) string {
	if runtime.GOOS == "windows" {
		return windows
	}
	return unix
}

// Streams are the terminal, as far as there is one.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Run      func(*exec.Cmd) error // runs the editor; nil: the command's own Run
}

// grace is how long an editor may take to end when it is asked to.
const grace = 2 * time.Second

// Run has the user edit a file, and returns when the editor has ended. When ctx ends before, the
// editor is asked to end too. The error reports a failure of the editor, not of the file.
func (e Editor) Run(ctx context.Context, path string, s Streams) error {
	args := append(append([]string{}, e.args...), path)
	if e.sh {
		args = append(e.args[:len(e.args)-1:len(e.args)-1], fmt.Sprintf("%s %q", e.args[len(e.args)-1], path))
	}
	if len(e.args) == 0 {
		return errors.New("unable to launch the editor: its name is empty: set KUBE_EDITOR or EDITOR")
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	if s.Run == nil {
		s.Run = (*exec.Cmd).Run
	}
	err := s.Run(cmd)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return fmt.Errorf("unable to launch the editor %q: set KUBE_EDITOR or EDITOR to one that is there", e.name)
	case errors.As(err, new(*exec.ExitError)):
		return fmt.Errorf("there was a problem with the editor %q: %w", e.name, err)
	}
	return err
}

// Interrupted reports whether an error is that of an editor that ^C has ended. This process may receive
// the same signal only later.
func Interrupted(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGINT
}

// Draft is a text passed to and from an editor, in a folder that only the user may read. Backups
// and swap files of the editor are there, too.
type Draft struct {
	dir  string
	Path string // the file of the text
}

// NewDraft makes the file; name is its name for the user, for example deployment-web.yaml. The
// error is that of creating its folder.
func NewDraft(name string) (*Draft, error) {
	dir, err := os.MkdirTemp("", "kubectl-merge-edit-*")
	if err != nil {
		return nil, err
	}
	return &Draft{dir: dir, Path: filepath.Join(dir, filepath.Base(name))}, nil
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
	ran := e.Run(ctx, d.Path, s)
	info, err := os.Lstat(d.Path)
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
	if err := os.Chmod(d.Path, 0o600); err != nil {
		return nil, errors.Join(ran, err)
	}
	got, err := os.ReadFile(d.Path)
	return got, errors.Join(ran, err)
}

// write puts a text into the file in one step: without space for it, the previously saved text is
// kept.
func (d *Draft) write(text []byte) error {
	next := filepath.Join(d.dir, ".next")
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return os.Rename(next, d.Path)
}

// lost keeps the text that the editor received in another file, outside its leftovers.
func (d *Draft) lost(what string, text []byte, ran error) error {
	kept := filepath.Join(d.dir, "kept-"+filepath.Base(d.Path))
	if err := os.WriteFile(kept, text, 0o600); err != nil {
		return errors.Join(ran, err)
	}
	d.Path = kept
	if ran != nil {
		return ran
	}
	return fmt.Errorf("the editor %s; nothing was saved", what)
}

// Written reports whether the text exists: it cannot be written to a full disk.
func (d *Draft) Written() bool {
	_, err := os.Lstat(d.Path)
	return err == nil
}

// Discard deletes the text, and all files that the editor has left beside it. The error is that of
// the file system.
func (d *Draft) Discard() error { return os.RemoveAll(d.dir) }
