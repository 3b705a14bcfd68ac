package krew

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// good is a manifest that krew takes.
func good() Manifest {
	return Manifest{APIVersion: apiVersion, Kind: kind, Metadata: Metadata{"merge"}, Spec: Spec{
		Version: "v1.0.0", Homepage: "https://example.com", ShortDescription: "Merge objects", Description: "It merges.\n",
		Platforms: []Platform{platform("linux", "amd64"), platform("windows", "amd64")},
	}}
}

func platform(os, arch string) Platform {
	p := Platform{
		Selector: Selector{map[string]string{"os": os, "arch": arch}},
		URI:      "https://example.com/kubectl-merge_" + os + "_" + arch + ".tar.gz",
		SHA256:   strings.Repeat("0a", 32),
		Bin:      "kubectl-merge",
	}
	if os == "windows" {
		p.Bin += ".exe"
	}
	return p
}

func TestCheck(t *testing.T) {
	if err := Check(good()); err != nil {
		t.Fatalf("nothing is wrong with it: %v", err)
	}
	first := func(m *Manifest) *Platform { return &m.Spec.Platforms[0] }
	for _, tt := range []struct {
		reason string
		spoil  func(*Manifest)
		want   string
	}{
		{"another version of krew's format", func(m *Manifest) { m.APIVersion = "krew/v1" }, "has to be krew.googlecontainertools.github.com/v1alpha2 Plugin"},
		{"a name that is no file name", func(m *Manifest) { m.Metadata.Name = "a/b" }, `"a/b" is no name`},
		{"a name that Windows keeps", func(m *Manifest) { m.Metadata.Name = "com1" }, `"com1" is no name`},
		{"a version without v", func(m *Manifest) { m.Spec.Version = "1.0.0" }, `"1.0.0" is no semantic version`},
		{"a version with a leading zero", func(m *Manifest) { m.Spec.Version = "v01.0.0" }, "no semantic version"},
		{"no platform", func(m *Manifest) { m.Spec.Platforms = nil }, "there are none"},
		{"no short description", func(m *Manifest) { m.Spec.ShortDescription = "" }, "shortDescription: is empty"},
		{"a short description of two lines", func(m *Manifest) { m.Spec.ShortDescription = "a\nb" }, "more than one line"},
		{"a long short description", func(m *Manifest) { m.Spec.ShortDescription = strings.Repeat("a", 51) }, "may have 50"},
		{"a wide description", func(m *Manifest) { m.Spec.Description = "a\n" + strings.Repeat("b", 81) }, "may have 80"},
		{"wide caveats", func(m *Manifest) { m.Spec.Caveats = strings.Repeat("b", 81) }, "spec.caveats"},
		{"no description", func(m *Manifest) { m.Spec.Description = " \n" }, "description: is empty"},
		{"no homepage", func(m *Manifest) { m.Spec.Homepage = "" }, "no https address"},
		{"a key that krew does not know", func(m *Manifest) { first(m).Selector.MatchLabels["cpu"] = "x" }, `key "cpu"`},
		{"a machine that krew does not know", func(m *Manifest) { *first(m) = platform("linux", "s390x") }, "no machine linux/s390x"},
		{"one machine twice", func(m *Manifest) { m.Spec.Platforms = append(m.Spec.Platforms, platform("linux", "amd64")) }, "platforms[2]: linux/amd64 is what spec.platforms[0] selects"},
		{"an archive that krew cannot unpack", func(m *Manifest) { first(m).URI = "https://example.com/x.tar.xz" }, "no https address of a .tar.gz or .zip"},
		{"an archive without encryption on the way", func(m *Manifest) { first(m).URI = "http://example.com/x.zip" }, "no https address"},
		{"a sum in upper case", func(m *Manifest) { first(m).SHA256 = strings.Repeat("0A", 32) }, "64 hexadecimal digits"},
		{"a short sum", func(m *Manifest) { first(m).SHA256 = "0a" }, "64 hexadecimal digits"},
		{"no program", func(m *Manifest) { first(m).Bin = "" }, "no path inside"},
		{"a program outside", func(m *Manifest) { first(m).Bin = "../x" }, "no path inside"},
		{"a program without .exe on Windows", func(m *Manifest) { m.Spec.Platforms[1].Bin = "kubectl-merge" }, "programs end in .exe"},
		{"a program with .exe elsewhere", func(m *Manifest) { first(m).Bin = "kubectl-merge.exe" }, "and only there"},
		{"files that are picked", func(m *Manifest) { first(m).Files = []FileOperation{{"*", "."}} }, "leave it out"},
	} {
		m := good()
		tt.spoil(&m)
		if err := Check(m); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, and not %q", tt.reason, err, tt.want)
		}
	}
}

// releaseOf is a release as goreleaser would leave it, with the sums of m.
func releaseOf(c Config, version string, m Manifest) Release {
	r := Release{Version: version}
	for _, target := range c.Targets() {
		system, arch, _ := strings.Cut(target, "/")
		a := Artifact{Name: "kubectl-merge_" + version + "_" + system + "_" + arch + ".tar.gz", OS: system, Arch: arch, Type: "Archive"}
		a.Extra.Binaries = []string{"kubectl-merge"}
		if system == "windows" {
			a.Name = strings.TrimSuffix(a.Name, ".tar.gz") + ".zip"
			a.Extra.Binaries = []string{"kubectl-merge.exe"}
		}
		for _, p := range m.Spec.Platforms {
			if p.OS() == system && p.Arch() == arch {
				a.Extra.Checksum = "sha256:" + p.SHA256
			}
		}
		r.Artifacts = append(r.Artifacts, a)
	}
	return r
}

func TestFromRelease(t *testing.T) {
	config, err := ReadConfig("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m := FromRelease(config, releaseOf(config, "1.2.3-rc.1", Manifest{Spec: good().Spec}))
	if m.Spec.Version != "v1.2.3-rc.1" || m.Metadata.Name != "merge" {
		t.Errorf("is %s %s", m.Metadata.Name, m.Spec.Version)
	}
	for _, p := range m.Spec.Platforms {
		if p.Arch() == "s390x" {
			t.Error("krew knows no s390x, and refuses a manifest that names it")
		}
		if !strings.HasPrefix(p.URI, "https://github.com/kubectl-merge/kubectl-merge/releases/download/v1.2.3-rc.1/kubectl-merge_1.2.3-rc.1_"+p.OS()+"_"+p.Arch()+".") {
			t.Errorf("%s/%s is at %s", p.OS(), p.Arch(), p.URI)
		}
	}
}

func TestAgree(t *testing.T) {
	if err := Agree(good(), good()); err != nil {
		t.Errorf("one manifest agrees with itself: %v", err)
	}
	for _, tt := range []struct {
		reason string
		spoil  func(*Manifest)
		want   string
	}{
		{"another text", func(m *Manifest) { m.Spec.Caveats = "x" }, "texts differ"},
		{"another sum", func(m *Manifest) { m.Spec.Platforms[1].SHA256 = "x" }, "differ for windows/amd64"},
		{"no platforms", func(m *Manifest) { m.Spec.Platforms = nil }, "has no platforms"},
	} {
		m := good()
		tt.spoil(&m)
		if err := Agree(good(), m); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
}

// TestText: what is written reads back as the same.
func TestText(t *testing.T) {
	text, err := good().Text()
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(good(), m); d != "" {
		t.Error(d)
	}
	if _, err := Parse([]byte("apiVersion: x\nfoo: 1\n")); err == nil {
		t.Error("an unknown field is an error in krew's index, and here")
	}
}
