package yamldoc_test

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

func ExampleDocument_Edit() {
	f, err := yamldoc.Parse([]byte(`# the autoscaler's
spec:
  replicas:   3   # for now
  args: ['-v']
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := f.Documents()[0].Edit(yamldoc.Edit{Want: map[string]any{
		"spec": map[string]any{
			"replicas": json.Number("5"),
			"args":     []any{"-v", "yes"},
			"paused":   true,
		},
	}})
	fmt.Print(string(text), err)
	// Output:
	// # the autoscaler's
	// spec:
	//   replicas:   5   # for now
	//   args: ['-v', 'yes']
	//   paused: true
	// <nil>
}
