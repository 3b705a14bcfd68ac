package main

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

// entry is one file of an archive.
type entry struct {
	name    string
	mode    fs.FileMode
	time    time.Time
	content []byte
}

// unpack reads a .tar.gz or .zip as krew does: regular files only, none outside.
func unpack(file string) ([]entry, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	read := untar
	if strings.HasSuffix(file, ".zip") {
		read = unzip
	}
	entries, err := read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, e := range entries {
		if strings.Contains(e.name, "..") || strings.HasPrefix(e.name, "/") || strings.Contains(e.name, `\`) || !e.mode.IsRegular() {
			return nil, fmt.Errorf("%s: krew refuses %s", file, e.name)
		}
	}
	return entries, nil
}

func untar(text []byte) ([]entry, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var all []entry
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
		all = append(all, entry{h.Name, h.FileInfo().Mode(), h.ModTime, content})
	}
}

func unzip(text []byte) ([]entry, error) {
	r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, f := range r.File {
		open, err := f.Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(open)
		if err := errors.Join(err, open.Close()); err != nil {
			return nil, err
		}
		all = append(all, entry{f.Name, f.Mode(), f.Modified, content})
	}
	return all, nil
}
