package e2e

import (
	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"
)

// cmdValidPlan is validplan FILE...: each is a plan or a record as its published schema has it.
func cmdValidPlan(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) == 0, "validplan FILE...")
	for _, name := range args {
		document := map[string]any{}
		ts.Check(yaml.Unmarshal([]byte(ts.ReadFile(name)), &document))
		if kind := published(document); kind != "plan" && kind != "record" {
			ts.Fatalf("%s: is neither a plan nor a record", name)
		}
		if err := valid(document); err != nil {
			ts.Fatalf("%s: %v", name, err)
		}
	}
}
