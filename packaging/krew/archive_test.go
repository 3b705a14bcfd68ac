package krew

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func tarball(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range headers {
		h.Size = 1
		if h.Typeflag == tar.TypeSymlink {
			h.Size = 0
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(bytes.Repeat([]byte("x"), int(h.Size))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestUnpack(t *testing.T) {
	var zipped bytes.Buffer
	w := zip.NewWriter(&zipped)
	if _, err := w.Create("kubectl-merge.exe"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	good := tar.Header{Name: "man/a.1", Mode: 0o644}
	for _, tt := range []struct {
		reason, file string
		content      []byte
		names        string
		want         string // of the error; "" for none
	}{
		{"a tarball", "a.tar.gz", tarball(t, good), "man/a.1", ""},
		{"a zip", "a.zip", zipped.Bytes(), "kubectl-merge.exe", ""},
		{"a way out of the folder", "a.tar.gz", tarball(t, good, tar.Header{Name: "../x"}), "", "krew refuses ../x"},
		{"an absolute name", "a.tar.gz", tarball(t, tar.Header{Name: "/x"}), "", "krew refuses /x"},
		{"a link", "a.tar.gz", tarball(t, tar.Header{Name: "x", Linkname: "y", Typeflag: tar.TypeSymlink}), "", "krew refuses x"},
		{"the builder's own user", "a.tar.gz", tarball(t, tar.Header{Name: "x", Uid: 1000}), "", "x belongs to user 1000"},
		{"no archive", "a.tar.gz", []byte("x"), "", "a.tar.gz: "},
	} {
		file := filepath.Join(t.TempDir(), tt.file)
		if err := os.WriteFile(file, tt.content, 0o600); err != nil {
			t.Fatal(err)
		}
		files, err := Unpack(file)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.reason, err, tt.want)
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != tt.names {
			t.Errorf("%s: holds %q, want %q", tt.reason, got, tt.names)
		}
	}
}
