package replacements

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
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

// check reports everything that is wrong with a replacement.
func (p *parser) check(m map[string]any, at string) {
	p.known(m, at, ruleKeys)
	source, stated := m["source"]
	_, value := m["sourceValue"]
	switch {
	case stated && value:
		p.wrong(at, "has both source and sourceValue; remove one of them")
	case !stated && !value:
		p.wrong(at, "has no source")
	case value:
		p.texts(m, at, "sourceValue")
	default:
		p.source(source, join(at, "source"))
	}
	targets, ok := m["targets"].([]any)
	if !ok || len(targets) == 0 {
		p.wrong(at, "has no targets; they are a list")
	}
	for i, t := range targets {
		p.target(t, fmt.Sprintf("%s[%d]", join(at, "targets"), i))
	}
}

func (p *parser) source(v any, at string) {
	m, ok := v.(map[string]any)
	if !ok {
		p.wrong(at, "must be a mapping")
		return
	}
	p.known(m, at, sourceKeys)
	p.texts(m, at, append(slices.Clone(idKeys), "fieldPath")...)
	p.options(m, at)
}

func (p *parser) target(v any, at string) {
	m, ok := v.(map[string]any)
	if !ok {
		p.wrong(at, "must be a mapping")
		return
	}
	p.known(m, at, targetKeys)
	selects := entriesOf(m["select"])
	if len(selects) == 0 {
		p.wrong(at, "has no select")
	}
	for _, part := range []string{"select", "reject"} {
		for i, s := range entriesOf(m[part]) {
			p.selector(s, fmt.Sprintf("%s[%d]", join(at, part), i), part == "select" && len(selects) > 1)
		}
	}
	if paths, ok := m["fieldPaths"]; ok {
		list, isList := paths.([]any)
		for _, e := range list {
			if _, ok := e.(string); !ok {
				isList = false
			}
		}
		if !isList {
			p.wrong(join(at, "fieldPaths"), "must be a list of texts")
		}
	}
	p.options(m, at)
}

// selector checks one select or reject; several states that it is one of a list of selects.
func (p *parser) selector(v any, at string, several bool) {
	m, ok := v.(map[string]any)
	if !ok {
		p.wrong(at, "must be a mapping")
		return
	}
	p.known(m, at, selectKeys)
	p.texts(m, at, selectKeys...)
	if several && (m["labelSelector"] != nil || m["annotationSelector"] != nil) {
		p.wrong(at, "labelSelector and annotationSelector cannot be used in a list of selects; write a target of its own")
	}
}

func (p *parser) options(m map[string]any, at string) {
	v, ok := m["options"]
	if !ok {
		return
	}
	at = join(at, "options")
	o, ok := v.(map[string]any)
	if !ok {
		p.wrong(at, "must be a mapping")
		return
	}
	p.known(o, at, optionKeys)
	p.texts(o, at, "delimiter")
	if n, ok := o["index"]; ok {
		number, isNumber := n.(json.Number)
		if _, err := number.Int64(); !isNumber || err != nil {
			p.wrong(join(at, "index"), "must be a whole number")
		}
		if d, _ := o["delimiter"].(string); d == "" {
			p.wrong(join(at, "index"), "has no meaning without a delimiter")
		}
	}
	if c, ok := o["create"]; ok {
		if _, isBool := c.(bool); !isBool {
			p.wrong(join(at, "create"), "must be true or false")
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
		if near := nearest(k, keys); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		p.wrong(at, "unknown key %q%s", k, hint)
	}
}

// nearest returns the key with a common prefix and a similar length.
func nearest(k string, keys []string) string {
	best, at := "", len(k)
	for _, key := range keys {
		off := max(len(k), len(key)) - min(len(k), len(key))
		if off < at && (strings.EqualFold(k, key) || strings.HasPrefix(key, k) || strings.HasPrefix(k, key)) {
			best, at = key, off
		}
	}
	return best
}

// texts reports values that must be strings and are not.
func (p *parser) texts(m map[string]any, at string, keys ...string) {
	for _, k := range keys {
		if v, ok := m[k]; ok {
			if _, isText := v.(string); !isText {
				p.wrong(join(at, k), "must be text; quote it")
			}
		}
	}
}
