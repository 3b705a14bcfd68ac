package apply

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// TestWithoutEmptyKeys: a key that has a default, and is stated as nothing, is as good as left out.
func TestWithoutEmptyKeys(t *testing.T) {
	typ, ok := schema.Builtin("", "v1", "Service")
	if !ok {
		t.Fatal("no Service")
	}
	in := read(t, `{"spec":{"ports":[{"port":80,"protocol":""},{"port":81,"protocol":null},{"port":82,"protocol":"UDP"},{"port":83}]}}`)
	want := read(t, `{"spec":{"ports":[{"port":80},{"port":81},{"port":82,"protocol":"UDP"},{"port":83}]}}`)
	if got := withoutEmptyKeys(in, typ); !merge.Identical(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
