package e2e

import (
	"regexp"
	"strings"
	"testing"
)

// definitions are the shared custom resources, and where their schemas are reported.
var definitions = []struct{ name, schema string }{
	{"testdata/shared/gadgets.yaml", "/openapi/v3/apis/stories.example.com/v1"},
	{"testdata/shared/shapes.yaml", "/openapi/v3/apis/shapes.example.com/v1"},
}

// crds puts the shared custom resources into the user's server and waits until
// their schemas are reported there.
func (u *user) crds() {
	u.t.Helper()
	for _, d := range definitions {
		cmd := u.command(u.t.Context(), "kubectl", "apply", "--server-side", "--force-conflicts", "-f", d.name)
		cmd.Dir = "."
		if got := u.ends(cmd); got.code != 0 {
			u.t.Fatal(got)
		}
		u.schemaAt(d.schema)
	}
}

// schemaAt waits until the server reports a schema.
func (u *user) schemaAt(path string) {
	u.t.Helper()
	rest := u.server.client.Discovery().RESTClient()
	u.awaits(func() bool {
		_, err := rest.Get().AbsPath(path).DoRaw(u.t.Context())
		return err == nil
	})
}

const gadgetBefore = `{apiVersion: stories.example.com/v1, kind: Gadget, metadata: {name: g}, spec: {size: "1", backends: [{name: ours, url: a}]}}`

const (
	gadgetAfter   = "{apiVersion: stories.example.com/v1, kind: Gadget, metadata: {name: g}, spec: {size: \"2\", backends: [{name: ours, url: b}]}}\n"
	settingsAfter = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: \"2\"}}\n"
)

// TestSchemasDown has the server serve its schemas badly, which only custom
// resources need: they are not written on a guess, nor is anything else of the same
// input. Where the server says that it has none, lists are merged whole.
func TestSchemasDown(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	for _, tt := range []struct {
		what, why string
		hits      string // in the URL
		do        harm
		says      string // "": it is written; "whole": with the list as one value
	}{
		{"no index", "a schema that cannot be had is no reason to guess", "/openapi/v3", refuse(500, "InternalError", "down"), `schema index /openapi/v3: .*try again`},
		{"no document", "the same", "/openapi/v3/apis/stories.example.com/v1", refuse(503, "ServiceUnavailable", "down"), `schema /openapi/v3/apis/stories.example.com/v1: .*try again`},
		{"a torn document", "the same", "/openapi/v3/apis/stories.example.com/v1", tear, `schema`},
		{"a truncated document", "the same", "/openapi/v3/apis/stories.example.com/v1", truncate, `schema .*stories.example.com/v1: .*document`},
		{"a document of other kinds only", "the kind was defined a moment ago: its CustomResourceDefinition is read", "/openapi/v3/apis/stories.example.com/v1", lie(replacing(`"kind":"Gadget"`, `"kind":"Widget"`)), ``},
		{"a document of before", "the definition had another field a moment ago: it is read", "/openapi/v3/apis/stories.example.com/v1", lie(replacing(`"size":`, `"width":`)), ``},
		{"an index of other groups only", "the same", "/openapi/v3", lie(replacing(`stories.example.com`, `other.example.com`)), ``},
		{"neither document nor definition", "the kind is unknown: its lists are merged whole", "/openapi/v3/apis/stories.example.com/v1", lie(replacing(`"kind":"Gadget"`, `"kind":"Widget"`)), `whole`},
		{"none found", "every server since 1.27 has them, so that something else has answered", "/openapi/v3", refuse(404, "NotFound", "the server could not find the requested resource"), `schema index /openapi/v3: .*every one since 1.27 has it`},
		{"none of old", "an older server publishes none: definitions are read", "/openapi/v3", refuse(404, "NotFound", "the server could not find the requested resource"), ``},
		{"no permission", "what is missing is named", "/openapi/v3", refuse(403, "Forbidden", `forbidden: User "u" cannot get path "/openapi/v3"`), `schema index /openapi/v3: .*cannot get path "/openapi/v3": ask an administrator of the cluster for this permission, which the cluster role system:discovery has`},
	} {
		t.Run(strings.ReplaceAll(tt.what, " ", "-"), func(t *testing.T) {
			u := s.user(t, "schemas")
			u.home = t.TempDir() // without the schemas that others have fetched
			u.crds()
			u.file("v1.yaml", gadgetBefore)
			u.file("v2.yaml", gadgetAfter+settingsAfter)
			u.merges("-f", "v1.yaml")
			u.does("kubectl", "patch", "gadgets.stories.example.com/g", "--type=json", "--field-manager=controller", "-p", `[{"op": "add", "path": "/spec/backends/-", "value": {"name": "theirs"}}]`)
			p, err := newProxy(s.config)
			if err != nil {
				t.Fatal(err)
			}
			defer p.http.Close()
			p.fails(fault{hits: about("SCHEMA", tt.hits), do: tt.do})
			if tt.what == "none of old" {
				p.fails(fault{hits: about("DISCOVERY", "/version"), do: answer(200, nil, `{"major":"1","minor":"26+","gitVersion":"v1.26.15"}`)})
			}
			if tt.says == "whole" {
				p.fails(fault{hits: about("READ", "/customresourcedefinitions/"), do: refuse(403, "Forbidden", "forbidden")})
			}
			sick := u.proxied(p)
			was := u.versions("v2.yaml")
			got := sick.tries("kubectl-merge", "-f", "v2.yaml")
			switch tt.says {
			default:
				if ok, err := regexp.MatchString(tt.says, got.stderr); got.code != 1 || !ok {
					t.Errorf("%s: want %q (%v)\n%s", tt.why, tt.says, err, got)
				}
				sameVersions(t, tt.what, was, u.versions("v2.yaml"))
				p.heals()
				if got = sick.tries("kubectl-merge", "-f", "v2.yaml"); got.code != 0 {
					t.Error(got)
				}
				u.wantLive("gadgets.stories.example.com/g", `{spec: {size: "2", backends: [{name: ours, url: b}, {name: theirs}]}}`)
			case "whole":
				if got.code != 0 || !strings.Contains(got.stderr, "spec.backends") {
					t.Errorf("%s: want exit 0, and a note on the list that replaced another client's entry\n%s", tt.why, got)
				}
				u.wantLive("gadgets.stories.example.com/g", `{spec: {size: "2", backends: [{name: ours, url: b}]}}`)
			case "":
				if got.code != 0 {
					t.Errorf("%s: %s", tt.why, got)
				}
				u.wantLive("gadgets.stories.example.com/g", `{spec: {size: "2", backends: [{name: ours, url: b}, {name: theirs}]}}`)
			}
			u.wantLive("configmap/settings", `{data: {a: "2"}}`)
		})
	}
}

