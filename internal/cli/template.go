package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

// templated is the printer for kubectl's template languages, printed by kubectl's own
// printers.
//
// Unlike kubectl: which prints control characters in a value as they are. Here they
// are escaped, whoever reads the output; -o json has every byte.
func templated(ctx context.Context, v view) (printer, error) {
	name, spec, _ := strings.Cut(v.output, "=")
	var (
		p   printers.ResourcePrinter
		err error
	)
	if name == "custom-columns" || name == "custom-columns-file" {
		p, err = columnsPrinter(ctx, name, spec)
	} else {
		p, err = templatePrinter(ctx, v)
	}
	if err != nil {
		return nil, err
	}
	return &listPrinter{view: v, print: func(obj any) ([]byte, error) {
		u, err := printable(obj)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = p.PrintObj(u, &b)
		return []byte(escape.Text(b.String())), err
	}}, nil
}

// templateFiles maps the printers that read their template from a file to those that take it
// as text.
var templateFiles = map[string]string{"go-template-file": "go-template", "templatefile": "template", "jsonpath-file": "jsonpath"}

func templatePrinter(ctx context.Context, v view) (printers.ResourcePrinter, error) {
	name, text, stated := strings.Cut(cmp.Or(v.output, "go-template"), "=")
	inline, inFile := templateFiles[name]
	switch {
	case v.template != "" && stated && !inFile: // two templates
		name = ""
	case v.template != "":
		text = v.template
	}
	if inFile {
		read, err := source.ReadNamed(ctx, text) // the printers' own reading has no bound
		if err != nil {
			return nil, fmt.Errorf("--output=%s: %w", name, err)
		}
		name, text = inline, string(read)
	}
	switch name {
	case "jsonpath", "jsonpath-as-json":
		return jsonPathPrinter(text, name == "jsonpath-as-json")
	case "template", "go-template":
		return goTemplatePrinter(text)
	}
	return nil, fmt.Errorf("--output=%s: there are %s, jsonpath, jsonpath-as-json, jsonpath-file, go-template, go-template-file, custom-columns, custom-columns-file", v.output, printerNames(func(printerRow) bool { return true }))
}

// errNoTemplate has kubectl's words.
var errNoTemplate = errors.New("template format specified but no template given")

func jsonPathPrinter(text string, asJSON bool) (printers.ResourcePrinter, error) {
	if text == "" {
		return nil, errNoTemplate
	}
	p, err := printers.NewJSONPathPrinter(text)
	if err != nil {
		return nil, fmt.Errorf("error parsing jsonpath %s, %w", text, err)
	}
	p.AllowMissingKeys(true)
	p.EnableJSONOutput(asJSON)
	return p, nil
}

func goTemplatePrinter(text string) (printers.ResourcePrinter, error) {
	if text == "" {
		return nil, errNoTemplate
	}
	p, err := printers.NewGoTemplatePrinter([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("error parsing template %s, %w", text, err)
	}
	p.AllowMissingKeys(true)
	return p, nil
}

// printable is a value in the form that kubectl's printers take.
func printable(v any) (runtime.Object, error) {
	text, err := jsonText(v)
	if err != nil {
		return nil, err
	}
	return runtime.Decode(unstructured.UnstructuredJSONScheme, text)
}
