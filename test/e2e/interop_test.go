package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestInterop holds the program to being exchangeable with kubectl apply, object
// by object, on many manifests of every template:
//
//   - after kubectl apply, the program says unchanged and sends no write, save for
//     Secrets, out of whose annotation it takes the values, once;
//   - after itself, without exception;
//   - after the program, kubectl apply says unchanged wherever it says so after
//     itself, save for Secrets again, whose annotation it writes in full;
//   - a dry run, of either kind, changes no object.
func TestInterop(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	n, each := seed(t), 4**soak
	all := templates(t)
	theirs, ours := s.user(t, "interop-apply"), s.user(t, "interop-merge")
	for _, u := range []*user{theirs, ours} {
		u.file("all.yaml", string(document(t, draws(t, all, n, each, u.ns, 0)...)))
		cleanUp(t, u, draws(t, all, n, each, u.ns, 0))
	}
	t.Logf("%d objects of %d templates, in two namespaces", each*len(all), len(all))

	theirs.does("kubectl", "apply", "-f", "all.yaml")
	again := words(theirs.does("kubectl", "apply", "-f", "all.yaml"))
	before := theirs.versions("all.yaml")
	got := words(theirs.merges("-f", "all.yaml"))
	for ref := range got {
		if strings.HasPrefix(ref, "secret/") { // blanked
			delete(got, ref)
			delete(before, ref)
		}
	}
	notUnchanged(t, "the program after kubectl", got, each*(len(all)-1))
	sameVersions(t, "the program after kubectl", before, theirs.versions("all.yaml"))

	ours.merges("-f", "all.yaml")
	before = ours.versions("all.yaml")
	notUnchanged(t, "the program after itself", words(ours.merges("-f", "all.yaml")), each*len(all))
	sameVersions(t, "the program after itself", before, ours.versions("all.yaml"))

	// Another draw of the same objects has much to change; a dry run shows it.
	ours.file("other.yaml", string(document(t, draws(t, all, n, each, ours.ns, 1)...)))
	for _, mode := range []string{"client", "server"} {
		got := ours.does("kubectl-merge", "-f", "other.yaml", "--dry-run="+mode)
		if !strings.Contains(got.stderr, " configured (") {
			t.Errorf("--dry-run=%s found nothing to change:\n%s", mode, got.stderr)
		}
		sameVersions(t, "--dry-run="+mode, before, ours.versions("all.yaml"))
	}

	after := words(ours.does("kubectl", "apply", "-f", "all.yaml"))
	twins := map[string]string{}
	for ref, word := range again {
		twins[strings.ReplaceAll(ref, theirs.ns, ours.ns)] = word
	}
	count := map[string]int{}
	for _, ref := range slices.Sorted(maps.Keys(after)) {
		count[twins[ref]]++
		switch {
		case strings.HasPrefix(ref, "secret/"):
			if after[ref] != "configured" && after[ref] != "unchanged" {
				t.Errorf("%s: kubectl says %q", ref, after[ref])
			}
		case twins[ref] == "unchanged" && after[ref] != "unchanged":
			t.Errorf("%s: kubectl says unchanged after itself, and %s after the program", ref, after[ref])
		}
	}
	t.Logf("kubectl after itself: %v", count)
}

// draws makes each manifests of every template for a namespace.
func draws(t *testing.T, templates []any, seed uint64, each int, ns string, n uint64) []object {
	var all []object
	for i, template := range templates {
		for j := range each {
			name := fmt.Sprintf("t%d-%d", i, j)
			all = append(all, drawn(newDraw(t, seed, name, ns, n).from(template, "")))
		}
	}
	return all
}

// cleanUp takes away what does not go with a namespace, so that a run on a server
// that stays leaves nothing in the way.
func cleanUp(t *testing.T, u *user, all []object) {
	var own []object
	for _, o := range all {
		if strings.Contains(o.ref, u.ns) {
			own = append(own, o)
		}
	}
	if len(own) == 0 {
		return
	}
	u.file("own.yaml", string(document(t, own...)))
	a := u.admin()
	t.Cleanup(func() {
		cmd := a.command(context.Background(), "kubectl", "delete", "--wait=false", "--ignore-not-found", "-f", "own.yaml")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("taking away: %v\n%s", err, out)
		}
	})
}

func sameVersions(t *testing.T, what string, before, now map[string]string) {
	t.Helper()
	if len(before) == 0 {
		t.Fatal("nothing to compare")
	}
	for ref, version := range before {
		// Controllers of the API server itself write these now and then.
		if now[ref] != version && !strings.HasPrefix(ref, "customresourcedefinition.") && !strings.HasPrefix(ref, "apiservice.") {
			t.Errorf("%s: %s was written", what, ref)
		}
	}
}

func notUnchanged(t *testing.T, what string, got map[string]string, want int) {
	t.Helper()
	if len(got) != want {
		t.Errorf("%s: %d outcomes, want %d", what, len(got), want)
	}
	for _, ref := range slices.Sorted(maps.Keys(got)) {
		if got[ref] != "unchanged" {
			t.Errorf("%s: %s %s", what, ref, got[ref])
		}
	}
}
