package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestSignals ends a run in the middle of its writes by each of the signals that mean
// "end": what is under way is ended, all that was written is reported, and the exit code
// is the signal's.
func TestSignals(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	for sig, code := range map[syscall.Signal]int{syscall.SIGHUP: 129, syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		for _, line := range []string{"-f v2.yaml --concurrency=2", "set-last-applied -f v2.yaml"} {
			t.Run(sig.String()+" "+line, func(t *testing.T) {
				t.Parallel()
				u := s.user(t, "signals")
				u.file("v1.yaml", many(60, "1"))
				u.file("v2.yaml", many(60, "2"))
				u.merges("-f", "v1.yaml")
				was := u.versions("v2.yaml")
				p, err := newProxy(s.config)
				if err != nil {
					t.Fatal(err)
				}
				defer p.http.Close()
				cmd := u.proxied(p).command(t.Context(), "kubectl-merge", strings.Fields(line)...)
				p.fails(fault{hits: of("WRITE"), skip: 3, most: 1, do: func(w http.ResponseWriter, r *http.Request, server http.Handler) {
					if err := cmd.Process.Signal(sig); err != nil { // it waits for the answer to this write
						t.Error(err)
					}
					server.ServeHTTP(w, r)
				}})
				got := u.ends(cmd)
				is := u.versions("v2.yaml")
				truthful(t, got, was, is)
				if strings.Contains(got.stderr, "cannot be known") {
					t.Errorf("a write under way was cut off: %s", got)
				}
				if got.code == 0 && count(words(got), "configured") == 60 {
					t.Logf("it was through before the signal: %s", got.line)
				} else if got.code != code {
					t.Errorf("want exit %d: %s", code, got)
				}
				notUnchanged(t, "the run after the next", words(func() said { u.merges("-f", "v2.yaml"); return u.merges("-f", "v2.yaml") }()), 60)
			})
		}
	}
}

// TestUnread: what a run with --rollback-on-failure has written is rolled back if its output is not read.
func TestUnread(t *testing.T) {
	t.Parallel()
	u := server.need(t).user(t, "unread")
	u.file("v1.yaml", many(20, "1"))
	cmd := u.command(t.Context(), "kubectl-merge", "-f", "v1.yaml", "--preflight=false", "--rollback-on-failure")
	read, write, err := os.Pipe()
	if err = errors.Join(err, read.Close()); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = write, &errs
	if err = errors.Join(cmd.Run(), write.Close()); fmt.Sprint(err) != "exit status 1" {
		t.Errorf("%v: %s", err, &errs)
	}
	if left := u.does("kubectl", "get", "-f", "v1.yaml", "--ignore-not-found", "-o", "name"); left.stdout != "" {
		t.Errorf("are left: %s\n%s", left.stdout, &errs)
	}
}

// waits are command lines that read a pipe, whatever flag names it.
var waits = []string{"diff -f pipe", "-f v.yaml --live pipe", "-f v.yaml --live v.yaml --rules pipe", "-f v.yaml --live v.yaml --schema pipe",
	"-f v.yaml --live v.yaml --original pipe", "-f v.yaml --live v.yaml -o go-template-file --template pipe", "-f v.yaml --live v.yaml -o custom-columns-file=pipe",
	"files pipe v.yaml", "files v.yaml pipe", "files --original pipe v.yaml v.yaml", "replacements pipe -f v.yaml", "replacements r.yaml -f pipe"}

// TestSignalledWait: the first signal ends the wait for a pipe without a writer.
func TestSignalledWait(t *testing.T) {
	t.Parallel()
	for _, line := range waits {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			u := &user{t: t, server: &server, dir: t.TempDir(), home: t.TempDir()}
			u.file("v.yaml", many(1, "1"))
			u.file("r.yaml", "replacements: []\n")
			if err := syscall.Mkfifo(filepath.Join(u.dir, "pipe"), 0o600); err != nil {
				t.Fatal(err)
			}
			u.waits(strings.Fields(line)...)
		})
	}
}

// waits sends a signal to a command that has begun to open a pipe, which has to end it.
func (u *user) waits(args ...string) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), patience)
	defer cancel()
	cmd := u.command(ctx, "kubectl-merge", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	u.awaits(func() bool { return opens(cmd.Process.Pid) })
	err := cmd.Process.Signal(syscall.SIGINT)
	if err = errors.Join(err, cmd.Wait()); fmt.Sprint(err) != "exit status 130" || !strings.Contains(errs.String(), "reading it was interrupted") {
		u.t.Errorf("%v: %s", err, &errs)
	}
}

// opens: a thread of the process is in a call that opens a file.
func opens(process int) bool {
	calls, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", process))
	return slices.ContainsFunc(calls, func(call string) bool {
		text, err := os.ReadFile(call) // a thread may have ended
		return err == nil && strings.HasPrefix(string(text), fmt.Sprint(syscall.SYS_OPENAT, " "))
	})
}
