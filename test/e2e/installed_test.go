//go:build release

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-merge/kubectl-merge/packaging/krew"
)

var dist = flag.String("dist", "../../dist", "folder that goreleaser built")

// TestInstalled plays testdata/installed.txtar with the program out of the release's
// archive for this machine, put where krew puts it: make release-check builds the
// archive and runs this (go test -tags release).
func TestInstalled(t *testing.T) {
	s := server.need(t)
	testscript.Run(t, testscript.Params{
		Files: []string{filepath.Join("testdata", "installed.txtar")},
		Setup: func(e *testscript.Env) error {
			if err := s.setUp(e, "installed"); err != nil {
				return err
			}
			home := filepath.Join(e.WorkDir, ".krew")
			e.Setenv("KREW", home)
			bin := filepath.Join(home, "bin")
			e.Setenv("PATH", strings.Join(append([]string{bin}, withoutProgram(e.Getenv("PATH"))...), string(filepath.ListSeparator)))
			return install(home, bin)
		},
		Cmds:                storyCommands,
		RequireExplicitExec: true,
		UpdateScripts:       *update,
	})
}

// withoutProgram are the folders of a PATH that hold no kubectl-merge: the one that
// the other stories play on is not to be found here.
func withoutProgram(path string) []string {
	return slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "kubectl-merge"))
		return err == nil
	})
}

// install does what krew's install does (its internal/installation): take the
// manifest's archive for this machine, hold it to its sum, unpack all of it into the
// store, and link the program, and nothing else, into bin.
func install(home, bin string) error {
	config, err := krew.ReadConfig("../../.goreleaser.yaml")
	if err != nil {
		return err
	}
	release, err := krew.ReadRelease(*dist)
	if err != nil {
		return fmt.Errorf("%w (make release-check builds it)", err)
	}
	m := krew.FromRelease(config, release)
	for _, p := range m.Spec.Platforms {
		if p.OS() == runtime.GOOS && p.Arch() == runtime.GOARCH {
			store := filepath.Join(home, "store", m.Metadata.Name, m.Spec.Version)
			if err := unpack(p, store); err != nil {
				return err
			}
			name := "kubectl-" + strings.ReplaceAll(m.Metadata.Name, "-", "_")
			return errors.Join(os.MkdirAll(bin, 0o755), os.Symlink(filepath.Join(store, p.Bin), filepath.Join(bin, name)))
		}
	}
	return fmt.Errorf("the manifest has nothing for %s/%s", runtime.GOOS, runtime.GOARCH)
}

func unpack(p krew.Platform, store string) error {
	archive := filepath.Join(*dist, p.URI[strings.LastIndex(p.URI, "/")+1:])
	content, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != p.SHA256 {
		return fmt.Errorf("%s: the checksum does not match", archive)
	}
	files, err := krew.Unpack(archive)
	if err != nil {
		return err
	}
	for _, f := range files {
		to := filepath.Join(store, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, f.Content, f.Mode.Perm())); err != nil {
			return err
		}
	}
	return nil
}
