package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
)

// TestRemoteName: credentials are neither in the name of a remote base nor in an error about
// it.
func TestRemoteName(t *testing.T) {
	for address, want := range map[string]string{
		"dir/with?odd=name": "dir/with?odd=name",
		"https://github.com/org/repo//base?ref=v1&timeout=9s":       "https://github.com/org/repo//base?ref=v1&timeout=9s",
		"https://me:planted@host/repo//base?ref=v1":                 "https://host/repo//base?ref=v1",
		"https://planted@host/repo":                                 "https://host/repo",
		"git::https://me:plan%20ted@host/repo?token=planted&ref=v1": "git::https://host/repo?…",
		"ssh://git:planted@host/repo#planted":                       "ssh://host/repo",
		"https://me:plan@ted@host/x@y":                              "https://host/x@y",
	} {
		if got := remoteName(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
		var values redact.Values
		addCredentials(&values, address)
		if got := values.BlankOwn("cannot fetch " + address); strings.Contains(got, "plant") || strings.Contains(got, "plan%20ted") {
			t.Errorf("%s: %s", address, got)
		}
	}
	if got := remoteName("git@github.com:org/repo"); got != "git@github.com:org/repo" {
		t.Error(got)
	}
}

// TestRemoteErrors: kustomize's own errors quote the addresses that it cannot fetch.
func TestRemoteErrors(t *testing.T) {
	dir := t.TempDir()
	text := "resources: ['https://me:planted-token@127.0.0.1:1/x/y?sig=planted-signature']\n"
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{dir, "https://me:planted-token@127.0.0.1:1/x/y?sig=planted-signature"} {
		_, err := Read(t.Context(), Inputs{Kustomize: k})
		if err == nil || strings.Contains(err.Error(), "planted") {
			t.Errorf("%v", err)
		}
	}
}

// TestPatchesAreSilent: no error about a kustomization's patch, in it or in a file, has a value of a Secret.
func TestPatchesAreSilent(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
	env := func(container string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: " + container + "\n"
	}
	merges := []string{
		secret + "stringData: Planted+1\n", secret + "stringData: [Planted+1, Planted+2]\n", secret + "stringData: {key: {x: Planted+1}}\n", secret + "stringData: {key: [Planted+1]}\n",
		secret + "stringData: {key: Planted+1, key: Planted+2}\n", secret + "stringData:\n\tkey: Planted+1\n", secret + "stringData: {key: Planted+1\n", secret + "stringData: {key: Planted+1} Planted+2\n",
		secret + "data: {key: Planted+1, $patch: Planted+2}\n", secret + "stringData: {key: &Planted+1 x}\nother: *Planted+2\n", secret + "type: {Planted+1: Planted+2}\n",
		env("{name: c, env: [{name: DB_PASSWORD, value: Planted+1}]}"), env("[{name: c, env: {name: DB_PASSWORD, value: Planted+1}}]"), env("[{name: c, env: [{name: DB_PASSWORD, value: {x: Planted+1}}]}]"),
	}
	operations := []string{
		`[{op: replce, path: /stringData/key, value: Planted+1}]`, `[{op: replace, path: stringData/key, value: Planted+1}]`, `[{op: replace, path: /stringData/key/x, value: Planted+1}]`,
		`[{op: test, path: /stringData/key, value: Planted+1}]`, `[{op: replace, path: /stringData/none, value: Planted+1}]`, `[{op: replace, path: /stringData/key, value: Planted+1`, `{op: replace, value: Planted+1}`,
		`[{op: add, path: /stringData/-, value: {x: Planted+1}}]`, `[{op: replace, path: /stringData, value: Planted+1}]`, `[{"op": "replace", "path": "/stringData/key", "value": "Planted+1",,}]`,
	}
	played := 0
	play := func(kustomization, patch string) {
		dir := write(t, map[string]string{"kustomization.yaml": "resources: [s.yaml]\n" + kustomization, "p.yaml": patch,
			"s.yaml": secret + "stringData: {key: Planted+0}\n---\n" + env("[{name: c, env: [{name: DB_PASSWORD, value: Planted+0}]}]")})
		if _, err := Read(t.Context(), Inputs{Kustomize: dir, Values: &redact.Values{}}); err != nil {
			if played++; strings.Contains(err.Error(), "lanted") {
				t.Errorf("%s%s: %v", kustomization, patch, err)
			}
		}
	}
	block := func(text string) string { return "|\n    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n" }
	for _, patch := range merges {
		play("patches:\n- path: p.yaml\n", patch)
		play("patches:\n- patch: "+block(patch), "")
		play("patchesStrategicMerge:\n- "+block(patch), "")
	}
	for _, patch := range operations {
		for _, target := range []string{"  target: {kind: Secret}\n", "  target: {name: s}\n", "  target: {kind: Secret, name: s, version: v1}\n", ""} {
			play("patches:\n- path: p.yaml\n"+target, patch)
			play("patches:\n- patch: "+block(patch)+target, "")
			play("patchesJson6902:\n- patch: "+block(patch)+target, "")
		}
	}
	if played < 60 {
		t.Errorf("only %d of them are errors", played)
	}
}
