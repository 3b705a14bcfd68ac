package diff_test

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func jsonObject(text string) any {
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		fmt.Println(err)
	}
	return v
}

// A Secret's diff shows that a value changes, and not the value.
func ExampleUnified() {
	live := jsonObject(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"prod"},"data":{"password":"b2xk"}}`)
	result := jsonObject(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"prod"},"data":{"password":"bmV3"}}`)
	changed, err := diff.Unified(os.Stdout, diff.Doc{Name: diff.DocName(live), Live: live, Result: result}, diff.Options{Context: 1})
	fmt.Println(changed, err)
	// Output:
	// --- live/v1.Secret.prod.s
	// +++ merged/v1.Secret.prod.s
	// @@ -2,3 +2,3 @@
	//  data:
	// -  password: '*** (before)'
	// +  password: '*** (after)'
	//  kind: Secret
	// true <nil>
}

// The two ways to say a change to an API server.
func ExampleJSONPatch() {
	live := jsonObject(`{"spec":{"replicas":5,"paused":true}}`)
	result := jsonObject(`{"spec":{"replicas":3}}`)
	patch, _ := diff.MergePatch(live, result)
	text, _ := json.Marshal(patch)
	fmt.Printf("%s\n", text)
	for _, op := range diff.JSONPatch(live, result, diff.JSONPatchOptions{}) {
		text, _ := json.Marshal(op)
		fmt.Printf("%s\n", text)
	}
	// Output:
	// {"spec":{"paused":null,"replicas":3}}
	// {"op":"test","path":"/spec/paused","value":true}
	// {"op":"remove","path":"/spec/paused"}
	// {"op":"test","path":"/spec/replicas","value":5}
	// {"op":"replace","path":"/spec/replicas","value":3}
}
