package source

import (
	"strings"
	"testing"
)

// TestWhatIsNoObject: what is likely to be given by mistake is named, with the way out.
func TestWhatIsNoObject(t *testing.T) {
	for _, tt := range []struct{ file, text, want string }{
		{"base/kustomization.yaml", "resources: [a.yaml]\n", "give its folder with -k"},
		{"x.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n", "give its folder with -k"},
		{"x.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n", "helm template CHART"},
	} {
		if _, err := Parse(tt.file, []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.file, err, tt.want)
		}
	}
}