// wantLive compares a live object with what is wanted of it; see mismatch.
func (u *user) wantLive(ref, want string) {
	u.t.Helper()
	v, err := decode([]byte(want))
	if err != nil {
		u.t.Fatal(err)
	}
	if why := mismatch(v, any(u.lives(ref)), ""); why != "" {
		u.t.Errorf("%s%s", ref, why)
	}
}

// TestBrokenAggregatedAPI registers an API whose server is away, which must not
// stop anything that is not of this API.
func TestBrokenAggregatedAPI(t *testing.T) {
	s := fragile.need(t)
	u := s.user(t, "aggregated")
	u.home = t.TempDir()
	u.crds()
	u.file("broken.yaml", `{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.broken.example.com}, spec: {group: broken.example.com, version: v1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true, service: {namespace: default, name: nobody}}}`)
	u.does("kubectl", "apply", "-f", "broken.yaml")
	defer u.does("kubectl", "delete", "-f", "broken.yaml")
	u.awaits(func() bool {
		return strings.Contains(u.tries("kubectl", "get", "--raw", "/apis/broken.example.com/v1").stderr, "unable to handle")
	})
	u.file("v1.yaml", gadgetBefore)
	u.file("v2.yaml", gadgetAfter+settingsAfter)
	for _, file := range []string{"v1.yaml", "v2.yaml"} {
		if got := u.merges("-f", file); strings.Contains(got.stderr, "broken") {
			t.Errorf("the broken API must not be mentioned here\n%s", got)
		}
	}
	u.wantLive("gadgets.stories.example.com/g", `{spec: {size: "2"}}`)

	u.file("theirs.yaml", "---\n{apiVersion: broken.example.com/v1, kind: Thing, metadata: {name: x}}\n"+strings.ReplaceAll(settingsAfter, `"2"`, `"3"`))
	got := u.tries("kubectl-merge", "-f", "theirs.yaml")
	if got.code != 1 || !strings.Contains(got.stderr, "broken.example.com/v1: cannot be looked up") {
		t.Errorf("an object of the broken API cannot be merged, and that is reported\n%s", got)
	}
	u.wantLive("configmap/settings", `{data: {a: "2"}}`)
}

// TestSchemaOfAnother has a server claim the hash of a well-known schema for one of its
// own, in which every list is atomic. What it says stays with it: the same server in
// order, of the same name, has its lists merged by their keys.
func TestSchemaOfAnother(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	u := s.user(t, "schemas")
	u.crds()
	u.file("v1.yaml", gadgetBefore)
	u.file("v2.yaml", gadgetAfter)
	u.merges("-f", "v1.yaml")
	u.does("kubectl", "patch", "gadgets.stories.example.com/g", "--type=json", "--field-manager=controller", "-p", `[{"op": "add", "path": "/spec/backends/-", "value": {"name": "theirs"}}]`)
	p, err := newProxy(s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer p.http.Close()
	f := p.fails(fault{hits: about("SCHEMA", "/openapi/v3/apis/stories.example.com/v1"), do: lie(replacing(`"x-kubernetes-list-type":"map"`, `"x-kubernetes-list-type":"atomic"`))})
	sick := u.proxied(p)
	sick.home = t.TempDir()
	if got := sick.tries("kubectl-merge", "diff", "-f", "v2.yaml"); p.hit(f) == 0 || !strings.Contains(got.stdout, "theirs") {
		t.Fatalf("the lie is not believed, so there is nothing to see:\n%s", got)
	}
	p.heals()
	if got := sick.tries("kubectl-merge", "diff", "-f", "v2.yaml"); strings.Contains(got.stdout, "-  - name: theirs") || strings.Contains(got.stderr, "theirs") {
		t.Errorf("another's schema is still believed:\n%s", got)
	}
}
