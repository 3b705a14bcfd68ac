package strategy_test

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/patch"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// What a controller does that applies an object: the original comes from the
// annotation, the type from the built-in table, and out comes the patch to send.
func ExamplePlan() {
	read := func(text string) any {
		v, err := merge.ReadJSON([]byte(text))
		if err != nil {
			fmt.Println(err)
		}
		return v
	}
	local := read(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"dns"},
		"spec":{"ports":[{"port":53,"protocol":"UDP"},{"port":53,"protocol":"TCP"}]}}`)
	live := read(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"dns","resourceVersion":"7"},
		"spec":{"clusterIP":"10.0.0.9","ports":[{"port":53,"protocol":"UDP","targetPort":53}]}}`)

	typ, _ := schema.Builtin("", "v1", "Service")
	policy, err := merge.PolicyNamed("apply")
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := strategy.Plan(strategy.Input{
		Triple:  merge.Triple{Original: lastapplied.Read(live).Value, Local: local, Live: live},
		Version: "v1", Kind: "Service",
		Schema:    typ,
		HasStatus: true,
		Policy:    policy,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := patch.Merge(live, out.Result)
	text, err := json.Marshal(body)
	fmt.Println(string(text), err)
	// Output:
	// {"spec":{"ports":[{"port":53,"protocol":"UDP","targetPort":53},{"port":53,"protocol":"TCP"}]}} <nil>
}
