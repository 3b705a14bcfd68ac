package plandoc

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"sigs.k8s.io/yaml"
)

// published is docs/schemas/plan.v1.json.
func published(t *testing.T) *validate.SchemaValidator {
	t.Helper()
	text, err := os.ReadFile("../../docs/schemas/plan.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var s spec.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return validate.NewSchemaValidator(&s, nil, "", strfmt.Default)
}

func valid(t *testing.T, s *validate.SchemaValidator, text []byte) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return s.Validate(v).AsError()
}

// TestPublishedSchema: what is written is valid, and the schema names every field that is
// read.
func TestPublishedSchema(t *testing.T) {
	s := published(t)
	for _, text := range [][]byte{written(t), written(t, items(t)...)} {
		if err := valid(t, s, text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
	text := string(written(t, items(t)...))
	for _, changed := range []string{
		strings.Replace(text, "kind: Plan", "kind: Pan", 1),
		strings.Replace(text, "secrets: hashed", "secrets: maybe", 1),
		strings.Replace(text, "- action: change", "- action: explode", 1),
		strings.Replace(text, "- action: change", "- action: change\n  extra: 1", 1),
		strings.Replace(text, "unchanged: 0", "unchanged: -1", 1),
	} {
		if changed == text || valid(t, s, []byte(changed)) == nil {
			t.Errorf("is refused, and the schema takes it:\n%s", changed)
		}
	}
}
