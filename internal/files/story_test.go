package files_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-merge/kubectl-merge/internal/cli"
	"github.com/kubectl-merge/kubectl-merge/internal/files"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kubectl-merge": func() {
		os.Exit(cli.Main(context.Background(), "kubectl-merge", os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}))
	}})
}

// TestStories plays testdata/stories: whole commands on the real program, with
// git where it is about a merge driver, and no cluster anywhere.
func TestStories(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/stories",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			for _, kv := range [][2]string{
				{"HOME", env.WorkDir}, {"KUBECONFIG", env.WorkDir + "/no-kubeconfig"},
				{"GIT_CONFIG_NOSYSTEM", "1"}, {"GIT_CONFIG_GLOBAL", env.WorkDir + "/gitconfig"},
				{"GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z"}, {"GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z"},
			} {
				env.Setenv(kv[0], kv[1])
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"mode": mode, "bytes": raw},
	})
}

// TestAppeared: a file that is to be new is there by now, or is the same to a file
// system that knows no case. It was not read, and stays.
func TestAppeared(t *testing.T) {
	dir := t.TempDir()
	dest, err := files.Read(t.Context(), dir, nil, files.YAML)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "service.yaml")
	if err := os.WriteFile(name, []byte("theirs: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = files.Write(dest, []files.Changed{{Name: "service.yaml", Text: []byte("ours: 1\n")}})
	text, readErr := os.ReadFile(name)
	if readErr != nil || string(text) != "theirs: 1\n" || err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("%v; the file holds %q, %v", err, text, readErr)
	}
}

// mode FILE PERMISSIONS checks a file's permissions.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := info.Mode().Perm().String(); (got == args[1]) == neg {
		ts.Fatalf("%s has %s", args[0], got)
	}
}

// raw is bytes FILE TEXT: it writes a file with what no archive can hold, such as \x00, as in Go's
// double quotes.
func raw(ts *testscript.TestScript, _ bool, args []string) {
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}
