package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/suggest"
)

// templated returns the printer for kubectl's template languages, which uses kubectl's own
// printers.
//
// Unlike kubectl: which prints control characters in a value as they are. Here they
// are escaped, whoever reads the output; -o json has every byte.
func templated(ctx context.Context, v view) (printer, error) {
	name, spec, _ := strings.Cut(v.output, "=")
	if name == "custom-columns" || name == "custom-columns-file" {
		print, err := columnsPrinter(ctx, name, spec)
		return &listPrinter{view: v, print: print}, err
	}
	p, err := templatePrinter(ctx, v)
	return &listPrinter{view: v, print: func(objects []any) ([]byte, error) {
		u, err := printable(oneOrList(objects))
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := p.PrintObj(u, &b); err != nil {
			return nil, withoutDump(name, err)
		}
		return []byte(escape.Text(b.String())), nil
	}}, err
}

// withoutDump returns a template's error without the object that kubectl's printers append.
func withoutDump(output string, err error) error {
	text, _, _ := strings.Cut(err.Error(), ". Printing more information")
	text = strings.TrimSuffix(strings.Replace(text, "Error executing template: ", "", 1), "\n")
	return fmt.Errorf("--output=%s: %s: compare the template with what -o json prints", output, text)
}

// templateFiles maps the printers that read their template from a file to those that take it
// as text.
var templateFiles = map[string]string{"go-template-file": "go-template", "templatefile": "template", "jsonpath-file": "jsonpath"}

func templatePrinter(ctx context.Context, v view) (printers.ResourcePrinter, error) {
	flags := genericclioptions.NewKubeTemplatePrintFlags()
	*flags.TemplateArgument = v.template
	output := v.output
	if output == "" {
		output = "go-template"
	}
	name, file, _ := strings.Cut(output, "=")
	if inline, ok := templateFiles[name]; ok {
		if v.template != "" {
			file = v.template
		}
		text, err := source.ReadNamed(ctx, file) // the printers read without a limit
		if err != nil {
			return nil, fmt.Errorf("--output=%s: %w", name, err)
		}
		output, *flags.TemplateArgument = inline, string(text)
	}
	p, err := flags.ToPrinter(output)
	if genericclioptions.IsNoCompatiblePrinterError(err) {
		names := printerNames(anyPrinter) + ", jsonpath, jsonpath-as-json, jsonpath-file, go-template, go-template-file, custom-columns, custom-columns-file"
		return nil, fmt.Errorf("--output=%s: there are %s%s", v.output, names, suggest.Hint(name, strings.Split(names, ", ")))
	}
	if err != nil && strings.HasPrefix(err.Error(), "template format specified") {
		example := "{{.metadata.name}}"
		if strings.HasPrefix(name, "jsonpath") {
			example = "{.metadata.name}"
		}
		return nil, fmt.Errorf("--output=%s: %w, as in %s='%s'", name, err, name, example)
	}
	if err != nil {
		return nil, fmt.Errorf("--output=%s: %w", name, err)
	}
	return p, nil
}

// printable converts a value to the form that kubectl's printers take.
func printable(v any) (runtime.Unstructured, error) {
	text, err := jsonText(v)
	if err != nil {
		return nil, err
	}
	obj, err := runtime.Decode(unstructured.UnstructuredJSONScheme, text)
	u, _ := obj.(runtime.Unstructured)
	return u, err
}
