package corpus

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/strategic"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// Case is one case as it is written.
type Case struct {
	Name       string // GROUP/NAME
	Title, Why string

	Kind  schema.Kind
	Type  *merge.Type // nil where it is not known
	Input strategy.Input

	file    string
	archive *txtar.Archive
}

// Load reads every case below dir, in order of their names. The error names the
// first file that is no case.
func Load(dir string) ([]Case, error) {
	var cases []Case
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".txtar" {
			return err
		}
		c, err := read(dir, file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		cases = append(cases, c)
		return nil
	})
	return cases, err
}

func read(dir, file string) (Case, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Case{}, err
	}
	name, err := filepath.Rel(dir, strings.TrimSuffix(file, ".txtar"))
	if err != nil {
		return Case{}, err
	}
	c := Case{Name: filepath.ToSlash(name), file: file, archive: txtar.Parse(text)}
	h, err := header(string(c.archive.Comment))
	if err != nil {
		return Case{}, err
	}
	if c.Title, c.Why = h["title"], h["why"]; c.Title == "" || c.Why == "" {
		return Case{}, fmt.Errorf("a case has a title and says why")
	}
	if err := c.typed(h); err != nil {
		return Case{}, err
	}
	return c, c.input(h)
}

// keys are the header's.
var keys = map[string]bool{
	"title": true, "why": true, "kind": true, "policy": true, "strategy": true,
	"manager": true, "schema": true, "original": true, "blanked": true,
}

func header(text string) (map[string]string, error) {
	h := map[string]string{}
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch key, value, ok := strings.Cut(line, ":"); {
		case line == "":
		case line[0] == ' ' && last != "":
			h[last] += "\n" + strings.TrimSpace(line)
		case !ok || !keys[key] || h[key] != "":
			return nil, fmt.Errorf("header: %q is no line of it", line)
		default:
			last, h[key] = key, strings.TrimSpace(value)
		}
	}
	return h, nil
}

// typed finds the kind and its type: in the CRD, or compiled in. Without a kind
// the case is about bare values.
func (c *Case) typed(h map[string]string) error {
	if h["kind"] == "" {
		return nil
	}
	version, kind, ok := strings.Cut(h["kind"], " ")
	if !ok {
		return fmt.Errorf("kind: %q is no apiVersion and kind", h["kind"])
	}
	group, v, ok := strings.Cut(version, "/")
	if !ok {
		group, v = "", version
	}
	c.Kind = schema.Kind{Group: group, Version: v, Kind: kind}
	if h["schema"] != "" {
		return c.fromCRD(h["schema"])
	}
	if k, ok := schema.BuiltinKind(group, v, kind); ok {
		c.Kind = k
		c.Type, _ = schema.Builtin(group, v, kind)
	}
	return nil
}

func (c *Case) fromCRD(name string) error {
	text := c.data(name)
	if text == nil {
		var err error
		if text, err = os.ReadFile(filepath.Join(filepath.Dir(c.file), name)); err != nil {
			return err
		}
	}
	crd, err := value(name, text)
	if err != nil {
		return err
	}
	defs, err := schema.FromCRD(crd, merge.SourceFile)
	if err != nil {
		return err
	}
	for _, d := range defs {
		if d.Group == c.Kind.Group && d.Version == c.Kind.Version && d.Kind.Kind == c.Kind.Kind {
			c.Kind, c.Type = d.Kind, d.Type
			return nil
		}
	}
	return fmt.Errorf("schema: %s does not define %s/%s %s", name, c.Kind.Group, c.Kind.Version, c.Kind.Kind)
}

func (c *Case) input(h map[string]string) error {
	in := strategy.Input{
		Group: c.Kind.Group, Version: c.Kind.Version, Kind: c.Kind.Kind,
		Schema: c.Type, HasStatus: c.Kind.HasStatus,
	}
	var err error
	if in.Strategy, err = strategy.Named(h["strategy"]); err != nil {
		return err
	}
	if obj, err := scheme.Scheme.New(kschema.GroupVersionKind{Group: in.Group, Version: in.Version, Kind: in.Kind}); err == nil {
		in.Strategic = strategic.Of(obj)
	}
	if in.Policy, err = merge.PolicyNamed(or(h["policy"], "apply")); err != nil {
		return err
	}
	if in.Rules, err = schema.ParseRules(c.data("rules.yaml")); err != nil {
		return fmt.Errorf("rules.yaml: %w", err)
	}
	t := &in.Triple
	for name, side := range map[string]*any{"original": &t.Original, "local": &t.Local, "live": &t.Live} {
		if *side, err = c.side(name); err != nil {
			return err
		}
	}
	t.Appliers = []string{or(h["manager"], "kubectl-client-side-apply")}
	t.Blanked = h["blanked"] != ""
	if of, ok := strings.CutPrefix(h["original"], "managed-fields"); ok {
		holders := ownership.Named(t.Appliers...)
		holders.Alone = of == " alone"
		t.Original = ownership.Original(t.Live, holders, c.Type)
	}
	c.Input = in
	return nil
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// side reads one of the sides, nil where there is none.
func (c *Case) side(name string) (any, error) {
	for _, ext := range []string{".yaml", ".json"} {
		if text := c.data(name + ext); text != nil {
			return value(name+ext, text)
		}
	}
	return nil, nil
}

func value(name string, text []byte) (any, error) {
	if filepath.Ext(name) == ".json" {
		v, err := merge.ReadJSON(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return v, nil
	}
	docs, err := source.Decode(text)
	if err == nil && len(docs) != 1 {
		err = fmt.Errorf("holds %d documents, not one", len(docs))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return docs[0].Value, nil
}

// data is a file of the archive, nil where it is not there.
func (c *Case) data(name string) []byte {
	for _, f := range c.archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}
