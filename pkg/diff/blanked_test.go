package diff

import (
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestBlanked: of a value whose former one is not recorded, it is not said that local has moved.
func TestBlanked(t *testing.T) {
	secret := func(v string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"}, "data": map[string]any{"a": v}}
	}
	local, live := secret("Yg=="), secret("Yw==")
	plan := merge.Three(merge.Triple{Original: secret(""), Local: local, Live: live, Blanked: true}, nil, merge.Policies[0], true)
	e := Explain(Report{Object: "secret/s", Local: local, Live: live, Plan: plan}, merge.Path{merge.Named("data"), merge.Named("a")})
	if len(e.Fields) != 1 || !strings.HasPrefix(e.Fields[0].Why, "local and live differ (which of them moved is not recorded): local wins") {
		t.Errorf("%+v", e.Fields)
	}
}
