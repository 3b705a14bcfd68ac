package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-merge/kubectl-merge/packaging/krew"
)

// TestArchive spoils what an archive holds. The program is left out: the test's own
// binary was not built as a release is, and that is one of the cases.
func TestArchive(t *testing.T) {
	b := &built{top: t.TempDir()}
	if err := os.WriteFile(filepath.Join(b.top, "LICENSE"), []byte("free"), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	artifact := krew.Artifact{OS: runtime.GOOS, Arch: "elsewhere"}
	artifact.Extra.Binaries = []string{"program"}
	license := krew.File{Name: "LICENSE", Mode: 0o644, Content: []byte("free")}
	for _, tt := range []struct {
		reason string
		files  []krew.File
		want   []string
	}{
		{"what has to be there is not", nil, []string{"LICENSE is missing", "program is missing"}},
		{"a file that is not listed is", []krew.File{license, {Name: "notes.txt"}}, []string{"notes.txt does not belong there"}},
		{"the text is an older one", []krew.File{{Name: "LICENSE", Mode: 0o644, Content: []byte("paid")}}, []string{"LICENSE is not LICENSE as it is now"}},
		{"a text that can be run", []krew.File{{Name: "LICENSE", Mode: 0o755, Content: []byte("free")}}, []string{"LICENSE has mode 755, want 644"}},
		{"a clock of its own", []krew.File{license, {Name: "program", Mode: 0o755, Time: time.Unix(1, 0)}}, []string{"program has a time of its own"}},
		{"a program for another machine", []krew.File{{Name: "program", Mode: 0o755, Content: binary}}, []string{"the program was not built with"}},
	} {
		err := b.archive(artifact, tt.files, map[string]string{"LICENSE": "LICENSE"})
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", tt.reason, err, want)
			}
		}
	}
}

func TestChecksums(t *testing.T) {
	top := t.TempDir()
	sums := filepath.Join(top, "checksums.txt")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.zip", "x")
	b := &built{top: top, release: krew.Release{Artifacts: []krew.Artifact{{Name: "a.zip", Path: "a.zip", Type: "Archive"}}}}
	const ofX = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
	for _, tt := range []struct{ reason, sums, want string }{
		{"the right sum", ofX + "  a.zip\n", ""},
		{"another sum", strings.Repeat("0", 64) + "  a.zip\n", "a.zip: has"},
		{"no sum", ofX + "  b.zip\n", `a.zip: has ""`},
		{"no list of sums", "hello\n", "is no line of a sum and a name"},
	} {
		write("checksums.txt", tt.sums)
		if err := b.checksums(sums); tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.reason, err, tt.want)
		}
	}
}

func TestWhatIsMissing(t *testing.T) {
	b := &built{top: t.TempDir(), targets: []string{"linux/arm", "windows/amd64"}}
	deb := krew.Artifact{Arch: "arm", Type: "Linux Package"}
	deb.Extra.Format = "deb"
	b.release.Artifacts = []krew.Artifact{deb}
	if err := b.packages(); err == nil || err.Error() != "there is no rpm for linux/arm\nthere is no apk for linux/arm" {
		t.Errorf("packages: %v; Windows has none, and the deb is there", err)
	}
	if err := b.lists(); err == nil || !strings.Contains(err.Error(), "0 lists of modules for 2 programs") {
		t.Errorf("lists: %v", err)
	}
}

// TestSame: a second build has to have the sums of the first.
func TestSame(t *testing.T) {
	first, dist := filepath.Join(t.TempDir(), "sums"), t.TempDir()
	for file, text := range map[string]string{first: "1  a\n2  b\n", filepath.Join(dist, "checksums.txt"): "1  a\n3  b\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := (options{dist: dist, again: first}).same(); err == nil || err.Error() != "b: two builds of one commit differ" {
		t.Errorf("same: %v", err)
	}
}

// TestIndexes: an address or a sum that is not the archive's is found, and a program that
// is not installed.
func TestIndexes(t *testing.T) {
	dist := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(dist, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	b := &built{top: dist, release: krew.Release{Version: "1.0.0", Artifacts: []krew.Artifact{
		{Name: "p_darwin.tar.gz", OS: "darwin", Arch: "arm64", Type: "Archive"},
		{Name: "p_s390x.tar.gz", OS: "linux", Arch: "s390x", Type: "Archive"}, // Homebrew has no such machine
		{Name: "p_windows.zip", OS: "windows", Arch: "amd64", Type: "Archive"},
	}}}
	write("docs/man/kubectl-merge.1", ".TH")
	write("docs/man/kubectl-merge-diff.1", ".TH")
	write("checksums.txt", "aaa  p_darwin.tar.gz\nsss  p_s390x.tar.gz\nwww  p_windows.zip\n")
	goodCask := `version "1.0.0"
sha256 "aaa"
url "https://example.com/v#{version}/p_darwin.tar.gz"
binary "kubectl-merge"
binary "kubectl_complete-merge"
manpage "man/kubectl-merge.1"
manpage "man/kubectl-merge-diff.1"
`
	goodScoop := `{"architecture": {"64bit": {"url": "https://example.com/v1.0.0/p_windows.zip", "hash": "www", "bin": ["kubectl-merge.exe"]}}}`
	for _, tt := range []struct{ reason, cask, scoop, want string }{
		{"as it should be", goodCask, goodScoop, ""},
		{"another sum", strings.Replace(goodCask, "aaa", "bbb", 1), goodScoop, "p_darwin.tar.gz with the sum aaa"},
		{"another version", strings.Replace(goodCask, "v#{version}", "v0.9.0", 1), goodScoop, "p_darwin.tar.gz with the sum aaa"},
		{"no completion", strings.Replace(goodCask, "kubectl_complete-merge", "other", 1), goodScoop, `should have binary "kubectl_complete-merge"`},
		{"no page", strings.Replace(goodCask, "merge-diff.1", "merge-dif.1", 1), goodScoop, `should have manpage "man/kubectl-merge-diff.1"`},
		{"another sum", goodCask, strings.Replace(goodScoop, "www", "vvv", 1), "p_windows.zip with www"},
		{"no program", goodCask, strings.Replace(goodScoop, "kubectl-merge.exe", "a.exe", 1), "the programs [a.exe]"},
	} {
		write(cask, tt.cask)
		write(scoop, tt.scoop)
		err := b.indexes(dist, "https://example.com/v1.0.0/")
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q in it", tt.reason, err, tt.want)
		}
	}
}
