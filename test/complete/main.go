// Command complete shows what the program takes the API server to fill in: of each
// object on stdin, a line of JSON, it writes what merge.Complete makes of it. The module
// test/cluster, which has the server's own defaulting functions, compares the two.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "complete:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	w := bufio.NewWriter(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) == 0 && err != nil {
			return w.Flush()
		}
		completed, err := complete(line)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n", completed)
	}
}

// complete is null for an object of a kind that the table of built-in types does not
// have.
func complete(line []byte) ([]byte, error) {
	v, err := merge.ReadJSON(line)
	if err != nil {
		return nil, err
	}
	obj, _ := v.(map[string]any)
	version, _ := obj["apiVersion"].(string)
	kind, _ := obj["kind"].(string)
	group, short, ok := strings.Cut(version, "/")
	if !ok {
		group, short = "", version
	}
	typ, ok := schema.Builtin(group, short, kind)
	if !ok {
		return []byte("null"), nil
	}
	return json.Marshal(merge.Complete(obj, typ, false))
}
