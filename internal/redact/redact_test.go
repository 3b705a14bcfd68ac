package redact_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
)

func TestIsSecret(t *testing.T) {
	for _, tt := range []struct {
		version, kind string
		more          map[string]any
		want          bool
	}{
		{"v1", "Secret", nil, true},
		{"/v1", "Secret", nil, true},
		{"", "Secret", nil, true},
		{"v2beta1", "secret", nil, true},
		{"core/v1", "Secrets", nil, true},
		{"v1", "ConfigMap", nil, false},
		{"external.io/v1", "Secret", nil, false},
		{"v1", "SecretList", nil, false},
		{"", "Secret", map[string]any{"name": "only named", "key": "k"}, false},
		{"", "Secret", map[string]any{"name": "odd", "data": map[string]any{}}, true},
	} {
		obj := map[string]any{"apiVersion": tt.version, "kind": tt.kind}
		for k, v := range tt.more {
			obj[k] = v
		}
		if got := redact.IsSecret(obj); got != tt.want {
			t.Errorf("%v: %v, want %v", obj, got, tt.want)
		}
	}
}

func TestSensitiveName(t *testing.T) {
	for name, want := range map[string]bool{
		"DB_PASSWORD": true, "PGPASSWORD": true, "githubToken": true, "API_KEY": true, "AWS_SECRET_ACCESS_KEY": true, "apikey": true, "DATABASE_DSN": true,
		"MONKEY": false, "KEYBOARD": false, "TOKENIZER": false, "LOG_LEVEL": false, "PATH": false, "": false, "COMPASS": false,
	} {
		if got := redact.SensitiveName(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestHoldsSecret(t *testing.T) {
	for text, want := range map[string]bool{
		"apiVersion: v1\nkind: Secret\nstringData:\n  a: b\n":                         true,
		`{"apiVersion":"v1","kind":"Secret","data":{"a":"Yg=="}}`:                     true,
		`{"kind":"ConfigMap","data":{"a":"{\"kind\":\"Secret\",\"data\":{}}"}}`:       true,
		"in: \"v1\\\\nkind: Secret\\\\nstringData:\\\\n  a: b\"":                      true,
		"in: \"'{\\\"kind\\\": \\\"\\\n    Secret\\\", \\\"stringData\\\":\\n {}}'\"": true,
		"x: 1\n---\n  kind: 'Secret'\n  data: {a: b}\n":                               true,
		"kind: Secret is what data: is called":                                        false,
		"kind: SecretStore\ndata: {}":                                                 false,
		"kind: Role\nrules: [{resources: [secrets]}]\n":                               false,
		"valuesFrom:\n- kind: Secret\n  name: x\n":                                    false,
		"kind: ConfigMap\ndata:\n  a: b\n":                                            false,
	} {
		if got := redact.HoldsSecret(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestValues: what a Secret holds is blanked in text, however it is spelled there, and
// nothing else is.
func TestValues(t *testing.T) {
	const long = "correct horse\tbattery \"staple\" <& more>"
	encoded := base64.StdEncoding.EncodeToString([]byte("decoded-value-1"))
	var vs redact.Values
	vs.Add(map[string]any{"kind": "List", "items": []any{map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{"name": "shop-secret", "annotations": map[string]any{
			redact.LastApplied:      `{"kind":"Secret","metadata":{"name":"x"},"stringData":{"a":"from-the-annotation"}}`,
			"kapp.k14s.io/original": `{"kind":"Secret","metadata":{"name":"x"},"stringData":{"a":"from-kapp-itself"}}`,
		}},
		"stringData": map[string]any{"a": long, "b": "line one is long\nline two is long\n", "c": "abc", "d": "true", "user": "admin", "e": "tiny1", "f": "shop-secret", "h": "database", "i": "long-value-of-many-bytes"},
		"data":       map[string]any{"g": encoded},
	}}})
	vs.Add(map[string]any{"secretGenerator": []any{map[string]any{"literals": []any{"TOKEN-alone", "key='value of it'"}}}})
	vs.Add(map[string]any{"kind": "Secret", "stringData": map[string]any{"user": "shop"}})
	vs.Add(map[string]any{"kind": "Deployment", "metadata": map[string]any{"name": "shop"}})
	for text, want := range map[string]string{
		"deployment.apps/shop is named as a user is":                        "deployment.apps/shop is named as a user is",
		"x " + long + " y":                                                  "x *** y",
		`x "correct horse\tbattery \"staple\" <& more>" y`:                  `x "***" y`,
		`{"a":"correct horse\tbattery \"staple\" \u003c\u0026 more\u003e"}`: `{"a":"***"}`,
		"correct horse\tbattery \"st… cut":                                  "***… cut",
		"corr… is the beginning":                                            "***… is the beginning",
		"decoded-value-1 " + encoded:                                        "*** ***",
		"only line two is long here":                                        "only *** here",
		"from-the-annotation, from-kapp-itself":                             "***, ***",
		"invalid literal TOKEN-alone value of it":                           "invalid literal *** ***",
		"abc and true for admin of shop-secret":                             "abc and true for admin of shop-secret",
		"tiny1 is a word of many messages":                                  "tiny1 is a word of many messages",
		"database, database-operator, my.database/x, databases":             "database, database-operator, my.database/x, databases",
		`database. "database" (database) the\tdatabase`:                     `database. "***" (database) the\tdatabase`,
		"it's a database, `the database`, 'a database' and\n\"\ndatabase":   "it's a database, `the ***`, 'a ***' and\n\"\ndatabase",
		"inAlong-value-of-many-bytesAword":                                  "inA***Aword",
		"concorr… is another":                                               "concorr… is another",
		"nothing of it":                                                     "nothing of it",
		"":                                                                  "",
	} {
		if got := vs.Blank(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if got := vs.BlankOthers("a database, database-operator, (database)"); got != "a ***, database-operator, (***)" {
		t.Errorf("in a text of others: %s", got)
	}
	if got := vs.BlankJSON(`{"database": "database, \"database\"", "kind":"error", "to": ["decoded-value-1"]}`); got != `{"database": "database, \"***\"", "kind":"error", "to": ["***"]}` {
		t.Errorf("in JSON: %s", got)
	}
	if got := vs.BlankOwn("tiny1 but not tiny12, atiny1 or tiny1-manager"); got != "*** but not tiny12, atiny1 or tiny1-manager" {
		t.Errorf("in a text about the Secret: %s", got)
	}
	var none *redact.Values
	none.Add(map[string]any{"kind": "Secret"})
	if got := none.Blank("as it is"); got != "as it is" {
		t.Error(got)
	}
	broken := &redact.Values{}
	broken.AddLines("kind: Secret\nmetadata: {name: x}\nstringData:\n  pw: !!broken-value\n  pin: tiny1\n  other: \"quoted value")
	if got := broken.Blank(`"!!broken-value": tiny1 quoted value; kind: Secret`); strings.Contains(got, "broken") || strings.Contains(got, "tiny1") || strings.Contains(got, "quoted") || !strings.Contains(got, "Secret") {
		t.Error(got)
	}
}
