package apply

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
)

func TestJoin(t *testing.T) {
	bare := map[string]any{"metadata": map[string]any{"name": "a"}}
	of := func(id string) map[string]any { return lastapplied.WithSet(bare, id).(map[string]any) }
	shop := &Membership{ID: "x", Name: "secret/shop"}
	for name, tt := range map[string]struct {
		set         *Membership
		local, live map[string]any
		want, wrong string
	}{
		"no set":            {local: bare},
		"stays in its set":  {local: bare, live: of("y")},
		"joins":             {set: shop, local: bare, want: "x"},
		"stays":             {set: shop, local: bare, live: of("x"), want: "x"},
		"of another":        {set: shop, local: bare, live: of("y"), wrong: "is part of another set (y), and would become part of secret/shop: to move it, kubectl merge applyset adopt secret/shop configmap/a --from=y"},
		"stated in local":   {local: of("x"), wrong: "already set in input data"},
		"stated, and right": {set: shop, local: of("x"), wrong: "already set in input data"},
	} {
		got, err := tt.set.join("configmap/a", tt.local, tt.live)
		if tt.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || lastapplied.SetOf(got) != tt.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	_, err := shop.join("configmap/a", bare, of("y"))
	var other *OtherSet
	if !errors.As(err, &other) {
		t.Fatal(err)
	}
	other.New = true
	if text := other.Error(); !strings.Contains(text, "would become part of secret/shop: no such set exists yet: correct its name or, to move it, kubectl") {
		t.Error(text)
	}
	other.Name, other.From = "configmap/their (namespace x)", "configmap/their"
	if text := other.Error(); !strings.Contains(text, "part of configmap/their (namespace x), and") || !strings.Contains(text, "--from=configmap/their") {
		t.Error(text)
	}
}
