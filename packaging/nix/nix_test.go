package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// TestFlake: flake.nix pins the modules that go.mod and go.sum name.
func TestFlake(t *testing.T) {
	text, err := os.ReadFile("../../flake.nix")
	if err != nil {
		t.Fatal(err)
	}
	match := pinned.FindSubmatch(text)
	if match == nil {
		t.Fatal("flake.nix pins no hash")
	}
	want, err := vendorHash(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(match[1]); got != want {
		t.Errorf("flake.nix has %s and should have %s: go run ./packaging/nix writes it", got, want)
	}
}

// TestArchive compares a small folder with its archive, written out by hand.
func TestArchive(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	if err := archive(sum, dir); err != nil {
		t.Fatal(err)
	}
	word := func(s string) string {
		out := string(rune(len(s))) + "\x00\x00\x00\x00\x00\x00\x00" + s
		for len(out)%8 != 0 {
			out += "\x00"
		}
		return out
	}
	text := ""
	for _, s := range []string{
		"nix-archive-1", "(", "type", "directory",
		"entry", "(", "name", "a", "node", "(", "type", "regular", "contents", "hello", ")", ")",
		"entry", "(", "name", "b", "node", "(", "type", "regular", "executable", "", "contents", "", ")", ")",
		")",
	} {
		text += word(s)
	}
	want := sha256.Sum256([]byte(text))
	if got := hex.EncodeToString(sum.Sum(nil)); got != hex.EncodeToString(want[:]) {
		t.Errorf("%s, want %x", got, want)
	}
}

// TestEmpty: Nix itself has this hash for an empty folder (emptyDirectory of nixpkgs).
func TestEmpty(t *testing.T) {
	sum := sha256.New()
	if err := archive(sum, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if got := base64.StdEncoding.EncodeToString(sum.Sum(nil)); got != "pQpattmS9VmO3ZIQUFn66az8GSmB4IvYhTTCFn6SUmo=" {
		t.Error(got)
	}
}
