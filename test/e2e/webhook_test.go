package e2e

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// admission is a webhook for one operation on ConfigMaps.
type admission struct {
	operation string // UPDATE, DELETE
	lenient   bool   // it allows every dry run
	verdict   map[string]any
}

// webhook lets a server of the test's own decide on writes in the user's namespace.
func (u *user) webhook(a admission) {
	u.t.Helper()
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct {
				UID    string `json:"uid"`
				DryRun bool   `json:"dryRun"`
			} `json:"request"`
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := maps.Clone(a.verdict)
		if a.lenient && review.Request.DryRun {
			answer = map[string]any{"allowed": true}
		}
		answer["uid"] = review.Request.UID
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer}); err != nil {
			u.t.Error(err)
		}
	}))
	u.t.Cleanup(hook.Close)
	authority, err := json.Marshal(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw}))
	if err != nil {
		u.t.Fatal(err)
	}
	u.file("webhook.yaml", fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %q}
webhooks:
- name: verdict.example.com
  admissionReviewVersions: [v1]
  sideEffects: NoneOnDryRun
  clientConfig: {url: %q, caBundle: %s}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %q}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [%s], resources: [configmaps]}]
`, u.ns, hook.URL, authority, u.ns, a.operation))
	u.does("kubectl", "create", "-f", "webhook.yaml")
	u.removesAfterwards("webhook.yaml")
}

// TestWebhooks: a webhook's message about a change is reported as such, at once. It is not
// taken for a conflict with another write, after which the change would be merged again.
func TestWebhooks(t *testing.T) {
	s := server.need(t)
	objects := func(value string) string {
		var b strings.Builder
		for _, name := range []string{"a", "b", "c"} {
			fmt.Fprintf(&b, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {k: %q}}\n", name, value)
		}
		return b.String()
	}
	for _, tt := range []struct {
		reason  string
		verdict map[string]any
		code    int
		says    string
		wrote   bool
	}{
		{"a no without a reason", map[string]any{"allowed": false, "status": map[string]any{"message": "not on Fridays"}}, 1, "denied the request: not on Fridays", false},
		{"a no that looks like a failed test", map[string]any{"allowed": false, "status": map[string]any{"message": "not on Fridays", "code": 422}}, 1, "denied the request: not on Fridays", false},
		{"a no that looks like a conflict", map[string]any{"allowed": false, "status": map[string]any{"message": "not on Fridays", "code": 403}}, 1, "denied the request: not on Fridays", false},
		{"a yes", map[string]any{"allowed": true, "warnings": []string{"this once"}}, 0, "this once", true},
	} {
		t.Run(strings.ReplaceAll(tt.reason, " ", "-"), func(t *testing.T) {
			u := s.user(t, "webhook")
			u.file("v1.yaml", objects("1"))
			u.file("v2.yaml", objects("2"))
			u.merges("-f", "v1.yaml")
			u.webhook(admission{operation: "UPDATE", verdict: tt.verdict})
			was := u.versions("v2.yaml")
			u.awaits(func() bool {
				probe := u.tries("kubectl", "patch", "configmap/a", "-p", `{"data":{"probe":"x"}}`, "--dry-run=server")
				return strings.Contains(probe.stderr, tt.says)
			})
			p, err := newProxy(s.config)
			if err != nil {
				t.Fatal(err)
			}
			defer p.http.Close()
			got := u.proxied(p).tries("kubectl-merge", "-f", "v2.yaml")
			if got.code != tt.code || !strings.Contains(got.stderr, tt.says) || strings.Contains(got.stderr, "changed by others") {
				t.Errorf("want exit %d and %q on stderr, and no other cause\n%s", tt.code, tt.says, got)
			}
			if wrote := len(written(was, u.versions("v2.yaml"))) > 0; wrote != tt.wrote {
				t.Errorf("written: %t, want %t\n%s", wrote, tt.wrote, got)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			writes := 0
			if tt.wrote {
				writes = 3
			}
			if n := p.counts(); n["DRYRUN"] != 3 || n["WRITE"] != writes {
				t.Errorf("want 3 trials and %d writes, none of them again: %v", writes, n)
			}
		})
	}
}
