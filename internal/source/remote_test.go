package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
)

// TestRemoteName: what lets somebody in is neither in the name of a remote base nor in
// an error about it.
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
