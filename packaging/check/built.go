package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/packaging/krew"
)

// built is a release on disk.
type built struct {
	top     string // of the repository
	release krew.Release
	targets []string // os/arch
}

// sources are the files that every archive has, and where they come from.
func (b *built) sources() (map[string]string, error) {
	out := map[string]string{
		"LICENSE": "LICENSE", "README.md": "README.md",
		"kubectl_complete-merge":     "packaging/kubectl_complete-merge",
		"kubectl_complete-merge.cmd": "packaging/kubectl_complete-merge.cmd",
	}
	man, err := filepath.Glob(filepath.Join(b.top, "docs/man/*.1"))
	if err == nil && len(man) == 0 {
		err = errors.New("docs/man has no pages (make docs writes them)")
	}
	for _, page := range man {
		out["man/"+filepath.Base(page)] = "docs/man/" + filepath.Base(page)
	}
	return out, err
}

// archives: one per target, each with all that belongs to it and no more.
func (b *built) archives() error {
	sources, err := b.sources()
	if err != nil {
		return err
	}
	var (
		errs  []error
		found []string
	)
	for _, a := range b.release.Of("Archive") {
		found = append(found, a.OS+"/"+a.Arch)
		files, err := krew.Unpack(filepath.Join(b.top, a.Path))
		if err == nil {
			err = b.archive(a, files, sources)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", a.Name, err))
		}
	}
	for _, target := range b.targets {
		if !slices.Contains(found, target) {
			errs = append(errs, fmt.Errorf("there is no archive for %s", target))
		}
	}
	return errors.Join(errs...)
}

func (b *built) archive(a krew.Artifact, files []krew.File, sources map[string]string) error {
	var errs []error
	left := map[string]bool{a.Extra.Binaries[0]: true}
	for name := range sources {
		left[name] = true
	}
	for _, f := range files {
		if !left[f.Name] {
			errs = append(errs, fmt.Errorf("%s does not belong there", f.Name))
			continue
		}
		delete(left, f.Name)
		if !f.Time.Equal(files[0].Time) {
			errs = append(errs, fmt.Errorf("%s has a time of its own, %s", f.Name, f.Time))
		}
		errs = append(errs, b.file(a, f, sources[f.Name]))
	}
	for name := range left {
		errs = append(errs, fmt.Errorf("%s is missing", name))
	}
	return errors.Join(errs...)
}

// file checks one file; source is "" for the program itself.
func (b *built) file(a krew.Artifact, f krew.File, source string) error {
	runs := source == "" || strings.HasPrefix(f.Name, "kubectl_complete")
	want := fs.FileMode(0o644)
	if runs {
		want = 0o755
	}
	if f.Mode.Perm() != want {
		return fmt.Errorf("%s has mode %o, want %o", f.Name, f.Mode.Perm(), want)
	}
	if source == "" {
		return program(a, f.Content)
	}
	there, err := os.ReadFile(filepath.Join(b.top, source))
	if err == nil && !bytes.Equal(there, f.Content) {
		err = fmt.Errorf("%s is not %s as it is now", f.Name, source)
	}
	return err
}

// program asks the binary itself what it was built for, and how.
func program(a krew.Artifact, content []byte) error {
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return err
	}
	for key, want := range map[string]string{"GOOS": a.OS, "GOARCH": a.Arch, "-trimpath": "true", "CGO_ENABLED": "0"} {
		i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
		if i < 0 || info.Settings[i].Value != want {
			return fmt.Errorf("the program was not built with %s=%s", key, want)
		}
	}
	return nil
}

// checksums holds checksums.txt to the files, and sees that none is left out.
func (b *built) checksums(file string) error {
	sums, err := readSums(file)
	if err != nil {
		return err
	}
	var errs []error
	for _, typ := range []string{"Archive", "Linux Package", "SBOM"} {
		for _, a := range b.release.Of(typ) {
			content, err := os.ReadFile(filepath.Join(b.top, a.Path))
			if err != nil {
				errs = append(errs, err)
				continue
			}
			sum := sha256.Sum256(content)
			if got := hex.EncodeToString(sum[:]); sums[a.Name] != got {
				errs = append(errs, fmt.Errorf("checksums.txt: %s: has %q, and the file %q", a.Name, sums[a.Name], got))
			}
		}
	}
	return errors.Join(errs...)
}

func readSums(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		sum, name, ok := strings.Cut(line, "  ")
		if !ok {
			return nil, fmt.Errorf("%s: %q is no line of a sum and a name", file, line)
		}
		sums[name] = sum
	}
	return sums, nil
}

// packages: a deb, an rpm and an apk for every Linux.
func (b *built) packages() error {
	var errs []error
	for _, target := range b.targets {
		system, arch, _ := strings.Cut(target, "/")
		for _, format := range []string{"deb", "rpm", "apk"} {
			if system == "linux" && !slices.ContainsFunc(b.release.Of("Linux Package"), func(a krew.Artifact) bool {
				return a.Arch == arch && a.Extra.Format == format
			}) {
				errs = append(errs, fmt.Errorf("there is no %s for %s", format, target))
			}
		}
	}
	return errors.Join(errs...)
}

// lists: one per program, that names the module and what it stands on.
func (b *built) lists() error {
	var errs []error
	lists := b.release.Of("SBOM")
	if len(lists) != len(b.targets) {
		errs = append(errs, fmt.Errorf("there are %d lists of modules for %d programs", len(lists), len(b.targets)))
	}
	for _, a := range lists {
		var doc struct {
			Packages []struct{ Name, VersionInfo string }
		}
		text, err := os.ReadFile(filepath.Join(b.top, a.Path))
		if err == nil {
			err = json.Unmarshal(text, &doc)
		}
		names := map[string]string{}
		for _, p := range doc.Packages {
			names[p.Name] = p.VersionInfo
		}
		for _, want := range []string{"github.com/kubectl-merge/kubectl-merge", "stdlib", "k8s.io/client-go"} {
			if err == nil && names[want] == "" {
				err = fmt.Errorf("does not name %s and its version", want)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", a.Name, err))
		}
	}
	return errors.Join(errs...)
}
