package krew

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// pairs are the machines that krew knows (its cmd/validate-krew-manifest).
var pairs = []string{
	"windows/386", "windows/amd64", "windows/arm64",
	"linux/386", "linux/amd64", "linux/arm", "linux/arm64", "linux/ppc64le",
	"darwin/386", "darwin/amd64", "darwin/arm64",
}

// Known reports whether krew installs on such a machine.
func Known(os, arch string) bool { return slices.Contains(pairs, os+"/"+arch) }

var (
	safeName = regexp.MustCompile(`^[\w-]+$`)
	sum      = regexp.MustCompile(`^[a-f0-9]{64}$`)

	// semver.org's own expression, with the v that krew wants in front.
	version = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

	// forbidden are names that Windows keeps for devices.
	forbidden = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[1-9]|lpt[1-9])$`)
)

// The widths that reviewers of krew's index ask for.
const (
	shortWidth = 50
	width      = 80
)

// Check reports what krew, or a reviewer of its index, would reject; nil:
// nothing. The rules are those of krew's validation (internal/index/validation,
// cmd/validate-krew-manifest) and of its developer guide.
func Check(m Manifest) error {
	errs := append(checkHead(m), checkTexts(m.Spec)...)
	taken := map[string]int{}
	for i, p := range m.Spec.Platforms {
		for _, err := range checkPlatform(p) {
			errs = append(errs, fmt.Errorf("spec.platforms[%d]: %w", i, err))
		}
		pair := p.OS() + "/" + p.Arch()
		if first, twice := taken[pair]; twice {
			errs = append(errs, fmt.Errorf("spec.platforms[%d]: %s is what spec.platforms[%d] selects already", i, pair, first))
		}
		taken[pair] = i
	}
	return errors.Join(errs...)
}

func checkHead(m Manifest) (errs []error) {
	if m.APIVersion != apiVersion || m.Kind != kind {
		errs = append(errs, fmt.Errorf("is %s %s, and has to be %s %s", m.APIVersion, m.Kind, apiVersion, kind))
	}
	if name := m.Metadata.Name; !safeName.MatchString(name) || forbidden.MatchString(name) {
		errs = append(errs, fmt.Errorf("metadata.name: %q is no name for a plugin", name))
	}
	if !version.MatchString(m.Spec.Version) {
		errs = append(errs, fmt.Errorf("spec.version: %q is no semantic version with a v in front", m.Spec.Version))
	}
	if len(m.Spec.Platforms) == 0 {
		errs = append(errs, errors.New("spec.platforms: there are none"))
	}
	return errs
}

func checkTexts(s Spec) (errs []error) {
	switch short := s.ShortDescription; {
	case short == "":
		errs = append(errs, errors.New("spec.shortDescription: is empty"))
	case strings.ContainsAny(short, "\r\n"):
		errs = append(errs, errors.New("spec.shortDescription: has more than one line"))
	case len(short) > shortWidth:
		errs = append(errs, fmt.Errorf("spec.shortDescription: has %d characters, and may have %d", len(short), shortWidth))
	case strings.HasSuffix(short, "."):
		errs = append(errs, errors.New("spec.shortDescription: ends with a full stop"))
	}
	for field, text := range map[string]string{"description": s.Description, "caveats": s.Caveats} {
		for _, line := range strings.Split(text, "\n") {
			if len(line) > width {
				errs = append(errs, fmt.Errorf("spec.%s: a line has %d characters, and may have %d: %s", field, len(line), width, line))
			}
		}
	}
	if strings.TrimSpace(s.Description) == "" {
		errs = append(errs, errors.New("spec.description: is empty"))
	}
	if !strings.HasPrefix(s.Homepage, "https://") {
		errs = append(errs, fmt.Errorf("spec.homepage: %q is no https address", s.Homepage))
	}
	return errs
}

func checkPlatform(p Platform) (errs []error) {
	for key := range p.Selector.MatchLabels {
		if key != "os" && key != "arch" {
			errs = append(errs, fmt.Errorf("selector: key %q is neither os nor arch", key))
		}
	}
	if !Known(p.OS(), p.Arch()) {
		errs = append(errs, fmt.Errorf("selector: krew knows no machine %s/%s", p.OS(), p.Arch()))
	}
	if !strings.HasPrefix(p.URI, "https://") || !strings.HasSuffix(p.URI, ".tar.gz") && !strings.HasSuffix(p.URI, ".zip") {
		errs = append(errs, fmt.Errorf("uri: %q is no https address of a .tar.gz or .zip", p.URI))
	}
	if !sum.MatchString(p.SHA256) {
		errs = append(errs, fmt.Errorf("sha256: %q is not 64 hexadecimal digits in lower case", p.SHA256))
	}
	switch {
	case p.Bin == "" || path.IsAbs(p.Bin) || path.Clean(p.Bin) != p.Bin || strings.HasPrefix(p.Bin, ".."):
		errs = append(errs, fmt.Errorf("bin: %q is no path inside the archive", p.Bin))
	case strings.HasSuffix(p.Bin, ".exe") != (p.OS() == "windows"):
		errs = append(errs, fmt.Errorf("bin: %q on %s: programs end in .exe on Windows, and only there", p.Bin, p.OS()))
	}
	if p.Files != nil {
		errs = append(errs, errors.New("files: leave it out, so that LICENSE and all else is installed"))
	}
	return errs
}
