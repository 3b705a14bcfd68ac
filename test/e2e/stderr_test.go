package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// logLine is how the client library begins what it logs.
var logLine = regexp.MustCompile(`(?m)^[IWEF]\d{4} \d\d:\d\d:\d\d`)

// deprecated are Pods of which the server warns, and Secrets.
func deprecated(n int, label string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%d, labels: {l: %q}}\nspec: {nodeSelector: {beta.kubernetes.io/os: linux}, containers: [{name: c, image: i}]}\n", i, label)
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s%d}\nstringData: {k: %q}\n", i, label)
	}
	return b.String()
}

// TestNotesAreJSON: with --notes=json every line of standard error is one JSON object
// with a kind and a text, from every source and however many objects are written at
// once.
func TestNotesAreJSON(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	u := s.user(t, "json")
	u.does("kubectl", "create", "serviceaccount", "default")
	u.file("v1.yaml", deprecated(40, "1"))
	u.file("v2.yaml", deprecated(40, "2"))
	p, err := newProxy(s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer p.http.Close()
	sick := u.proxied(p)
	kinds := map[string]int{}
	read := func(u *user, args ...string) {
		t.Helper()
		got := u.tries("kubectl-merge", append(args, "--notes=json", "--concurrency=16")...)
		for line := range strings.Lines(got.stderr) {
			var note struct{ Kind, Object, Text string }
			if err := json.Unmarshal([]byte(line), &note); err != nil || note.Kind == "" || note.Text == "" {
				t.Errorf("%s: %v: %q", got.line, err, line)
			}
			kinds[note.Kind]++
		}
	}
	read(u, "-f", "v1.yaml")
	u.does("kubectl", "label", "pods", "--all", "--overwrite", "l=theirs")
	read(u, "-f", "v2.yaml", "--dry-run=server")
	read(u, "-f", "v2.yaml", "--dry-run=server", "-o", "json")
	read(u, "-f", "v2.yaml", "--policy=ask")
	read(u, "diff", "-f", "v2.yaml", "--policy=strict")
	read(u, "-f", "missing.yaml")
	for _, f := range []fault{
		{hits: of("WRITE"), do: refuse(500, "InternalError", "broken\nin two lines")},
		{hits: of("READ"), do: refuse(403, "Forbidden", `pods is forbidden: User "u" cannot get resource`)},
		{hits: of("DISCOVERY"), do: refuse(503, "ServiceUnavailable", busy)},
	} {
		p.fails(f)
		read(sick, "-f", "v2.yaml", "--cache-dir="+t.TempDir())
		p.heals()
	}
	read(u, "-f", "v2.yaml")
	for _, kind := range []string{"warning", "outcome", "shown", "overwritten", "conflict", "problem", "error"} {
		if kinds[kind] == 0 {
			t.Errorf("there was no %s among %v", kind, kinds)
		}
	}
}

// TestLogsAreSilent: what the client library logs is not on standard error, which has
// the error already, unless -v asks for it.
func TestLogsAreSilent(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	u := s.user(t, "logs")
	u.file("v.yaml", faultyNew)
	p, err := newProxy(s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer p.http.Close()
	sick := u.proxied(p)
	for what, f := range map[string]fault{
		"discovery forbidden": {hits: of("DISCOVERY"), do: refuse(403, "Forbidden", `forbidden: User "u" cannot get path "/api"`)},
		"discovery down":      {hits: of("DISCOVERY"), do: refuse(503, "ServiceUnavailable", busy)},
		"garbage":             {hits: of("DISCOVERY"), do: lie(func([]byte) []byte { return []byte("\x00") })},
		"writes cut":          {hits: of("WRITE"), do: cutBefore},
		"stranger":            {hits: of("READ", "DISCOVERY"), do: stranger},
	} {
		p.fails(f)
		got := sick.tries("kubectl-merge", "-f", "v.yaml", "--cache-dir="+t.TempDir())
		loud := sick.tries("kubectl-merge", "-f", "v.yaml", "--cache-dir="+t.TempDir(), "-v=6")
		p.heals()
		if got.code == 0 || logLine.MatchString(got.stderr) {
			t.Errorf("%s: want an error and no log: %s", what, got)
		}
		if !logLine.MatchString(loud.stderr) {
			t.Errorf("%s: -v=6 logs nothing: %s", what, loud)
		}
	}
}

// TestWayToServer: a way to the server that leads nowhere is reported as what is wrong
// with it, and no password of a proxy is.
func TestWayToServer(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what, want string
		change     func(*clientcmdapi.Cluster)
		env        string
	}{
		{what: "HTTP to a TLS port", want: `error: .*the server speaks TLS, and was asked without: write https:// in place of http://`,
			change: func(c *clientcmdapi.Cluster) {
				c.Server = strings.Replace(c.Server, "https://", "http://", 1)
			}},
		{what: "a dead proxy", want: `the proxy on the way to it cannot be reached: .*check proxy-url`,
			change: func(c *clientcmdapi.Cluster) { c.ProxyURL = "http://user:planted@" + nobody }},
		{what: "a dead proxy of the environment", want: `the proxy on the way to it cannot be reached: .*HTTPS_PROXY`,
			change: func(c *clientcmdapi.Cluster) { c.Server = strings.Replace(c.Server, "127.0.0.1", "server.invalid", 1) }, env: "HTTPS_PROXY=http://user:planted@" + nobody},
		{what: "no URL of a proxy", want: `kubeconfig: proxy-url: is no URL of a proxy`,
			change: func(c *clientcmdapi.Cluster) { c.ProxyURL = "ftp://user:planted@x y" }},
		{what: "no server there", want: `the connection to the server ` + regexp.QuoteMeta(nobody) + ` was refused`,
			change: func(c *clientcmdapi.Cluster) { c.Server = "https://" + nobody }},
	} {
		t.Run(tt.what, func(t *testing.T) {
			u := s.user(t, "way")
			u.file("v.yaml", faultyNew)
			u.lead(tt.change)
			cmd := u.command(t.Context(), "kubectl-merge", "-f", "v.yaml", "--cache-dir="+t.TempDir())
			if tt.env != "" {
				cmd.Env = append(cmd.Env, tt.env)
			}
			got := u.ends(cmd)
			if got.code != 1 || !regexp.MustCompile(tt.want).MatchString(got.stderr) || strings.Contains(got.stderr, "planted") || logLine.MatchString(got.stderr) {
				t.Errorf("want %q and no password: %s", tt.want, got)
			}
		})
	}
}
