// Command nix writes into flake.nix the hash of the modules that the program is built
// from, as Nix computes it.
package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
)

func main() {
	if err := write(context.Background(), "flake.nix"); err != nil {
		fmt.Fprintln(os.Stderr, "nix:", err)
		os.Exit(1)
	}
}

var pinned = regexp.MustCompile(`vendorHash = "([^"]*)"`)

func write(ctx context.Context, flake string) error {
	hash, err := vendorHash(ctx, ".")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(flake)
	if err != nil {
		return err
	}
	return os.WriteFile(flake, pinned.ReplaceAll(text, []byte(`vendorHash = "`+hash+`"`)), 0o644)
}
