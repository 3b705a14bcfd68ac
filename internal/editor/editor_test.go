package editor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFromEnv(t *testing.T) {
	for _, tt := range []struct {
		reason string
		env    map[string]string
		want   []string
	}{
		{"kubectl's own comes first", map[string]string{"KUBE_EDITOR": "nano", "EDITOR": "emacs"}, []string{"nano"}},
		{"then everybody's", map[string]string{"EDITOR": "emacs"}, []string{"emacs"}},
		{"then vi", nil, []string{choose("vi", "notepad")}},
		{"plain arguments need no shell", map[string]string{"EDITOR": "code --wait  -n"}, []string{"code", "--wait", "-n"}},
		{"a path without spaces is run as it is", map[string]string{"EDITOR": `C:\vim\vim.exe`}, []string{`C:\vim\vim.exe`}},
		{"quotes are the shell's", map[string]string{"EDITOR": "sed -i 's/a b/c/'", "SHELL": "/bin/sh"}, []string{"/bin/sh", "-c", "sed -i 's/a b/c/'"}},
		{"on Windows, too", map[string]string{"EDITOR": `"C:\Program Files\x" -w`, "SHELL": "cmd"}, []string{"cmd", "/C", `"C:\Program Files\x" -w`}},
	} {
		e := FromEnv(func(name string) string { return tt.env[name] })
		if d := cmp.Diff(tt.want, e.args); d != "" {
			t.Errorf("%s: %s", tt.reason, d)
		}
	}
}

// script makes an editor of a shell script.
func script(t *testing.T, text string) Editor {
	t.Helper()
	file := filepath.Join(t.TempDir(), "editor.sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o700); err != nil { //nolint:gosec // it is to be run
		t.Fatal(err)
	}
	return Editor{name: file, args: []string{file}}
}

func TestDraft(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the scripts are a shell's
	}
	t.Setenv("TMPDIR", t.TempDir())
	d, err := NewDraft("deployment.apps-web.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := Streams{In: strings.NewReader("typed"), Out: &out, Err: &out}
	got, err := d.Edit(t.Context(), script(t, `cat; printf new >"$1.new"; chmod 666 "$1.new"; mv "$1.new" "$1"; touch "$1~"`), s, []byte("old"))
	if err != nil || string(got) != "new" || out.String() != "typed" {
		t.Errorf("got %q, %q, %v: the user saves, and has the terminal", got, out.String(), err)
	}
	info, err := os.Stat(d.Path)
	if err != nil || info.Mode().Perm() != 0o600 || filepath.Base(d.Path) != "deployment.apps-web.yaml" {
		t.Errorf("%v %v: no other user may read it, whatever mode the editor has set", info.Mode(), err)
	}
	got, err = d.Edit(t.Context(), script(t, `printf more >>"$1"; exit 3`), s, []byte("old"))
	if err == nil || !strings.Contains(err.Error(), "there was a problem with the editor") || string(got) != "oldmore" {
		t.Errorf("got %q, %v: what was saved is there though the editor failed", got, err)
	}
	if _, err = d.Edit(t.Context(), Editor{name: "/nosuch", args: []string{"/nosuch"}}, s, []byte("old")); err == nil || !strings.Contains(err.Error(), "KUBE_EDITOR") {
		t.Errorf("got %v", err)
	}
	if err := d.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(d.Path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there, with what editors leave: %v", err)
	}
}

// TestDraftMisused: whatever an editor leaves in the place of the file, the end is
// soon, nothing outside is touched, and the text is where Path says.
func TestDraftMisused(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the scripts are a shell's
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.WriteFile(elsewhere, []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ why, script, want, kept string }{
		{"the file is gone", `rm "$1"`, "has taken the file away; nothing was saved", "old"},
		{"a folder", `rm "$1"; mkdir "$1"`, "no regular file; nothing was saved", "old"},
		{"a pipe, which would never end", `rm "$1"; mkfifo "$1"`, "no regular file; nothing was saved", "old"},
		{"a link to another file", `ln -sf ` + elsewhere + ` "$1"`, "no regular file; nothing was saved", "old"},
		{"gone, and failed: the failure is reported", `rm "$1"; exit 1`, "there was a problem with the editor", "old"},
		{"100 MB", `head -c 100000000 /dev/zero >"$1"`, "larger than 16 MiB", ""},
		{"killed", `printf more >>"$1"; kill -9 $$`, "there was a problem with the editor", "oldmore"},
	} {
		t.Setenv("TMPDIR", t.TempDir())
		d, err := NewDraft("web.yaml")
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Edit(t.Context(), script(t, tt.script), Streams{}, []byte("old"))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.why, err, tt.want)
		}
		if got, err := os.ReadFile(d.Path); tt.kept != "" && string(got) != tt.kept {
			t.Errorf("%s: the text is not where it is said to be: %q, %v", tt.why, got, err)
		}
	}
	info, err := os.Stat(elsewhere)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("what a link leads to was touched: %v, %v", info.Mode(), err)
	}
	if got, err := os.ReadFile(elsewhere); string(got) != "theirs" {
		t.Errorf("what a link leads to was touched: %q, %v", got, err)
	}
}

func TestRunEndsTheEditor(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the scripts are a shell's
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	r, w := io.Pipe()
	go func() {
		_, _ = io.ReadFull(r, make([]byte, len("runs\n"))) // the editor runs
		cancel(why)
	}()
	if err := script(t, "echo runs; exec sleep 600").Run(ctx, "file", Streams{Out: w}); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// TestDraftUnwritten: where a text cannot be written, the one before stays, and there is
// none where there was none.
func TestDraftUnwritten(t *testing.T) {
	d, err := NewDraft("a.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Discard() }()
	blocked := filepath.Join(d.dir, ".next") // as a full disk would
	if err := os.Mkdir(blocked, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Edit(t.Context(), Editor{}, Streams{}, []byte("one")); err == nil || d.Written() {
		t.Errorf("%v, %t", err, d.Written())
	}
	if err := os.WriteFile(d.Path, []byte("the user's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(blocked, 0o700); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	if _, err := d.Edit(t.Context(), Editor{}, Streams{}, []byte("two")); err == nil {
		t.Error("it was written")
	}
	if text, err := os.ReadFile(d.Path); err != nil || string(text) != "the user's" {
		t.Errorf("%q, %v", text, err)
	}
}
