// Command gen writes pkg/schema's table of the built-in types from Kubernetes' own Go modules. It
// refuses to write a table whose hand-kept facts name a type or field that does not exist.
//
// Run it with go generate ./pkg/schema after a change of the Kubernetes modules
// or of facts.yaml; a test fails while the committed table is stale.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("o", "builtin.table", "the file for the types")
	flag.Parse()
	t, err := generate()
	if err == nil {
		err = os.WriteFile(*out, t.tableText(), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate builds the table from the modules that this program is linked with.
func generate() (*table, error) {
	f, errFacts := readFacts(factsYAML)
	kinds, errKinds := findKinds()
	lists, errLists := serverSchemas()
	if err := errors.Join(errFacts, errKinds, errLists); err != nil {
		return nil, err
	}
	w := walker{lists: lists, table: &table{kinds: kinds, types: map[string]*typeRow{}}}
	for _, k := range kinds {
		if _, err := w.named(k.root); err != nil {
			return nil, fmt.Errorf("%s: %w", k.GroupVersionKind, err)
		}
	}
	if err := f.addTo(w.table); err != nil {
		return nil, fmt.Errorf("facts.yaml: %w", err)
	}
	return w.table, w.table.addDefaults(defaultsText)
}
