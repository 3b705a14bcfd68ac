package source

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Parse reads the objects of a file with the given content; name is for errors. A List is returned
// as its items. Valid objects are returned with an error.
func Parse(name string, data []byte) ([]object.Object, error) {
	return (&parser{file: name, keep: func(o object.Object) (object.Object, bool) { return o, true }}).parse(string(data))
}

// keeping converts an object for storing as soon as it is read; false drops it.
type keeping func(object.Object) (object.Object, bool)

// parse keeps one document, or one item of a list, in memory at a time besides the stored ones.
func (p *parser) parse(text string) ([]object.Object, error) {
	if page.MatchString(text) {
		return nil, fmt.Errorf("%s: is a web page, not a manifest: on GitHub, take the address of \"Raw\"", p.file)
	}
	chunks, err := split(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.file, err)
	}
	for _, c := range chunks {
		p.chunk(c, object.Object{})
	}
	return p.objects, errors.Join(p.errs...)
}

// parser reads the objects of one file.
type parser struct {
	file    string
	keep    keeping
	edited  bool // see Inputs
	reader  yamldoc.Reader
	objects []object.Object
	errs    []error
	reread  []error // see Document
}

// kustomizations are the names of the files of kustomizations, which may lack a kind.
var kustomizations = konfig.RecognizedKustomizationFileNames()

// chunk reads a chunk. Of a List each item is let go before the next is read; list is the List without
// them, where its items do not state their kind.
func (p *parser) chunk(c chunk, list object.Object) {
	before, items, untyped := *p, 0, false
	p.reader.Item = func(v any, line int) error {
		items++
		m, isMap := v.(map[string]any)
		untyped = untyped || list.Value == nil && isMap && m["kind"] == nil && m["apiVersion"] == nil
		if _, changed := changedNumber(v); changed {
			return errors.New("a number is rounded") // all is read again, for its place
		}
		if !untyped {
			p.document(Document{Value: listItem(list, v), Nth: c.nth, Many: c.many, Line: line})
		}
		return nil
	}
	docs, err := c.documents(&p.reader)
	if p.reader.Item = nil; items > 0 || err != nil {
		var frame object.Object
		if err == nil && len(docs) == 1 {
			frame.Value, _ = docs[0].Value.(map[string]any)
		}
		_, isList := frame.Items()
		if isList && !untyped {
			p.reread = append(p.reread, docs[0].Reread...)
			return
		}
		if *p = before; isList {
			p.chunk(c, frame)
			return
		}
		docs, err = c.documents(&p.reader)
	}
	for _, d := range docs {
		p.document(d)
	}
	if err != nil {
		p.errs = append(p.errs, fmt.Errorf("%s: %w", p.file, p.advise(c, err)))
	}
}

// meant returns the way out where a document is the table that kubectl get prints, or a list of rules.
func meant(v any) string {
	list := merge.At[[]any](v)
	switch text, _ := v.(string); {
	case strings.HasPrefix(text, "NAME "), strings.HasPrefix(text, "NAMESPACE "):
		return ", which kubectl get prints with -o yaml"
	case len(list) > 0 && (merge.At[string](list[0], "winner") != "" || merge.At[bool](list[0], "ignore")):
		return "; rules are given with --rules, and kept out of the folders of -f"
	}
	return ""
}

// document adds the objects of one document: its object, or the items of a list.
func (p *parser) document(d Document) {
	at := object.Origin{File: p.file, Document: d.Nth, Line: d.Line, Many: d.Many}
	p.reread = append(p.reread, d.Reread...)
	m, ok := d.Value.(map[string]any)
	if !ok {
		p.errs = append(p.errs, fmt.Errorf("%s: is %s, not an object: an object begins with apiVersion and kind%s", at, object.Describe(d.Value), meant(d.Value)))
		return
	}
	o := object.Object{Value: m, Origin: at}
	if items, ok := o.Items(); ok {
		for i, v := range items {
			item := d
			item.Value, item.Items, item.Reread = listItem(o, v), nil, nil
			if i < len(d.Items) {
				item.Line = d.Items[i]
			}
			p.document(item)
		}
		return
	}
	if is := other(o); is != "" {
		p.errs = append(p.errs, fmt.Errorf("%s: is %s", o.Origin, is))
		return
	}
	if err := o.Check(); err != nil {
		if bad, ok := errors.AsType[*object.FieldError](err); ok && bad.Path == "apiVersion" && m["kind"] == nil && m["metadata"] == nil {
			bad.What = "is not set, and kind neither: it is no Kubernetes object"
			if strings.Contains(at.File, "values") {
				bad.What += "; values of a Helm chart are given to its templates (helm template CHART -f FILE)"
			} else if m["spec"] != nil {
				bad.What = "is not set, nor are kind and metadata.name; a part of an object is merged into its file: kubectl merge files PART FILE -w"
			} else if _, is := m["404"]; is {
				bad.What = "is not set: 404 is what a web server answers for a file that it does not have: correct the address, and download it again"
			} else {
				bad.What += ": leave the file out of -f, or write both"
			}
		}
		p.errs = append(p.errs, onItsLine(err))
		return
	}
	if o, ok := p.keep(o); ok {
		p.objects = append(p.objects, o)
	}
}

