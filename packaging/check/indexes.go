package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What package managers install a release by, as goreleaser writes it into dist; the
// release's workflow proposes both for main, where `brew tap` and `scoop bucket add` look.
const (
	cask  = "homebrew/Casks/kubectl-merge.rb"
	scoop = "scoop/kubectl-merge.json"
)

// indexes holds Homebrew's cask and Scoop's manifest to the archives: every archive that
// they can install is in them, with its address and its sum. urls is where the archives will be, without their names.
func (b *built) indexes(dist, urls string) error {
	sums, err := readSums(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		return err
	}
	return errors.Join(b.cask(filepath.Join(dist, cask), sums, urls), b.scoop(filepath.Join(dist, scoop), sums, urls))
}

func (b *built) cask(file string, sums map[string]string, urls string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(string(raw), "#{version}", b.release.Version)
	var errs []error
	for _, a := range b.release.Of("Archive") {
		if a.OS != "darwin" && a.OS != "linux" || a.Arch != "amd64" && a.Arch != "arm64" {
			continue
		}
		before, _, found := strings.Cut(text, fmt.Sprintf("url %q", urls+a.Name))
		sum := before[strings.LastIndex(before, "sha256 ")+1:]
		if !found || !strings.Contains(sum, fmt.Sprintf("%q", sums[a.Name])) {
			errs = append(errs, fmt.Errorf("%s: should have %s%s with the sum %s", file, urls, a.Name, sums[a.Name]))
		}
	}
	wanted := []string{`binary "kubectl-merge"`, `binary "kubectl_complete-merge"`}
	sources, err := b.sources()
	for name := range sources {
		if strings.HasPrefix(name, "man/") {
			wanted = append(wanted, fmt.Sprintf("manpage %q", name))
		}
	}
	errs = append(errs, err)
	for _, installs := range wanted {
		if !strings.Contains(text, installs) {
			errs = append(errs, fmt.Errorf("%s: should have %s", file, installs))
		}
	}
	return errors.Join(errs...)
}

func (b *built) scoop(file string, sums map[string]string, urls string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var manifest struct {
		Architecture map[string]struct {
			URL, Hash string
			Bin       []string
		}
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var errs []error
	for _, a := range b.release.Of("Archive") {
		arch := map[string]string{"windows/amd64": "64bit", "windows/arm64": "arm64"}[a.OS+"/"+a.Arch]
		if arch == "" {
			continue
		}
		got := manifest.Architecture[arch]
		if got.URL != urls+a.Name || got.Hash != sums[a.Name] || !slices.Contains(got.Bin, "kubectl-merge.exe") {
			errs = append(errs, fmt.Errorf("%s: %s: has %s with the sum %s and the programs %v, and should have %s%s with %s", file, arch, got.URL, got.Hash, got.Bin, urls, a.Name, sums[a.Name]))
		}
	}
	return errors.Join(errs...)
}
