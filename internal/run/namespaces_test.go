package run

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
)

// TestUnproven: only namespaces of which nothing in the run shows that they exist are
// asked for, each once.
func TestUnproven(t *testing.T) {
	created := func(i *Item) *Item {
		i.Planned.Action = apply.Create
		return i
	}
	got := unproven([]*Item{
		created(item("", "ConfigMap", "lost", "a")),
		created(item("", "ConfigMap", "lost", "b")),
		created(item("", "ConfigMap", "lived-in", "a")),
		existing(item("", "ConfigMap", "lived-in", "b")),
		created(item("", "ConfigMap", "made", "a")),
		created(item("", "Namespace", "", "made")),
		created(item("", "Node", "", "n")),
	})
	if len(got) != 1 || got[0].String() != "namespace/lost" || got[0].Objects != 2 {
		t.Errorf("%+v, want namespace/lost with 2 objects", got)
	}
}
