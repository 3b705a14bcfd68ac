package krew

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Config is the part of .goreleaser.yaml that a manifest is made from.
type Config struct {
	Builds []struct {
		Targets []string `yaml:"targets"` // linux_amd64, linux_arm_6
	} `yaml:"builds"`
	Krews []Plugin `yaml:"krews"`
}

// Plugin is the krews section: the texts of the manifest.
type Plugin struct {
	Name             string `yaml:"name"`
	Homepage         string `yaml:"homepage"`
	ShortDescription string `yaml:"short_description"`
	Description      string `yaml:"description"`
	Caveats          string `yaml:"caveats"`
	URLTemplate      string `yaml:"url_template"`
}

// ReadConfig reads .goreleaser.yaml. It has to have one build and one plugin.
func ReadConfig(file string) (Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Config{}, err
	}
	var c Config
	if err := yaml.Unmarshal(text, &c); err != nil {
		return Config{}, fmt.Errorf("%s: %w", file, err)
	}
	if len(c.Builds) != 1 || len(c.Krews) != 1 {
		return Config{}, fmt.Errorf("%s: has %d builds and %d krews, and a manifest is made of one of each", file, len(c.Builds), len(c.Krews))
	}
	return c, nil
}

// Targets are the machines that are built for, as os/arch.
func (c Config) Targets() []string {
	var out []string
	for _, target := range c.Builds[0].Targets {
		words := strings.Split(target, "_")
		out = append(out, words[0]+"/"+words[1])
	}
	return out
}

// Archives is where the archives of a version will be, without their names.
func (c Config) Archives(version string) string {
	return strings.NewReplacer("{{ .Version }}", version, "{{ .ArtifactName }}", "").Replace(c.Krews[0].URLTemplate)
}

// Release is what goreleaser left in its folder dist.
type Release struct {
	Version   string
	Artifacts []Artifact
}

// Artifact is one thing that was built.
type Artifact struct {
	Name  string `json:"name"`
	Path  string `json:"path"` // relative to the folder that holds dist
	OS    string `json:"goos"`
	Arch  string `json:"goarch"`
	Type  string `json:"type"` // Archive, Binary, Linux Package, SBOM, Checksum
	Extra struct {
		Binaries []string `json:"Binaries"`
		Checksum string   `json:"Checksum"` // sha256:…
		Format   string   `json:"Format"`   // deb, rpm, tar.gz
	} `json:"extra"`
}

// Of are the artifacts of a type.
func (r Release) Of(typ string) []Artifact {
	return slices.DeleteFunc(slices.Clone(r.Artifacts), func(a Artifact) bool { return a.Type != typ })
}

// ReadRelease reads the folder dist.
func ReadRelease(dist string) (Release, error) {
	var (
		r    Release
		meta struct {
			Version string `json:"version"`
		}
	)
	err := errors.Join(readJSON(filepath.Join(dist, "metadata.json"), &meta), readJSON(filepath.Join(dist, "artifacts.json"), &r.Artifacts))
	r.Version = meta.Version
	return r, err
}

func readJSON(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// FromRelease makes the manifest of a release: the texts are those of the
// configuration, the archives those that krew has a machine for.
func FromRelease(c Config, r Release) Manifest {
	plugin := c.Krews[0]
	m := Manifest{APIVersion: apiVersion, Kind: kind, Metadata: Metadata{plugin.Name}, Spec: Spec{
		Version:          "v" + r.Version,
		Homepage:         plugin.Homepage,
		ShortDescription: plugin.ShortDescription,
		Description:      plugin.Description,
		Caveats:          plugin.Caveats,
	}}
	for _, a := range r.Of("Archive") {
		if !Known(a.OS, a.Arch) {
			continue
		}
		m.Spec.Platforms = append(m.Spec.Platforms, Platform{
			Selector: Selector{map[string]string{"os": a.OS, "arch": a.Arch}},
			URI:      c.Archives(r.Version) + a.Name,
			SHA256:   strings.TrimPrefix(a.Extra.Checksum, "sha256:"),
			Bin:      strings.Join(a.Extra.Binaries, " "),
		})
	}
	slices.SortFunc(m.Spec.Platforms, func(a, b Platform) int {
		return cmp.Or(strings.Compare(a.OS(), b.OS()), strings.Compare(a.Arch(), b.Arch()))
	})
	return m
}

// Agree reports where two manifests of one release differ: in a text, or in a platform
// that both have.
func Agree(a, b Manifest) error {
	var errs []error
	textsOf := func(m Manifest) [7]string {
		s := m.Spec
		return [7]string{m.APIVersion, m.Kind, m.Metadata.Name, s.Version, s.Homepage, s.ShortDescription + s.Description, s.Caveats}
	}
	if textsOf(a) != textsOf(b) {
		errs = append(errs, fmt.Errorf("krew: the manifests' texts differ: %q, and %q", textsOf(a), textsOf(b)))
	}
	for _, p := range a.Spec.Platforms {
		for _, q := range b.Spec.Platforms {
			if p.OS() == q.OS() && p.Arch() == q.Arch() && (p.URI != q.URI || p.SHA256 != q.SHA256 || p.Bin != q.Bin) {
				errs = append(errs, fmt.Errorf("krew: the manifests differ for %s/%s: %s %s %s, and %s %s %s",
					p.OS(), p.Arch(), p.URI, p.SHA256, p.Bin, q.URI, q.SHA256, q.Bin))
			}
		}
	}
	if len(b.Spec.Platforms) == 0 {
		errs = append(errs, errors.New("krew: the other manifest has no platforms"))
	}
	return errors.Join(errs...)
}

// Unversioned is the manifest without what differs from version to version.
func Unversioned(m Manifest) Manifest {
	version := strings.TrimPrefix(m.Spec.Version, "v")
	m.Spec.Version = "v0.0.0"
	m.Spec.Platforms = slices.Clone(m.Spec.Platforms)
	for i := range m.Spec.Platforms {
		p := &m.Spec.Platforms[i]
		p.URI = strings.ReplaceAll(p.URI, version, "0.0.0")
		p.SHA256 = strings.Repeat("0", 64)
	}
	return m
}
