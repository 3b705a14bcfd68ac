package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"
)

// cmdValidPlan is validplan FILE...: each is a plan or a record as the published schema,
// docs/plan.schema.json, has it.
func cmdValidPlan(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) == 0, "validplan FILE...")
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "plan.schema.json"))
	ts.Check(err)
	var published spec.Schema
	ts.Check(json.Unmarshal(text, &published))
	validator := validate.NewSchemaValidator(&published, nil, "", strfmt.Default)
	for _, name := range args {
		var document any
		ts.Check(yaml.Unmarshal([]byte(ts.ReadFile(name)), &document))
		if err := validator.Validate(document).AsError(); err != nil {
			ts.Fatalf("%s: is not as docs/plan.schema.json has it: %v", name, err)
		}
	}
}
