package schema

import "testing"

func TestSuggestKind(t *testing.T) {
	apps := []string{"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}
	for _, tt := range []struct {
		reason           string
		apiVersion, kind string
		served           []string
		version, want    string
	}{
		{"a letter too few", "apps/v1", "Deploymnt", apps, "apps/v1", "Deployment"},
		{"another case", "apps/v1", "daemonset", apps, "apps/v1", "DaemonSet"},
		{"a group that is misspelt", "app/v1", "Deployment", nil, "apps/v1", "Deployment"},
		{"a group that was forgotten", "v1", "Deployment", []string{"Pod", "Service"}, "apps/v1", "Deployment"},
		{"a group that has moved", "extensions/v1beta1", "Ingress", nil, "networking.k8s.io/v1", "Ingress"},
		{"an unknown kind", "example.com/v1", "Widget", nil, "", ""},
	} {
		version, kind := SuggestKind(tt.apiVersion, tt.kind, Served{Kinds: tt.served})
		if version != tt.version || kind != tt.want {
			t.Errorf("%s: %s %s, want %s %s", tt.reason, version, kind, tt.version, tt.want)
		}
	}
}

// TestSuggestServedKind: what no server has any more is no way out.
func TestSuggestServedKind(t *testing.T) {
	serves := func(apiVersion, _ string) bool { return apiVersion == "apps/v1" || apiVersion == "example.com/v2" }
	for _, tt := range []struct {
		reason, apiVersion, kind string
		more                     []string
		version, near            string
	}{
		{"built-in, of a version long gone", "apps/v1beta1", "Deployment", []string{"apps/v1"}, "apps/v1", "Deployment"},
		{"a custom resource in its other version", "example.com/v1", "Widget", []string{"example.com/v2"}, "example.com/v2", "Widget"},
		{"nothing served is near", "batch/v1beta1", "CronJob", nil, "", ""},
	} {
		if version, near := SuggestKind(tt.apiVersion, tt.kind, Served{Versions: tt.more, Has: serves}); version != tt.version || near != tt.near {
			t.Errorf("%s: got %s %s", tt.reason, version, near)
		}
	}
}
