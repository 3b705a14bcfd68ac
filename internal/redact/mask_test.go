package redact_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

var read, show = values.Read, values.Show

func TestMask(t *testing.T) {
	for _, c := range []struct{ reason, live, result, wantLive, wantResult string }{
		{
			"a value that differs is distinguished, one that does not is not",
			`{"kind":"Secret","apiVersion":"v1","data":{"a":"1","b":"2","c":"3"}}`, `{"kind":"Secret","apiVersion":"v1","data":{"a":"1","b":"9","d":"4"}}`,
			`{"apiVersion":"v1","data":{"a":"***","b":"*** (before)","c":"***"},"kind":"Secret"}`,
			`{"apiVersion":"v1","data":{"a":"***","b":"*** (after)","d":"***"},"kind":"Secret"}`,
		},
		{"one that is created", `null`, `{"kind":"Secret","stringData":{"a":"1"},"type":"Opaque"}`, `null`, `{"kind":"Secret","stringData":{"a":"***"},"type":"Opaque"}`},
		{"one that is deleted", `{"kind":"Secret","data":{"a":"1"}}`, `null`, `{"data":{"a":"***"},"kind":"Secret"}`, `null`},
		{"no map is a value all the same", `{"kind":"Secret","data":"1"}`, `{"kind":"Secret","data":["2"]}`, `{"data":"*** (before)","kind":"Secret"}`, `{"data":"*** (after)","kind":"Secret"}`},
		{"a misspelt field holds values too", `null`, `{"kind":"Secret","stringdata":{"a":"1"},"x":"2","immutable":true}`, `null`, `{"immutable":true,"kind":"Secret","stringdata":{"a":"***"},"x":"***"}`},
		{"a null holds nothing", `{"kind":"Secret","data":{"a":null}}`, `{"kind":"Secret","data":null}`, `{"data":{"a":null},"kind":"Secret"}`, `{"data":null,"kind":"Secret"}`},
		{
			"the items of a List, by name and not by place",
			`{"kind":"List","items":[{"kind":"Secret","metadata":{"name":"x"},"data":{"a":"1"}},{"kind":"Secret","metadata":{"name":"y"},"data":{"a":"2"}}]}`,
			`{"kind":"List","items":[{"kind":"Secret","metadata":{"name":"y"},"data":{"a":"2"}},{"kind":"Secret","metadata":{"name":"z"},"data":{"a":"1"}}]}`,
			`{"items":[{"data":{"a":"***"},"kind":"Secret","metadata":{"name":"x"}},{"data":{"a":"***"},"kind":"Secret","metadata":{"name":"y"}}],"kind":"List"}`,
			`{"items":[{"data":{"a":"***"},"kind":"Secret","metadata":{"name":"y"}},{"data":{"a":"***"},"kind":"Secret","metadata":{"name":"z"}}],"kind":"List"}`,
		},
		{
			"the annotation has it all again",
			`{"kind":"Secret","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"kind\":\"Secret\",\"stringData\":{\"a\":\"1\"}}\n"}}}`,
			`{"kind":"Secret","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"kind\":\"Secret\",\"stringData\":{\"a\":\"2\"}}\n"}}}`,
			`{"kind":"Secret","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"kind\":\"Secret\",\"stringData\":{\"a\":\"*** (before)\"}}\n"}}}`,
			`{"kind":"Secret","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"kind\":\"Secret\",\"stringData\":{\"a\":\"*** (after)\"}}\n"}}}`,
		},
		{
			"an annotation that cannot be read is hidden whole",
			`{"kind":"Secret","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{hunter2"}}}`, `null`,
			`{"kind":"Secret","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"***"}}}`, `null`,
		},
		{
			"a value is hidden wherever the Secret has it, decoded or not, and nothing that is like it",
			`{"kind":"Secret","metadata":{"name":"shop","labels":{"app":"shop","tier":"cert"},"annotations":{"a":"hunter22","b":"is hunter22 or aHVudGVyMjI=.","c":"cert-manager, hunter223"}},"data":{"p":"aHVudGVyMjI=","q":"c2hvcA==","r":"Y2VydA=="}}`,
			`{"kind":"Secret","metadata":{"name":"shop","labels":{"app":"shop","tier":"web"},"annotations":{"a":"new-pass","b":"is new-pass or aHVudGVyMjI=.","c":"cert-manager"}},"data":{"p":"bmV3LXBhc3M="}}`,
			`{"data":{"p":"*** (before)","q":"***","r":"***"},"kind":"Secret","metadata":{"annotations":{"a":"*** (before)","b":"*** (before)","c":"cert-manager, hunter223"},"labels":{"app":"shop","tier":"***"},"name":"shop"}}`,
			`{"data":{"p":"*** (after)"},"kind":"Secret","metadata":{"annotations":{"a":"*** (after)","b":"*** (after)","c":"cert-manager"},"labels":{"app":"shop","tier":"web"},"name":"shop"}}`,
		},
		{
			"another object's metadata stays", `{"kind":"ConfigMap","metadata":{"annotations":{"a":"hunter22"}},"data":{"a":"hunter22"}}`, `null`,
			`{"data":{"a":"hunter22"},"kind":"ConfigMap","metadata":{"annotations":{"a":"hunter22"}}}`, `null`,
		},
		{"another group's Secret is no Secret", `{"kind":"Secret","apiVersion":"x.io/v1","data":{"a":"1"}}`, `null`, `{"apiVersion":"x.io/v1","data":{"a":"1"},"kind":"Secret"}`, `null`},
		{"a ConfigMap stays", `{"kind":"ConfigMap","data":{"a":"1"}}`, `{"kind":"ConfigMap","data":{"a":"2"}}`, `{"data":{"a":"1"},"kind":"ConfigMap"}`, `{"data":{"a":"2"},"kind":"ConfigMap"}`},
		{
			"what became of a Secret may have its values still",
			`{"kind":"Secret","data":{"a":"1"}}`, `{"kind":"ConfigMap","data":{"a":"1"}}`,
			`{"data":{"a":"***"},"kind":"Secret"}`, `{"data":{"a":"***"},"kind":"ConfigMap"}`,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			live, result := read(t, c.live), read(t, c.result)
			before := show(t, live) + show(t, result)
			a, b := redact.Mask(live, result, nil)
			if d := cmp.Diff(c.wantLive, show(t, a)); d != "" {
				t.Errorf("live: %s", d)
			}
			if d := cmp.Diff(c.wantResult, show(t, b)); d != "" {
				t.Errorf("result: %s", d)
			}
			if before != show(t, live)+show(t, result) {
				t.Error("an input was changed")
			}
		})
	}
}
