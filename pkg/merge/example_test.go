package merge_test

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func object(text string) any {
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		fmt.Println(err)
	}
	return v
}

// Three values, and what comes of them. Without a type, maps are merged key by key,
// and anything else is one value.
func ExampleThree() {
	original := object(`{"replicas": 3, "labels": {"team": "shop", "old": "yes"}}`)
	local := object(`{"replicas": 4, "labels": {"team": "shop"}}`)
	live := object(`{"replicas": 7, "labels": {"team": "shop", "old": "yes", "mesh": "on"}}`)

	policy, err := merge.PolicyNamed("apply")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := merge.Three(merge.Triple{Original: original, Local: local, Live: live}, nil, policy, false)

	text, err := json.Marshal(plan.Result)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", text)
	for _, d := range plan.Settled {
		fmt.Printf("%s: live had %v, local has %v\n", d.Path, d.Live.Value, d.Local.Value)
	}
	// Output:
	// {"labels":{"mesh":"on","team":"shop"},"replicas":4}
	// replicas: live had 7, local has 4
}

// A type says how a list is split: here by two keys, one of which has a default.
func ExampleType() {
	ports := &merge.Type{
		Kind: merge.Keyed,
		Keys: []merge.Key{{Name: "port"}, {Name: "protocol", Default: "TCP"}},
	}
	policy, err := merge.PolicyNamed("apply")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := merge.Three(merge.Triple{
		Original: object(`[{"port": 53, "protocol": "UDP"}]`),
		Local:    object(`[{"port": 53, "protocol": "UDP"}, {"port": 53}]`),
		Live:     object(`[{"port": 53, "protocol": "UDP", "nodePort": 30053}]`),
	}, ports, policy, false)
	for _, c := range plan.Changes {
		fmt.Println(c.Path)
	}
	// Output:
	// [port=53,protocol=TCP]
}

// Under strict, a disagreement is returned to the caller as a value with a path.
func ExamplePlan_conflicts() {
	policy, err := merge.PolicyNamed("strict")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := merge.Three(merge.Triple{
		Original: object(`{"image": "shop:1"}`),
		Local:    object(`{"image": "shop:2"}`),
		Live:     object(`{"image": "shop:hotfix"}`),
	}, nil, policy, false)
	for _, c := range plan.Conflicts {
		fmt.Println(c.Path, c.Local.Value, c.Live.Value)
	}
	// Output:
	// image shop:2 shop:hotfix
}

// Paths are written and read in one grammar.
func ExampleParsePath() {
	path, err := merge.ParsePath(`.spec.containers[name=web].ports[containerPort=53,protocol=UDP]`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(path)
	fmt.Println(path.Child(merge.Named("example.com/a")))
	// Output:
	// spec.containers[name=web].ports[containerPort=53,protocol=UDP]
	// spec.containers[name=web].ports[containerPort=53,protocol=UDP]["example.com/a"]
}
