package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestQuiet: --quiet leaves out every note, as its help says.
func TestQuiet(t *testing.T) {
	local, _ := files(t)
	secret := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(secret, []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData: {a: b2xkc2Vj}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-f", local, "--live", os.DevNull, "--dry-run", "-o", "name"},
		{"-f", secret, "--live", os.DevNull, "--dry-run", "-o", "yaml"},
	} {
		if _, _, errs := offline(t, args...); !strings.Contains(errs, "note: ") {
			t.Errorf("%q: without --quiet there is no note either: %q", args, errs)
		}
		if _, _, errs := offline(t, append(args, "-q")...); errs != "" {
			t.Errorf("%q -q: %q", args, errs)
		}
	}
}
