package replacements

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Rules holds replacements in the order in which they were read.
type Rules []rule

// rule is one replacement and its place.
type rule struct {
	where string
	types.Replacement
	from *kyaml.RNode // the source, once it is found
}

// Parse reads replacements from YAML: a kustomization (other fields of it are ignored) or any
// mapping with replacements: in it, a list of replacements, or a single one. load reads the files
// that a path: in it names. The error lists all problems, each with the file and the place in it.
//
// Unlike kustomize: an unknown key is an error, and select may be a list, of which
// any may match (both are in kustomize's documentation of replacements).
func Parse(name string, text []byte, load func(path string) ([]byte, error)) (Rules, error) {
	p := parser{file: name, load: load}
	if err := p.read(text); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	same := func(a, b error) bool { return a.Error() == b.Error() } // of one document and the next
	return p.rules, errors.Join(slices.CompactFunc(p.errs, same)...)
}

type parser struct {
	file  string
	load  func(string) ([]byte, error)
	inner bool // the file was named by path:
	rules []rule
	errs  []error
}

func (p *parser) wrong(at, format string, args ...any) {
	if at != "" {
		at = ": " + at
	}
	p.errs = append(p.errs, fmt.Errorf("%s%s: %s", p.file, at, fmt.Sprintf(format, args...)))
}

// read reads the documents of a file. The error is that of a text that is not YAML.
func (p *parser) read(text []byte) error {
	f, err := yamldoc.Parse(text)
	if err != nil {
		return err
	}
	for _, d := range f.Documents() {
		if !d.Empty() {
			p.document(d.Value())
		}
	}
	return nil
}

func (p *parser) document(v any) {
	m, _ := v.(map[string]any)
	list, isList := v.([]any)
	at := ""
	if all, ok := m["replacements"]; ok {
		if list, isList = all.([]any); !isList {
			p.wrong("replacements", "must be a list")
			return
		}
		at = "replacements"
		if m["kind"] == nil && m["resources"] == nil { // a kustomization needs no kind
			p.known(m, "", []string{"replacements"})
		}
	}
	switch {
	case isList:
		for i, e := range list {
			p.entry(e, fmt.Sprintf("%s[%d]", at, i))
		}
	case m != nil && m["kind"] == nil && slices.ContainsFunc(slices.Collect(maps.Keys(m)), isRuleKey):
		p.entry(m, "")
	default:
		p.wrong("", "has no replacements: it needs a list of them, or a mapping with source and targets")
	}
}

// isRuleKey reports whether a key is one of a replacement's, or nearly.
func isRuleKey(k string) bool {
	return k == "path" || slices.Contains(ruleKeys, k) || suggest.Begun(k, ruleKeys) != ""
}

// entry reads a replacement, or the path of a file with some.
func (p *parser) entry(v any, at string) {
	m, ok := v.(map[string]any)
	if !ok {
		p.wrong(at, "must be a mapping with source and targets")
		return
	}
	if path, ok := m["path"]; ok {
		p.path(path, m, at)
		return
	}
	before := len(p.errs)
	p.check(m, at)
	if len(p.errs) > before {
		return
	}
	r, err := expand(m)
	if err != nil {
		p.wrong(at, "%v", err)
		return
	}
	p.rules = append(p.rules, rule{where: p.file + strings.TrimSuffix(": "+at, ": "), Replacement: r})
}

func (p *parser) path(v any, m map[string]any, at string) {
	path, ok := v.(string)
	switch {
	case !ok || path == "":
		p.wrong(join(at, "path"), "must be the name of a file")
	case len(m) > 1:
		p.wrong(at, "has both path and a replacement of its own; write two entries")
	case p.inner || p.load == nil:
		p.wrong(join(at, "path"), "cannot be followed here")
	default:
		text, err := p.load(path)
		if err != nil {
			p.wrong(join(at, "path"), "%v: correct the name", err)
			return
		}
		inner := parser{file: path, inner: true}
		if err := inner.read(text); err != nil {
			p.wrong(join(at, "path"), "%s: %v", path, err)
			return
		}
		p.rules = append(p.rules, inner.rules...)
		p.errs = append(p.errs, inner.errs...)
	}
}