// other returns what a document that is for other commands or flags is, and for which; "" for any other.
func other(o object.Object) string {
	switch base := filepath.Base(o.Origin.File); {
	case o.Group() == "kustomize.config.k8s.io" || o.Kind() == "" && slices.Contains(kustomizations, base):
		return "a kustomization, not an object: give its folder with -k"
	case o.Group() == "kubectl-merge.dev":
		return "a document of kubectl merge, not an object of the cluster: keep it out of the folders of -f; a plan is given with --plan, and a record to kubectl merge undo"
	case o.Kind() == "Config" && o.APIVersion() == "v1" && o.Value["clusters"] != nil:
		return "a kubeconfig, not an object: give it with --kubeconfig"
	case o.Kind() == "" && o.APIVersion() == "" && o.Value["services"] != nil:
		return "a Compose file, not an object: convert it first, as kompose convert does"
	case o.Kind() == "" && base == "Chart.yaml":
		return "of a Helm chart, not an object: render the chart (helm template CHART | kubectl merge -f -)"
	}
	return ""
}

// Items returns the items of a List as objects, as the Objects of a file have them; false for any
// other object.
func Items(o object.Object) ([]any, bool) {
	items, ok := o.Items()
	return object.Each(items, func(v any) any { return listItem(o, v) }), ok
}

// listItem sets kind and apiVersion, which items of a typed list (PodList) lack.
func listItem(o object.Object, v any) any {
	m, ok := v.(map[string]any)
	kind := strings.TrimSuffix(o.Kind(), "List")
	if !ok || kind == "" || m["kind"] != nil || m["apiVersion"] != nil {
		return v
	}
	m = maps.Clone(m)
	m["kind"], m["apiVersion"] = kind, o.APIVersion()
	return m
}

// Distinct drops items that repeat an earlier item's object byte for byte, as when a file is named
// twice. It returns an error, with both places, for every object that occurs again with other
// content; apiVersions may differ.
func Distinct[T any](items []T, of func(T) object.Object) ([]T, error) {
	first := make(map[object.Identity]object.Object, len(items))
	distinct := make([]T, 0, len(items))
	var errs []error
	for _, item := range items {
		o := of(item)
		was, again := first[o.ID()]
		switch {
		case !again:
			first[o.ID()] = o
			distinct = append(distinct, item)
		case !o.Same(was):
			errs = append(errs, fmt.Errorf("%s: is the same object as at %s, with other content; keep one of them, as the second would undo the first", o.Place(), was.Origin))
		}
	}
	return distinct, errors.Join(errs...)
}

// advise completes the error of a chunk that cannot be read by what the text probably is.
func (p *parser) advise(c chunk, err error) error {
	bad, ok := errors.AsType[*SyntaxError](err)
	if !ok {
		return err
	}
	line := func(at int) int { return c.line + strings.Count(c.text[:at], "\n") }
	dashes, comment, braces := joined.FindStringIndex(c.text), commentOf(c.text), strings.Index(c.text, "{{")
	switch {
	case braces >= 0 && p.edited:
		*bad = SyntaxError{Document: bad.Document, Line: line(braces), What: "{{ }} is a template's, as Helm's charts have them: no value of live can be written into it: edit the chart's values or templates"}
	case braces >= 0:
		*bad = SyntaxError{Document: bad.Document, Line: line(braces), What: "{{ }} " + object.Unrendered}
	case comment >= 0:
		*bad = SyntaxError{Document: bad.Document, Line: line(comment), What: "JSON has no comments: remove what // or /* begins"}
	case dashes != nil && line(dashes[0]) <= bad.Line:
		*bad = SyntaxError{Document: bad.Document, Line: line(dashes[0]), What: "--- stands on a line of its own: begin a new line after it"}
	case bad.Path == "apiVersion" || bad.Path == "kind":
		bad.What = keepOne.ReplaceAllString(bad.What, fmt.Sprintf("; is a --- missing before line %d? Otherwise keep one of them", bad.Line))
	}
	lines := strings.Split(c.text, "\n")
	for _, m := range misread {
		for n := bad.Line - 1; n <= bad.Line; n++ {
			if at := n - c.line; at >= 0 && at < len(lines) && m.line().MatchString(lines[at]) && strings.Contains(bad.What, m.error) {
				*bad = SyntaxError{Document: bad.Document, Line: n, What: m.what}
			}
		}
	}
	return err
}

