package krew

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// File is one file of an archive.
type File struct {
	Name    string // with slashes
	Mode    fs.FileMode
	Time    time.Time
	Content []byte
}

// Unpack reads a .tar.gz or .zip under krew's rules (its internal/download): regular
// files only, none outside, and here none that belongs to anybody but root.
func Unpack(file string) ([]File, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	read := untar
	if strings.HasSuffix(file, ".zip") {
		read = unzip
	}
	files, err := read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, f := range files {
		if strings.Contains(f.Name, "..") || strings.HasPrefix(f.Name, "/") || strings.Contains(f.Name, `\`) || !f.Mode.IsRegular() {
			return nil, fmt.Errorf("%s: krew refuses %s", file, f.Name)
		}
	}
	return files, nil
}

func untar(text []byte) ([]File, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var all []File
	for r := tar.NewReader(zipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		if h.Uid != 0 || h.Gid != 0 {
			return nil, fmt.Errorf("%s belongs to user %d, group %d", h.Name, h.Uid, h.Gid)
		}
		all = append(all, File{h.Name, h.FileInfo().Mode(), h.ModTime, content})
	}
}

func unzip(text []byte) ([]File, error) {
	r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, err
	}
	var all []File
	for _, f := range r.File {
		open, err := f.Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(open)
		if err := errors.Join(err, open.Close()); err != nil {
			return nil, err
		}
		all = append(all, File{f.Name, f.Mode(), f.Modified, content})
	}
	return all, nil
}
