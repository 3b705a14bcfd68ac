package diff_test

import (
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
