// Package krew writes the manifest that krew installs this plugin by, and knows
// krew's rules for one. It refuses to download anything: what was built lies on disk.
package krew

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// What krew reads (sigs.k8s.io/krew, pkg/constants).
const (
	apiVersion = "krew.googlecontainertools.github.com/v1alpha2"
	kind       = "Plugin"
)

// Manifest is a krew plugin manifest, as far as this project needs it.
type Manifest struct {
	APIVersion string   `yaml:"apiVersion"`
	Kind       string   `yaml:"kind"`
	Metadata   Metadata `yaml:"metadata"`
	Spec       Spec     `yaml:"spec"`
}

// Metadata is the plugin's name.
type Metadata struct {
	Name string `yaml:"name"`
}

// Spec is what a user reads, and where the archives are.
type Spec struct {
	Version          string     `yaml:"version"`
	Homepage         string     `yaml:"homepage"`
	ShortDescription string     `yaml:"shortDescription"`
	Description      string     `yaml:"description"`
	Caveats          string     `yaml:"caveats"`
	Platforms        []Platform `yaml:"platforms"`
}

// Platform is one archive.
type Platform struct {
	Selector Selector        `yaml:"selector"`
	URI      string          `yaml:"uri"`
	SHA256   string          `yaml:"sha256"`
	Bin      string          `yaml:"bin"`
	Files    []FileOperation `yaml:"files,omitempty"` // none: krew installs all
}

// Selector is the machines that the archive is for.
type Selector struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}

// FileOperation copies files of the archive.
type FileOperation struct {
	From string `yaml:"from"`
	To   string `yaml:"to"`
}

// OS is the selector's, in Go's words.
func (p Platform) OS() string { return p.Selector.MatchLabels["os"] }

// Arch is the selector's, in Go's words.
func (p Platform) Arch() string { return p.Selector.MatchLabels["arch"] }

// Parse reads a manifest; a field that we do not know is an error, as it is in
// krew's own index.
func Parse(text []byte) (Manifest, error) {
	var m Manifest
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("krew manifest: %w", err)
	}
	return m, nil
}

// header names the generator of the file.
const header = "# Written by `make krew-manifest` from .goreleaser.yaml and the archives of this version.\n"

// Text is the manifest as it is kept in a file.
func (m Manifest) Text() ([]byte, error) {
	b := bytes.NewBufferString(header)
	e := yaml.NewEncoder(b)
	e.SetIndent(2)
	if err := e.Encode(m); err != nil {
		return nil, fmt.Errorf("krew manifest: %w", err)
	}
	return b.Bytes(), e.Close()
}
