package e2e

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// podScript plays the kubelet: what is mounted into a pod is where it is in one, for this
// process alone.
const podScript = `set -e
mount -t tmpfs tmpfs /var
mkdir -p /var/run/secrets/kubernetes.io/serviceaccount
cp "$1"/token "$1"/ca.crt "$1"/namespace /var/run/secrets/kubernetes.io/serviceaccount/
shift
exec "$@"`

// TestInCluster runs drift as the pods of examples/in-cluster do: with the arguments of the
// CronJob and of the Indexed Job, without a kubeconfig, with a token of the service account,
// the role and the namespace file, and nothing more than these permit.
func TestInCluster(t *testing.T) {
	if out, err := exec.Command("unshare", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /var").CombinedOutput(); err != nil {
		t.Logf("not played: this system does not allow private mounts: %v: %s", err, out)
		return
	}
	s := server.need(t)
	u := s.user(t, "pod")
	u.does("kubectl", "apply", "-f", absolute(t, "../../examples/in-cluster/rbac.yaml"))
	for _, name := range []string{"cronjob.yaml", "indexed-job.yaml"} {
		u.does("kubectl", "apply", "--dry-run=server", "-f", absolute(t, "../../examples/in-cluster/"+name))
	}
	if err := os.Mkdir(filepath.Join(u.dir, "files"), 0o700); err != nil {
		t.Fatal(err)
	}
	u.file("files/shop.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: shop}, data: {a: \"1\"}}\n")
	u.does("kubectl-merge", "-f", "files")
	mount := serviceAccountFiles(t, s, u)
	at, err := url.Parse(s.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	binary, err := exec.LookPath("kubectl-merge")
	if err != nil {
		t.Fatal(err)
	}
	pod := func(index string, args ...string) said {
		cmd := u.command(t.Context(), "unshare", append([]string{"--map-root-user", "--mount", "sh", "-c", podScript, "sh", mount, binary}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBERNETES_SERVICE_HOST=" + at.Hostname(), "KUBERNETES_SERVICE_PORT=" + at.Port(), "JOB_COMPLETION_INDEX=" + index}
		return u.ends(cmd)
	}
	cron := []string{"drift", "-f", "files", "-o", "json"}
	if got := pod("", cron...); got.code != 0 || !strings.Contains(got.stdout, `"checked":1,`) {
		t.Error(got)
	}
	u.does("kubectl", "patch", "configmap/shop", "--type=merge", "-p", `{"data":{"a":"2"}}`)
	var report struct{ Rows []driftRow }
	if got := pod("", cron...); got.code != 1 || json.Unmarshal([]byte(got.stdout), &report) != nil || len(report.Rows) != 1 {
		t.Error(got)
	}
	found := 0
	for _, index := range []string{"0", "1", "2"} {
		if got := pod(index, append(cron, "--shard=3")...); got.code == 1 {
			found++
		} else if got.code != 0 {
			t.Error(got)
		}
	}
	if found != 1 {
		t.Errorf("the object is in %d of 3 parts", found)
	}
	if got := pod("", "-f", "files"); got.code == 0 || !strings.Contains(got.stderr, "cannot patch") {
		t.Errorf("the role permits a write: %s", got)
	}
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// serviceAccountFiles are the files that a pod of the service account drift has.
func serviceAccountFiles(t *testing.T, s *apiServer, u *user) string {
	t.Helper()
	dir := t.TempDir()
	config := rest.CopyConfig(s.config)
	if err := rest.LoadTLSFiles(config); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"token": strings.TrimSpace(u.does("kubectl", "create", "token", "drift").stdout), "ca.crt": string(config.CAData), "namespace": u.ns,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