// entriesOf returns a list, or the single entry written in its place.
func entriesOf(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

func join(at, field string) string {
	if at == "" {
		return field
	}
	return at + "." + field
}

// expand converts a checked replacement into kustomize's. A list of selects becomes one target for
// each, which leaves out the matches of earlier ones.
func expand(m map[string]any) (r types.Replacement, err error) {
	out := maps.Clone(m)
	var targets []any
	for _, t := range entriesOf(m["targets"]) {
		tm, _ := t.(map[string]any)
		var before []any
		for _, s := range entriesOf(tm["select"]) {
			one := maps.Clone(tm)
			one["select"] = s
			one["reject"] = append(slices.Clone(entriesOf(tm["reject"])), before...)
			before = append(before, s)
			targets = append(targets, one)
		}
	}
	out["targets"] = targets
	text, err := json.Marshal(out)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// The known keys.
var (
	ruleKeys   = []string{"source", "sourceValue", "targets"}
	idKeys     = []string{"group", "version", "kind", "name", "namespace"}
	sourceKeys = append(slices.Clone(idKeys), "fieldPath", "options")
	selectKeys = append(slices.Clone(idKeys), "annotationSelector", "labelSelector")
	targetKeys = []string{"select", "reject", "fieldPaths", "options"}
	optionKeys = []string{"delimiter", "index", "create"}
)

// problem states what is wrong with the value of a key; "" for nothing.
func problem(key string, v any) string {
	_, isText := v.(string)
	switch key {
	case "source", "targets", "select", "reject", "options": // see part
	case "create":
		if _, isBool := v.(bool); !isBool {
			return "must be true or false"
		}
	case "index":
		number, isNumber := v.(json.Number)
		if _, err := number.Int64(); !isNumber || err != nil {
			return "must be a whole number"
		}
	case "fieldPaths":
		list, isList := v.([]any)
		if !isList || slices.ContainsFunc(list, func(e any) bool { return problem("", e) != "" }) {
			return "must be a list of texts"
		}
	default:
		if !isText {
			return "must be text; quote it"
		}
	}
	return ""
}

// check reports everything that is wrong with a replacement.
func (p *parser) check(m map[string]any, at string) {
	p.part(m, at, ruleKeys)
	source, stated := m["source"]
	_, value := m["sourceValue"]
	switch {
	case stated && value:
		p.wrong(at, "has both source and sourceValue; remove one of them")
	case !stated && !value:
		p.wrong(at, "has no source")
	case stated:
		p.part(source, join(at, "source"), sourceKeys)
	}
	targets, ok := m["targets"].([]any)
	if !ok || len(targets) == 0 {
		p.wrong(at, "has no targets; they are a list")
	}
	for i, t := range targets {
		p.target(t, fmt.Sprintf("%s[%d]", join(at, "targets"), i))
	}
}

// part checks the keys of a mapping, and their values; false if v is not a mapping.
func (p *parser) part(v any, at string, keys []string) (m map[string]any, ok bool) {
	if m, ok = v.(map[string]any); !ok {
		p.wrong(at, "must be a mapping")
		return nil, false
	}
	p.known(m, at, keys)
	for _, k := range keys {
		v, stated := m[k]
		if text := problem(k, v); stated && text != "" {
			p.wrong(join(at, k), "%s", text)
		}
		if k == "index" && stated && merge.At[string](m, "delimiter") == "" {
			p.wrong(join(at, k), "has no meaning without a delimiter")
		}
		if k == "options" && stated {
			p.part(v, join(at, k), optionKeys)
		}
	}
	return m, true
}

func (p *parser) target(v any, at string) {
	m, ok := p.part(v, at, targetKeys)
	selects := entriesOf(m["select"])
	if ok && len(selects) == 0 {
		p.wrong(at, "has no select")
	}
	for _, key := range []string{"select", "reject"} {
		for i, s := range entriesOf(m[key]) {
			where := fmt.Sprintf("%s[%d]", join(at, key), i)
			one, _ := p.part(s, where, selectKeys)
			if key == "select" && len(selects) > 1 && (one["labelSelector"] != nil || one["annotationSelector"] != nil) {
				p.wrong(where, "labelSelector and annotationSelector cannot be used in a list of selects; write a target of its own")
			}
		}
	}
}

// known reports unknown keys, with the one that was probably meant.
func (p *parser) known(m map[string]any, at string, keys []string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if slices.Contains(keys, k) {
			continue
		}
		hint := "; there are " + strings.Join(keys, ", ")
		if near := suggest.Begun(k, keys); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		p.wrong(at, "unknown key %q%s", k, hint)
	}
}
