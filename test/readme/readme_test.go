// Package readme holds the pages to the truth: every console block in them is run
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

var update = flag.Bool("update", false, "write what the commands print into the pages")

const top = "../.."

// TestREADME runs each `$ kubectl merge …` of the pages' console blocks, from the top of the
// repository with no kubeconfig, and compares what both streams show. Blocks of the form sh
// are played by the stories that the pages name (test/e2e, TestPages).
func TestREADME(t *testing.T) {
	all := pages(t)
	t.Chdir(top)
	t.Setenv("KUBECONFIG", os.DevNull)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("NO_COLOR", "1")
	ran := 0
	for file, text := range all {
		parts := strings.Split(text, "```console\n")
		ran += len(parts) - 1
		for i := range parts[1:] {
			parts[i+1] = compared(t, file, parts[i+1])
		}
		if *update {
			if err := os.WriteFile(strings.TrimPrefix(file, top+"/"), []byte(strings.Join(parts, "```console\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ran == 0 {
		t.Fatal("no page shows a command")
	}
}

// compared is the part of a page that begins with a console block, with what its command shows now.
func compared(t *testing.T, file, part string) string {
	t.Helper()
	block, rest, ok := strings.Cut(part, "```\n")
	if !ok {
		t.Fatalf("%s: a block is not closed", file)
	}
	command, want, _ := strings.Cut(block, "\n")
	got := shown(t, command)
	if got != want && !*update {
		t.Errorf("%s: %s\n got\n%s\nwant\n%s\n(go test ./test/readme -update rewrites it)", file, command, got, want)
	}
	return command + "\n" + got + "```\n" + rest
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
	cli.Main(t.Context(), "kubectl-merge", args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out})
	text := took.ReplaceAllString(out.String(), " in 0.1s (")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}
