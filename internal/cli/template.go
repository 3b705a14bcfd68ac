package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
)

// templated returns the printer for kubectl's template languages, which uses kubectl's own
// printers.
//
// Unlike kubectl: which prints control characters in a value as they are. Here they
// are escaped, for every reader of the output; -o json has every byte.
func templated(ctx context.Context, v view) (printer, error) {
	name, spec, _ := strings.Cut(v.output, "=")
	if name == "custom-columns" || name == "custom-columns-file" {
		print, err := columnsPrinter(ctx, name, spec)
		return &listPrinter{view: v, print: print}, err
	}
	p, err := templatePrinter(ctx, v)
	return &listPrinter{view: v, print: func(objects []any) ([]byte, error) {
		whole := objects[0]
		if len(objects) > 1 {
			whole = map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}, "items": objects}
		}
		u, err := printable(whole)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := p.PrintObj(u, &b); err != nil {
			text, _, _ := strings.Cut(err.Error(), ". Printing more information") // and the object
			text = strings.TrimSuffix(strings.Replace(text, "Error executing template: ", "", 1), "\n")
			return nil, fmt.Errorf("--output=%s: %s: compare the template with what -o json prints", name, text)
		}
		return []byte(escape.Text(b.String())), nil
	}}, err
}

// templateFiles maps the printers that read their template from a file to those that take it
// as text.
var templateFiles = map[string]string{"go-template-file": "go-template", "templatefile": "template", "jsonpath-file": "jsonpath"}

func templatePrinter(ctx context.Context, v view) (printers.ResourcePrinter, error) {
	flags := genericclioptions.NewKubeTemplatePrintFlags()
	*flags.TemplateArgument = v.template
	output := cmp.Or(v.output, "go-template")
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

// column is one column of -o custom-columns.
type column struct {
	header string
	path   *jsonpath.JSONPath
}

// columnsPrinter reads HEADER:PATH,HEADER:PATH as kubectl get does, or a file with the headers in
// its first line and the paths in its second.
func columnsPrinter(ctx context.Context, name, spec string) (func([]any) ([]byte, error), error) {
	if spec == "" {
		return nil, fmt.Errorf("--output=%s: columns are missing, as in %s=NAME:.metadata.name", name, name)
	}
	if name == "custom-columns-file" {
		data, err := source.ReadNamed(ctx, spec)
		if err != nil {
			return nil, fmt.Errorf("--output: %w", err)
		}
		if spec, err = joinColumns(string(data)); err != nil {
			return nil, fmt.Errorf("--output: %s: %w", name, err)
		}
	}
	var columns []column
	for _, part := range strings.Split(spec, ",") {
		header, path, ok := strings.Cut(part, ":")
		if !ok {
			return nil, fmt.Errorf("--output=%s: %q is not HEADER:PATH, as in NAME:.metadata.name", name, part)
		}
		p := jsonpath.New(header).AllowMissingKeys(true)
		if err := p.Parse(relaxed(path)); err != nil {
			return nil, fmt.Errorf("--output=%s: column %s: %w", name, header, err)
		}
		columns = append(columns, column{header, p})
	}
	return func(objects []any) ([]byte, error) { return table(columns, objects) }, nil
}

func joinColumns(text string) (string, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) < 2 {
		return "", errors.New("needs a line of headers and a line of paths")
	}
	headers, paths := strings.Fields(lines[0]), strings.Fields(lines[1])
	if len(headers) != len(paths) {
		return "", fmt.Errorf("has %d headers and %d paths", len(headers), len(paths))
	}
	for i := range headers {
		headers[i] += ":" + paths[i]
	}
	return strings.Join(headers, ","), nil
}

// relaxed accepts a path without its braces and leading dot.
func relaxed(path string) string {
	if strings.HasPrefix(path, "{") {
		return path
	}
	if !strings.HasPrefix(path, ".") && !strings.HasPrefix(path, "[") {
		path = "." + path
	}
	return "{" + path + "}"
}

func table(columns []column, objects []any) ([]byte, error) {
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 6, 4, 3, ' ', 0)
	fmt.Fprintln(t, strings.Join(each(columns, func(c column) string { return c.header }), "\t"))
	for _, o := range objects {
		u, err := printable(o) // with numbers as jsonpath compares them
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(t, strings.Join(each(columns, func(c column) string { return c.cell(u.UnstructuredContent()) }), "\t"))
	}
	err := t.Flush()
	return b.Bytes(), err
}

// cell returns the text of the column, escaped if it would break the table or control the terminal.
//
// Unlike kubectl: which prints it as it is.
func (c column) cell(obj any) string {
	var b bytes.Buffer
	results, err := c.path.FindResults(obj)
	if err != nil || len(results) == 0 || len(results[0]) == 0 {
		return "<none>"
	}
	for i, r := range results[0] {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, r.Interface())
	}
	return escape.Line(b.String())
}
