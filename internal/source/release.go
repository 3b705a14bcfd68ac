package source

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
)

// maxRelease is the maximum size of an unpacked release, which has the whole chart besides the manifest.
// Packed it fits into one Secret, so that a larger one is no release.
const maxRelease = 64 << 20

// Release is a revision of a release as Helm stores it. Hooks and the chart are left out.
type Release struct {
	Name     string
	Manifest string // YAML documents
}

// DecodeRelease decodes the value "release" of a Secret or ConfigMap in which Helm stores a revision:
// base64 of gzip of JSON (helm.sh/helm/v4/pkg/storage/driver, encodeRelease). The error is a
// garbled or too large value; it quotes nothing of it.
func DecodeRelease(stored []byte) (Release, error) {
	packed, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(stored)))
	if err != nil {
		return Release{}, fmt.Errorf("is not base64 of gzip, as Helm stores releases: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(packed, maxRelease+1))
	switch {
	case err != nil:
		return Release{}, fmt.Errorf("cannot be unpacked: %w", err)
	case len(text) > maxRelease:
		return Release{}, fmt.Errorf("unpacks to more than %d MiB", maxRelease>>20)
	}
	var r Release
	if json.Unmarshal(text, &r) != nil { // whose error may quote the text
		return Release{}, errors.New("is not JSON of a release")
	}
	return r, nil
}

// ReadText returns the objects of a text as Read does those of a file of that name. Of the inputs, Selector,
// Pack, Kept and Values count.
func (in Inputs) ReadText(name, text string) ([]object.Object, error) {
	keep, err := in.keeping()
	if err != nil {
		return nil, err
	}
	return in.parse(name, []byte(text), keep)
}
