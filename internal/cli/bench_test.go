package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// BenchmarkStart measures what every command line does before its verb begins.
func BenchmarkStart(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if code := Main(b.Context(), "kubectl-merge", []string{"version"}, genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}); code != 0 {
			b.Fatal(code)
		}
	}
}

// BenchmarkDiff and BenchmarkUnchanged are whole runs over so many Deployments, from files to
// what is printed, with what a server has filled in, and without the server.
func BenchmarkDiff(b *testing.B) { benchmarkOffline(b, "2", 1) }

func BenchmarkUnchanged(b *testing.B) { benchmarkOffline(b, "1", 0) }

func benchmarkOffline(b *testing.B, tag string, code int) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			local, live := deployments(b, n, tag)
			b.Setenv("HOME", b.TempDir())
			b.Setenv("KUBECONFIG", "")
			b.ReportAllocs()
			for b.Loop() {
				if got := Main(b.Context(), "kubectl-merge", []string{"diff", "-f", local, "--live", live}, genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}); got != code {
					b.Fatalf("exit code %d, want %d", got, code)
				}
			}
		})
	}
}

// deployments writes n Deployments with that tag, and as they are live with tag 1.
func deployments(b *testing.B, n int, tag string) (local, live string) {
	b.Helper()
	var manifests strings.Builder
	items := make([]json.RawMessage, n)
	for i := range n {
		fmt.Fprintf(&manifests, "---\n"+benchLocal, i, tag)
		last, err := json.Marshal(fmt.Sprintf(benchApplied, i, "1") + "\n")
		if err != nil {
			b.Fatal(err)
		}
		items[i] = json.RawMessage(fmt.Sprintf(benchLive, i, "1", last))
	}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	local, live = filepath.Join(dir, "local.yaml"), filepath.Join(dir, "live.json")
	for file, text := range map[string][]byte{local: []byte(manifests.String()), live: list} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return local, live
}

const (
	benchLocal = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-%[1]d
  namespace: shop
  labels: {app: app-%[1]d, team: shop}
spec:
  replicas: 2
  selector:
    matchLabels: {app: app-%[1]d}
  template:
    metadata:
      labels: {app: app-%[1]d}
    spec:
      containers:
      - name: app
        image: registry.example.com/shop/app:1.%[2]s.0
        ports:
        - {name: http, containerPort: 8080}
        env:
        - {name: LOG_LEVEL, value: info}
        - {name: RELEASE, value: "%[2]s"}
        resources:
          requests: {cpu: 100m, memory: 128Mi}
        volumeMounts:
        - {name: config, mountPath: /etc/app}
      volumes:
      - name: config
        configMap: {name: app-%[1]d}
`
	benchApplied = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"labels":{"app":"app-%[1]d","team":"shop"},"name":"app-%[1]d","namespace":"shop"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"app-%[1]d"}},` +
		`"template":{"metadata":{"labels":{"app":"app-%[1]d"}},"spec":{"containers":[{"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"RELEASE","value":"%[2]s"}],"image":"registry.example.com/shop/app:1.%[2]s.0","name":"app",` +
		`"ports":[{"containerPort":8080,"name":"http"}],"resources":{"requests":{"cpu":"100m","memory":"128Mi"}},"volumeMounts":[{"mountPath":"/etc/app","name":"config"}]}],"volumes":[{"configMap":{"name":"app-%[1]d"},"name":"config"}]}}}}`
	benchLive = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"app-%[1]d","namespace":"shop","uid":"2c7c7b0e-8f0c-4a3f-9a54-%012[1]d","resourceVersion":"1234","generation":1,"creationTimestamp":"2026-11-22T19:00:00Z",` +
		`"labels":{"app":"app-%[1]d","team":"shop"},"annotations":{"kubectl.kubernetes.io/last-applied-configuration":%[3]s},` +
		`"managedFields":[{"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"apps/v1","time":"2026-11-22T19:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},` +
		`"f:kubectl.kubernetes.io/last-applied-configuration":{}},"f:labels":{".":{},"f:app":{},"f:team":{}}},"f:spec":{"f:progressDeadlineSeconds":{},"f:replicas":{},"f:revisionHistoryLimit":{},"f:selector":{},` +
		`"f:strategy":{"f:rollingUpdate":{".":{},"f:maxSurge":{},"f:maxUnavailable":{}},"f:type":{}},"f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:env":{".":{},` +
		`"k:{\"name\":\"LOG_LEVEL\"}":{".":{},"f:name":{},"f:value":{}},"k:{\"name\":\"RELEASE\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:ports":{".":{},` +
		`"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},"f:resources":{".":{},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:terminationMessagePath":{},` +
		`"f:terminationMessagePolicy":{},"f:volumeMounts":{".":{},"k:{\"mountPath\":\"/etc/app\"}":{".":{},"f:mountPath":{},"f:name":{}}}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},` +
		`"f:terminationGracePeriodSeconds":{},"f:volumes":{".":{},"k:{\"name\":\"config\"}":{".":{},"f:configMap":{".":{},"f:defaultMode":{},"f:name":{}},"f:name":{}}}}}}}}]},` +
		`"spec":{"replicas":2,"selector":{"matchLabels":{"app":"app-%[1]d"}},"template":{"metadata":{"labels":{"app":"app-%[1]d"}},"spec":{"volumes":[{"name":"config","configMap":{"name":"app-%[1]d","defaultMode":420}}],` +
		`"containers":[{"name":"app","image":"registry.example.com/shop/app:1.%[2]s.0","ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"env":[{"name":"LOG_LEVEL","value":"info"},{"name":"RELEASE","value":"%[2]s"}],` +
		`"resources":{"requests":{"cpu":"100m","memory":"128Mi"}},"volumeMounts":[{"name":"config","mountPath":"/etc/app"}],"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],` +
		`"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},"schedulerName":"default-scheduler"}},"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%%","maxSurge":"25%%"}},` +
		`"revisionHistoryLimit":10,"progressDeadlineSeconds":600},"status":{"observedGeneration":1,"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2,"conditions":[{"type":"Available","status":"True",` +
		`"lastUpdateTime":"2026-11-22T19:00:00Z","lastTransitionTime":"2026-11-22T19:00:00Z","reason":"MinimumReplicasAvailable","message":"Deployment has minimum availability."}]}}`
)
