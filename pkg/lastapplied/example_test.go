package lastapplied_test

import (
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// What kubectl apply would keep of an object, put on it and read again.
func ExampleEncode() {
	local, err := merge.ReadJSON([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"conf"},"data":{"a":"1"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := lastapplied.Encode(local, lastapplied.Options{Namespace: "prod"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(text)
	original := lastapplied.Read(lastapplied.With(local, text))
	fmt.Println(original.State == lastapplied.OK)
	// Output:
	// {"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"conf","namespace":"prod"}}
	// true
}

// A field given up: the next merge neither sets nor removes it.
func ExampleRemove() {
	original, err := merge.ReadJSON([]byte(`{"kind":"Deployment","metadata":{"name":"web"},"spec":{"paused":true,"replicas":3}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	left, err := lastapplied.Remove(original, merge.Path{merge.Named("spec"), merge.Named("replicas")}, nil)
	fmt.Println(left, err)
	_, err = lastapplied.Remove(original, merge.Path{merge.Named("spec"), merge.Named("pause")}, nil)
	fmt.Println(err)
	// Output:
	// map[kind:Deployment metadata:map[name:web] spec:map[paused:true]] <nil>
	// spec.pause: not in last-applied, so it is not yours to give up: did you mean spec.paused?
}
