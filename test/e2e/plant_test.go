package e2e

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// planter makes values with a mark in them that stands nowhere else.
type planter struct {
	*rand.Rand
	marks []string
}

func (p *planter) mark() string {
	b := make([]byte, 24)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[p.IntN(52)]
	}
	p.marks = append(p.marks, string(b))
	return string(b)
}

// shapes are texts as they stand in Secrets: short, long, of many lines, inside of
// something, and such that YAML takes for something else unless they are quoted.
var shapes = []string{"%s", "line\n%s\nlast\n", `{"auths":{"r":{"auth":"%s"}}}`, "*%s", "&%s", "!%s", "%% %s", "{%s: [", "\t%s\x1b[31m", "%s: y # z",
	strings.Repeat("padding ", 300) + "%s", "postgres://u:%s@db:5432/x", "-----BEGIN RSA PRIVATE KEY-----\n%s\n-----END RSA PRIVATE KEY-----\n"}

func (p *planter) value() string { return fmt.Sprintf(shapes[p.IntN(len(shapes))], p.mark()) }

// values are those of data (base64) and of stringData.
func (p *planter) values(encode func(string) string) map[string]any {
	m := map[string]any{}
	for _, key := range []string{"password", "token", "ca.crt", "gone"} {
		if p.IntN(4) > 0 {
			m[key] = encode(p.value())
		}
	}
	return m
}

func plain(s string) string { return s }

func encoded(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func (p *planter) secret(name string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name},
		"data": p.values(encoded), "stringData": p.values(plain),
	}
}

// secrets are a file of some, by themselves and in a List.
func (p *planter) secrets(t *testing.T) string {
	t.Helper()
	return yamlDocuments(t, p.secret("one"), p.secret("two"), map[string]any{
		"apiVersion": "v1", "kind": "List", "items": []any{p.secret("three"), p.secret("four")},
	})
}

func yamlDocuments(t *testing.T, all ...map[string]any) string {
	t.Helper()
	var docs []string
	for _, m := range all {
		text, err := yaml.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, string(text))
	}
	return strings.Join(docs, "---\n")
}

// refused are Secrets that the server takes for wrong, each for another reason.
func (p *planter) refused(t *testing.T) string {
	t.Helper()
	wrong := func(change func(map[string]any)) map[string]any {
		s := p.secret(fmt.Sprintf("bad-%d", len(p.marks)))
		change(s)
		return s
	}
	return yamlDocuments(t,
		wrong(func(s map[string]any) { s["data"] = p.value() }),
		wrong(func(s map[string]any) { s["data"] = map[string]any{"a": "no base64 " + p.value()} }),
		wrong(func(s map[string]any) { s["data"] = []any{p.value()} }),
		wrong(func(s map[string]any) { s["stringData"] = map[string]any{"a": map[string]any{"b": p.value()}} }),
		wrong(func(s map[string]any) { s["stringData"] = map[string]any{"a b": p.value()} }),
		wrong(func(s map[string]any) { s["stringdata"] = map[string]any{"a": p.value()} }),
		wrong(func(s map[string]any) {
			s["type"], s["stringData"] = "kubernetes.io/dockerconfigjson", map[string]any{".dockerconfigjson": "{" + p.value()}
		}),
		wrong(func(s map[string]any) { s["type"] = "kubernetes.io/tls" }),
		wrong(func(s map[string]any) { s["immutable"] = "no boolean" }),
	)
}

// find looks for the beginning or the end of each mark, as it is and in base64,
// however aligned, and gives the place.
func (p *planter) find(text string) string {
	for _, mark := range p.marks {
		for _, part := range []string{mark[:8], mark[16:]} {
			for _, spelled := range append(aligned(part), part) {
				if i := strings.Index(text, spelled); i >= 0 {
					return text[max(i-80, 0):min(i+40, len(text))]
				}
			}
		}
	}
	return ""
}

// aligned are the base64 letters that a text is sure to leave, wherever it begins.
func aligned(text string) []string {
	var all []string
	for skip := range 3 {
		e := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", skip) + text))
		all = append(all, e[(skip*8+5)/6:(skip+len(text))*8/6])
	}
	return all
}
