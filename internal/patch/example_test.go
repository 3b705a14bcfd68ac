package patch_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/kubectl-merge/kubectl-merge/internal/patch"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func jsonObject(text string) any {
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// The two forms of a change to an API server.
func ExampleJSON() {
	live := jsonObject(`{"spec":{"replicas":5,"paused":true}}`)
	result := jsonObject(`{"spec":{"replicas":3}}`)
	body, _ := patch.Merge(live, result)
	text, _ := json.Marshal(body)
	fmt.Printf("%s\n", text)
	for _, op := range patch.JSON(live, result, false) {
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
