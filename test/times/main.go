// Command times runs go test and prints where its time goes: by package, by test, and
// the CPU of all processes that it started. It refuses to judge: a test that failed
// is listed like any other, and the exit code is go test's.
//
//	go run ./test/times [-n ROWS] [arguments of go test]
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"text/tabwriter"
	"time"
)

// event is a line of go test -json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

// took is how long a package or test took.
type took struct {
	name, ended string
	seconds     float64
}

func main() {
	rows := flag.Int("n", 30, "how many `tests` to list, the slowest first")
	flag.Parse()
	args := flag.Args()
	if len(args) == 0 {
		args = []string{"./..."}
	}
	err := run(os.Stdout, *rows, exec.Command("go", append([]string{"test", "-json"}, args...)...))
	var code *exec.ExitError
	switch {
	case errors.As(err, &code):
		os.Exit(code.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "times:", err)
		os.Exit(1)
	}
}

// run prints the tables of a run of go test; what failed is printed as go test does.
func run(out io.Writer, rows int, tests *exec.Cmd) error {
	tests.Stderr = os.Stderr
	lines, err := tests.StdoutPipe()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := tests.Start(); err != nil {
		return err
	}
	packages, all := read(lines, out)
	err = tests.Wait()
	table(out, "package", packages, len(packages))
	table(out, "test", all, rows)
	state := tests.ProcessState
	fmt.Fprintf(out, "\n%s by the clock, %s of CPU: %s in programs, %s in the kernel\n", time.Since(began).Round(time.Second),
		(state.UserTime() + state.SystemTime()).Round(time.Second), state.UserTime().Round(time.Second), state.SystemTime().Round(time.Second))
	return err
}

// read gives the packages and the tests of go test -json, and prints what failing tests did.
func read(lines io.Reader, out io.Writer) (packages, tests []took) {
	printed := map[string]string{}
	for in := bufio.NewReader(lines); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return packages, tests
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			_, _ = out.Write(line) // a compiler's
			continue
		}
		name := e.Package + " " + e.Test
		switch e.Action {
		case "output":
			printed[name] += e.Output
		case "fail":
			fmt.Fprint(out, printed[name])
			fallthrough
		case "pass", "skip":
			delete(printed, name)
			if e.Test == "" {
				packages = append(packages, took{e.Package, e.Action, e.Elapsed})
			} else {
				tests = append(tests, took{e.Test, e.Action, e.Elapsed})
			}
		}
	}
}

// table prints the slowest rows.
func table(out io.Writer, what string, all []took, rows int) {
	slices.SortStableFunc(all, func(a, b took) int { return cmp.Compare(b.seconds, a.seconds) })
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "\nseconds\tended\t%s\n", what)
	for _, t := range all[:min(rows, len(all))] {
		fmt.Fprintf(w, "%.1f\t%s\t%s\n", t.seconds, t.ended, t.name)
	}
	_ = w.Flush()
}
