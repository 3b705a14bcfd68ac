package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDisownArguments(t *testing.T) {
	for _, tt := range []struct {
		reason string
		verb   disownVerb
		args   []string
		names  []string
		fields []string
		err    string
	}{
		{"TYPE/NAME and fields", disowning(), []string{"deploy/web", "spec.replicas", `metadata.labels["a.b/c"]`}, []string{"deploy/web"}, []string{"spec.replicas", `metadata.labels["a.b/c"]`}, ""},
		{"TYPE NAME and fields", disowning(), []string{"deploy", "web", ".spec.replicas"}, []string{"deploy", "web"}, []string{"spec.replicas"}, ""},
		{"a file and fields", filed("web.yaml"), []string{"spec.replicas"}, nil, []string{"spec.replicas"}, ""},
		{"a TYPE and labels", selected("app=a"), []string{"deploy", "spec.replicas"}, []string{"deploy"}, []string{"spec.replicas"}, ""},
		{"no field", disowning(), []string{"deploy/web"}, nil, nil, "no field is named"},
		{"no field of TYPE NAME", disowning(), []string{"deploy", "web"}, nil, nil, "no field is named"},
		{"nothing", disowning(), nil, nil, nil, "no field is named"},
		{"no path", disowning(), []string{"deploy/web", "spec[replicas"}, nil, nil, "spec[replicas"},
		{"-w without a file", writing(disowning()), []string{"deploy/web", "spec.replicas"}, nil, nil, "name them with -f"},
		{"-w on standard input", writing(filed("-")), []string{"spec.replicas"}, nil, nil, "can write neither standard input"},
	} {
		v := tt.verb
		names, err := v.parse(tt.args)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: got %v, want %q in it", tt.reason, err, tt.err)
			}
			continue
		}
		var fields []string
		for _, p := range v.fields {
			fields = append(fields, p.String())
		}
		if d := cmp.Diff(tt.names, names) + cmp.Diff(tt.fields, fields); d != "" || err != nil {
			t.Errorf("%s: %v %s", tt.reason, err, d)
		}
	}
}

func disowning() disownVerb { return disownVerb{targetVerb: newTargetVerb(&call{})} }

func filed(name string) disownVerb {
	v := disowning()
	v.inputs.Files = []string{name}
	return v
}

func selected(labels string) disownVerb {
	v := disowning()
	v.inputs.Selector = labels
	return v
}

func writing(v disownVerb) disownVerb {
	v.write = true
	return v
}
