package replacements

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

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
