package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// vendorHash is the hash that nixpkgs' buildGoModule wants of a module: that of the folder
// which `go mod vendor` makes, in the form `sha256-` and base64.
func vendorHash(ctx context.Context, module string) (string, error) {
	folder, err := os.MkdirTemp("", "vendor")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	vendor := exec.CommandContext(ctx, "go", "mod", "vendor", "-o", filepath.Join(folder, "vendor"))
	vendor.Dir = module
	vendor.Env = append(os.Environ(), "GOWORK=off")
	if out, err := vendor.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go mod vendor: %w: %s", err, out)
	}
	sum := sha256.New()
	if err := archive(sum, filepath.Join(folder, "vendor")); err != nil {
		return "", err
	}
	return "sha256-" + base64.StdEncoding.EncodeToString(sum.Sum(nil)), nil
}

// archive writes a file or folder in Nix' archive format, which has neither times nor
// owners (Dolstra, The Purely Functional Software Deployment Model, 5.2.1).
func archive(w io.Writer, name string) error {
	if err := words(w, "nix-archive-1"); err != nil {
		return err
	}
	return node(w, name)
}

// words writes texts, each with its length before it and filled up to 8 bytes.
func words(w io.Writer, texts ...string) error {
	for _, text := range texts {
		length := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
		padded := append([]byte(text), make([]byte, (8-len(text)%8)%8)...)
		if _, err := w.Write(append(length, padded...)); err != nil {
			return err
		}
	}
	return nil
}

func node(w io.Writer, name string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		return folder(w, name)
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(name)
		if err != nil {
			return err
		}
		return words(w, "(", "type", "symlink", "target", to, ")")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if info.Mode()&0o100 != 0 {
		return words(w, "(", "type", "regular", "executable", "", "contents", string(text), ")")
	}
	return words(w, "(", "type", "regular", "contents", string(text), ")")
}

func folder(w io.Writer, name string) error {
	entries, err := os.ReadDir(name) // by name, as the format wants them
	if err != nil {
		return err
	}
	if err := words(w, "(", "type", "directory"); err != nil {
		return err
	}
	for _, e := range entries {
		if err := words(w, "entry", "(", "name", e.Name(), "node"); err != nil {
			return err
		}
		if err := node(w, filepath.Join(name, e.Name())); err != nil {
			return err
		}
		if err := words(w, ")"); err != nil {
			return err
		}
	}
	return words(w, ")")
}
