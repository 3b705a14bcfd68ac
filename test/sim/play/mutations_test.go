package play

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var mutate = flag.String("sim.mutations", "", "play the mutations whose name has this text, or all")

// root of the repository.
const root = "../../.."

// TestMutations: with the fix of a defect taken out, the simulation finds the defect again. Without
// -sim.mutations only that each fix is still where it was.
func TestMutations(t *testing.T) {
	for _, m := range Mutations {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) {
			overlay := m.overlay(t)
			if *mutate == "" || *mutate != "all" && !strings.Contains(m.Name, *mutate) {
				return
			}
			program := filepath.Join(t.TempDir(), "mutated.test")
			if out, err := exec.Command("go", "test", "-overlay", overlay, "-ldflags=-s -w", "-c", "-o", program, ".").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			cmd := exec.Command(program, "-test.run=^TestSeeds$", "-sim.n=200000", "-part=all", "-sim.shrinks=false", "-sim.only="+m.Only)
			out, err := cmd.CombinedOutput()
			found := broken.FindSubmatch(out)
			if failed := (*exec.ExitError)(nil); !errors.As(err, &failed) || found == nil {
				t.Fatalf("none of 200000 seeds finds it: %v\n%s", err, out)
			}
			t.Logf("%s: seed %s: %s", m.Name, found[1], found[2])
		})
	}
}

var broken = regexp.MustCompile(`go run ./test/sim -seed (\d+)\n\s*(.*)\n`)

// overlay gives a file by which go builds the program with the fix taken out.
func (m Mutation) overlay(t *testing.T) string {
	t.Helper()
	dir, replaced := t.TempDir(), map[string]string{}
	for i, e := range m.edits {
		name, err := filepath.Abs(filepath.Join(root, e.file))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte(e.old)); n != 1 {
			t.Fatalf("%s has %q %d times, want once: the mutation has to follow the program", e.file, e.old, n)
		}
		copied := filepath.Join(dir, fmt.Sprint(i, ".go"))
		if err := os.WriteFile(copied, bytes.Replace(text, []byte(e.old), []byte(e.new), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		replaced[name] = copied
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
