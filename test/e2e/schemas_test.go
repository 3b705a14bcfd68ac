package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"
)

// schemas are the published ones, docs/schemas, by name: plan, record, outcome.
var schemas = sync.OnceValues(func() (map[string]*validate.SchemaValidator, error) {
	files, err := filepath.Glob("../../docs/schemas/*.v1.json")
	out := map[string]*validate.SchemaValidator{}
	for _, file := range files {
		text, readErr := os.ReadFile(file)
		if readErr != nil {
			return nil, readErr
		}
		s := &spec.Schema{}
		if err := json.Unmarshal(text, s); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".v1.json")] = validate.NewSchemaValidator(s, nil, "", strfmt.Default)
	}
	return out, err
})

// published returns the schema of a document that the program prints; "" for any other.
func published(document map[string]any) string {
	kind, _ := document["kind"].(string)
	_, object := document["object"].(string)
	switch {
	case document["apiVersion"] == "kubectl-merge.dev/v1alpha1" && kind == "Outcome":
		return "outcome"
	case document["apiVersion"] == "kubectl-merge.dev/v1alpha1" && document["record"] == true:
		return "record"
	case document["apiVersion"] == "kubectl-merge.dev/v1alpha1" && kind == "Plan":
		return "plan"
	case kind == "DriftReport", kind == "DriftEvent":
		return "drift"
	case kind == "AbsorbReport":
		return "absorb"
	case object && (kind == "error" || kind == "not-written"):
		return "errors"
	case object && kind != "" && document["apiVersion"] == nil, kind == "summary" && document["summary"] != nil:
		return "notes"
	}
	return ""
}

// valid holds a document to its schema; nil for one without a schema here.
func valid(document map[string]any) error {
	all, err := schemas()
	name := published(document)
	if err != nil || name == "" {
		return err
	}
	if err := all[name].Validate(document).AsError(); err != nil {
		text, _ := json.Marshal(document)
		return fmt.Errorf("is not as docs/schemas/%s.v1.json has it: %w\n%s", name, err, text)
	}
	return nil
}

// printedBy is the log of one program in a story.
var printedBy = regexp.MustCompile(`(?m)^(?:\[(stdout|stderr)\]|> (.*))$`)

// validPrinted holds every document that the programs of a story have printed, by its log, to its
// schema. Notes are looked for where they are asked for.
func validPrinted(log string) []error {
	var errs []error
	marks := printedBy.FindAllStringSubmatchIndex(log, -1)
	command := ""
	for i, m := range marks {
		if m[4] >= 0 {
			command = log[m[4]:m[5]]
			continue
		}
		end := len(log)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		if !strings.Contains(command, "merge") || strings.Contains(command, "tty ") { // a terminal breaks lines
			continue
		}
		for _, document := range documents(strings.TrimLeft(log[m[1]:end], "\n")) {
			if p := published(document); !slices.Contains([]string{"notes", "errors"}, p) || strings.Contains(command, "--notes=json") || strings.Contains(command, "--notes json") {
				if err := valid(document); err != nil {
					errs = append(errs, fmt.Errorf("> %s: %w", command, err))
				}
			}
		}
	}
	return errs
}

// documents are the JSON documents of a text, each beginning on a line of its own, and a plan as YAML.
func documents(text string) []map[string]any {
	var out []map[string]any
	if strings.HasPrefix(text, "apiVersion: kubectl-merge.dev/") {
		document := map[string]any{}
		if yaml.Unmarshal([]byte(text), &document) == nil {
			return append(out, document)
		}
	}
	for text != "" {
		if strings.HasPrefix(text, "{") {
			document := map[string]any{}
			d := json.NewDecoder(strings.NewReader(text))
			if d.Decode(&document) == nil {
				out = append(out, document)
				text = text[d.InputOffset():]
			}
		}
		_, text, _ = strings.Cut(text, "\n")
	}
	return out
}

// TestSchemas: each document has a schema of that name and version, which takes what the pages
// show and nothing that is misspelt.
func TestSchemas(t *testing.T) {
	all, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plan", "record", "outcome", "notes", "drift", "errors", "absorb"} {
		if all[name] == nil {
			t.Errorf("docs/schemas/%s.v1.json is not there", name)
		}
	}
	log := "> exec kubectl merge -f a.yaml --notes=json\n[stderr]\n"
	for line, want := range map[string]int{
		`{"kind":"error","object":"configmap/a","text":"no"}`:                                                         1,
		`{"kind":"error","object":"configmap/a","text":"no","reason":"other","retryable":false,"next":[["kubectl"]]}`: 0,
		`{"kind":"error","object":"configmap/a","message":"no"}`:                                                      1,
		`{"kind":"overwriten","object":"configmap/a","text":"no"}`:                                                    1,
		`{"kind":"waiting","object":"deployment.apps/a","reason":"x","pod":"p"}`:                                      0,
		`{"kind":"AbsorbReport","values":[],"written":false}`:                                                         0,
		`{"kind":"AbsorbReport","values":[{"object":"configmap/a"}],"written":0}`:                                     1,
		`{"apiVersion":"kubectl-merge.dev/v1alpha1","kind":"Outcome","dryRun":true}`:                                  1,
		`{"apiVersion":"v1","kind":"ConfigMap"}`:                                                                      0,
	} {
		if errs := validPrinted(log + line + "\n> next\n"); len(errs) != want {
			t.Errorf("%s: %v, want %d errors", line, errs, want)
		}
	}
}

// TestNoteKinds: the schema of notes names every kind that the program has.
func TestNoteKinds(t *testing.T) {
	text, err := os.ReadFile("../../docs/schemas/notes.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	errors, err := os.ReadFile("../../docs/schemas/errors.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	kinds := regexp.MustCompile(`NoteKind += "([a-z-]+)"`)
	found := 0
	for _, pattern := range []string{"../../internal/*/*.go", "../../pkg/*/*.go"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range kinds.FindAllSubmatch(code, -1) {
				found++
				if !strings.Contains(string(text)+string(errors), fmt.Sprintf("%q", m[1])) {
					t.Errorf("%s: no schema has the kind %s", file, m[1])
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d kinds were found", found)
	}
}