// misread lists lines that explain an error of theirs, or of the next line.
var misread = []struct {
	line        func() *regexp.Regexp
	error, what string
}{
	{redact.Pattern(`^-(?:-|-{3,})\s*$`), "", "documents are separated by three dashes: ---"},
	{redact.Pattern(`^apiVersion: \S+ kind: `), "a second", "is all on one line, since its line breaks were lost: in a shell, quotes keep them: echo \"$TEXT\""},
	{redact.Pattern(`^ *\x{a0}`), "indented", "begins with a non-breaking space (U+00A0), which indents nothing: write spaces"},
	{redact.Pattern(`:\x{a0}`), "expected a key", "a non-breaking space (U+00A0) follows the colon: write a space"},
	{redact.Pattern(`^ *-[A-Za-z]\w*:(?:\s|$)`), "indented deeper", "a dash that begins an entry of a list is followed by a space"},
	{redact.Pattern(`^@@ .* @@`), "", "is a diff, not a manifest: kubectl merge -f FILE writes what diff shows"},
	{redact.Pattern(`^[-+] +[\w-]+:`), "a new document needs", "begins as a line of a diff: take out the lines with -, and the + of the others"},
	{redact.Pattern("^```"), "", "is Markdown's mark around a code block: take it out"},
	{redact.Pattern(`: [|>][+-]?\s*$`), "a key, a colon", "the text that follows | or > has to be indented deeper than its key"},
}

var (
	page    = regexp.MustCompile(`(?i)^\s*<(?:!doctype html|html)\b`)
	keepOne = regexp.MustCompile(`; keep one of them$`)
	joined  = regexp.MustCompile(`(?m)^---[^\s-]`) // a separator and what has to be below it
	lexed   = regexp.MustCompile(`"(?:\\.|[^"\\])*"|'[^']*'|(?:^|[\s,{}\[\]])(?://|/\*)`)
)

// commentOf returns where the first comment of a text in braces begins; -1: it has none.
func commentOf(text string) int {
	if begin := strings.TrimLeft(text, white); begin == "" || !strings.Contains("{[/", begin[:1]) {
		return -1
	}
	for _, at := range lexed.FindAllStringIndex(text, -1) {
		if last := text[at[1]-1]; last == '/' || last == '*' {
			return at[1] - 2
		}
	}
	return -1
}

// At returns the places of fields of an object from this package, as errors name them: web.yaml:
// lines 7, 9. The file is read again for them, so it is for errors that end a run. If that is
// impossible (standard input, a URL), or the fields are missing, At returns the object's place.
func At(o object.Object, fields ...merge.Path) string {
	var lines []int
	for _, p := range fields {
		if line := lineOf(o, p); line > 0 {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	switch lines = slices.Compact(lines); len(lines) {
	case 0:
		if info, err := os.Stat(o.Origin.File); err == nil && info.IsDir() {
			place := "kustomization " + o.Origin.String()
			if slices.ContainsFunc(fields, func(p merge.Path) bool { return p.String() == "spec.selector" }) {
				place += ": its commonLabels may have changed it; its labels do not, with includeTemplates: true"
			}
			return place
		}
		return o.Origin.String()
	case 1:
		return fmt.Sprintf("%s: line %d", o.Origin.File, lines[0])
	}
	return o.Origin.File + ": lines " + strings.Join(object.Each(lines, strconv.Itoa), ", ")
}

// onItsLine puts the line of the field into an error, instead of the object's.
func onItsLine(err error) error {
	var field *object.FieldError
	if !errors.As(err, &field) {
		return err
	}
	p, bad := merge.ParsePath(field.Path)
	if bad != nil && field.Path != "" {
		return err
	}
	if field.Key != "" {
		p = p.Child(merge.Named(field.Key))
	}
	if line := lineOf(field.Object, p); line > 0 {
		field.Object.Origin.Line = line
	}
	return field
}

func lineOf(o object.Object, p merge.Path) int {
	if Special(o.Origin.File) != "" { // a pipe can be read only once
		return 0
	}
	data, _ := ReadFile(o.Origin.File)
	chunks, _ := split(string(data)) // none of what cannot be read
	for _, c := range chunks {
		if c.nth != o.Origin.Document {
			continue
		}
		f, err := new(yamldoc.Reader).Parse(c.text, c.line)
		if err != nil {
			return 0
		}
		for _, d := range f.Documents() {
			if line := d.LineBelow(o.Origin.Line, p); line > 0 {
				return line
			}
		}
	}
	return 0
}
