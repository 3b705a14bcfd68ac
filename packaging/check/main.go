// Command check looks at what goreleaser built, as a user and krew will find it, and
// writes krew-manifest.yaml from it. It refuses to build, and to believe goreleaser's own
// word where the files can be asked.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubectl-merge/kubectl-merge/packaging/krew"
)

// options are where things lie, seen from the top of the repository.
type options struct {
	dist     string
	config   string
	manifest string
	write    bool
	again    string
}

func main() {
	var o options
	flag.StringVar(&o.config, "config", ".goreleaser.yaml", "what the release was built by")
	flag.StringVar(&o.manifest, "manifest", "krew-manifest.yaml", "krew's manifest, as it is kept")
	flag.BoolVar(&o.write, "write", false, "write the manifest instead of comparing")
	flag.StringVar(&o.again, "again", "", "checksums.txt of an earlier build of the same commit, to be the same")
	flag.Parse()
	if o.dist = flag.Arg(0); flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: check [-write] [-again CHECKSUMS] DIST")
		os.Exit(2)
	}
	said, err := o.run()
	if err != nil {
		fmt.Fprintf(os.Stderr, "check: %s:\n%v\n", o.dist, err)
		os.Exit(1)
	}
	fmt.Println(said)
}

// run checks everything and prints one line on what was checked.
func (o options) run() (string, error) {
	config, err := krew.ReadConfig(o.config)
	if err != nil {
		return "", err
	}
	release, err := krew.ReadRelease(o.dist)
	if err != nil {
		return "", err
	}
	b := &built{top: ".", release: release, targets: config.Targets()}
	errs := []error{b.checksums(filepath.Join(o.dist, "checksums.txt")), b.archives(), b.packages(), b.lists(), b.indexes(o.dist, config.Archives(release.Version))}
	fresh := krew.FromRelease(config, release)
	if err := krew.Check(fresh); err != nil {
		errs = append(errs, fmt.Errorf("krew: %w", err))
	}
	errs = append(errs, agrees(fresh, filepath.Join(o.dist, "krew", config.Krews[0].Name+".yaml")), o.kept(fresh), o.same())
	return fmt.Sprintf("check: %d archives, %d packages, %d lists of modules, and a krew manifest for %d machines are as they should be",
		len(release.Of("Archive")), len(release.Of("Linux Package")), len(release.Of("SBOM")), len(fresh.Spec.Platforms)), errors.Join(errs...)
}

// agrees holds our manifest to goreleaser's own, which knows fewer machines.
func agrees(fresh krew.Manifest, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	theirs, err := krew.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return krew.Agree(fresh, theirs)
}

// kept writes krew-manifest.yaml, or holds it to the fresh one: of another version,
// it may differ in what a version changes.
func (o options) kept(fresh krew.Manifest) error {
	if o.write {
		text, err := fresh.Text()
		if err != nil {
			return err
		}
		index := filepath.Join(filepath.Dir(o.manifest), "plugins", fresh.Metadata.Name+".yaml") // the repository is an index, too
		return errors.Join(os.WriteFile(o.manifest, text, 0o644), os.MkdirAll(filepath.Dir(index), 0o755), os.WriteFile(index, text, 0o644))
	}
	text, err := os.ReadFile(o.manifest)
	if err != nil {
		return err
	}
	kept, err := krew.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", o.manifest, err)
	}
	if err := krew.Check(kept); err != nil {
		return fmt.Errorf("%s: %w", o.manifest, err)
	}
	a, err := krew.Unversioned(kept).Text()
	if err != nil {
		return err
	}
	b, err := krew.Unversioned(fresh).Text()
	if err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return fmt.Errorf("%s is not what .goreleaser.yaml says (make krew-manifest regenerates it): it has\n%s\nand should have\n%s", o.manifest, a, b)
	}
	return nil
}

// same holds the sums to those of an earlier build.
func (o options) same() error {
	if o.again == "" {
		return nil
	}
	before, err := readSums(o.again)
	if err != nil {
		return err
	}
	now, err := readSums(filepath.Join(o.dist, "checksums.txt"))
	if err != nil {
		return err
	}
	var errs []error
	for name, sum := range before {
		if now[name] != sum {
			errs = append(errs, fmt.Errorf("%s: two builds of one commit differ", name))
		}
	}
	return errors.Join(errs...)
}
