// Package readme holds the README to the truth: every console block in it is run
// and compared.
package readme

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-merge/kubectl-merge/internal/cli"
)

var update = flag.Bool("update", false, "write what the commands print into the README")

const top = "../.."

// TestREADME runs each `$ kubectl merge …` of README.md's console blocks, from the
// top of the repository with no kubeconfig, and compares what both streams show.
func TestREADME(t *testing.T) {
	t.Chdir(top)
	t.Setenv("KUBECONFIG", os.DevNull)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("NO_COLOR", "1")
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "```console\n")
	if len(parts) < 2 {
		t.Fatal("README.md shows no command")
	}
	for i, part := range parts[1:] {
		block, rest, ok := strings.Cut(part, "```\n")
		if !ok {
			t.Fatalf("block %d is not closed", i+1)
		}
		command, want, _ := strings.Cut(block, "\n")
		got := shown(t, command)
		if *update {
			parts[i+1] = command + "\n" + got + "```\n" + rest
			continue
		}
		if got != want {
			t.Errorf("%s\n got\n%s\nwant\n%s\n(go test ./test/readme -update rewrites it)", command, got, want)
		}
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(strings.Join(parts, "```console\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// took is how long a run has taken, which is different each time.
var took = regexp.MustCompile(` in \d+\.\ds \(`)

func shown(t *testing.T, command string) string {
	t.Helper()
	rest, ok := strings.CutPrefix(command, "$ kubectl merge ")
	if !ok {
		t.Fatalf("not a command of ours: %s", command)
	}
	var out bytes.Buffer
	args := strings.Fields(strings.ReplaceAll(rest, "'", ""))
	cli.Main(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out})
	text := took.ReplaceAllString(out.String(), " in 0.1s (")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}
