package source

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
)

// Saved is a set of live objects saved to files, for example by `kubectl get -o yaml`.
type Saved struct {
	byID   map[object.Identity]object.Object
	byName map[object.Identity][]string // namespaces by the identity without namespace
}

// ReadSaved reads saved live objects from files and, recursively, directories; a List counts
// as its items. in.Stdin may be nil. Errors are Read's, or name an object that is saved twice.
func ReadSaved(ctx context.Context, in Inputs) (*Saved, error) {
	in.Recursive = true
	objects, err := Read(ctx, in)
	if err != nil {
		return nil, err
	}
	return SavedOf(objects)
}

// SavedOf returns a set of objects. The error names an object that is among them twice.
func SavedOf(objects []object.Object) (*Saved, error) {
	objects, err := Distinct(objects, func(o object.Object) object.Object { return o })
	if err != nil {
		return nil, err
	}
	s := &Saved{byID: make(map[object.Identity]object.Object, len(objects)), byName: map[object.Identity][]string{}}
	for _, o := range objects {
		id := o.ID()
		s.byID[id] = o
		id.Namespace = ""
		s.byName[id] = append(s.byName[id], o.Namespace())
	}
	return s, nil
}

// Empty reports whether there are no objects.
func (s *Saved) Empty() bool { return len(s.byID) == 0 }

// Select returns the saved objects for which fit is true, sorted by namespace and name. nil if
// there are none.
func (s *Saved) Select(fit func(object.Object) bool) (out []object.Object) {
	for _, o := range s.byID {
		if fit(o) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b object.Object) int {
		return cmp.Or(strings.Compare(a.Namespace(), b.Namespace()), strings.Compare(a.Name(), b.Name()), strings.Compare(a.String(), b.String()))
	})
	return out
}

// Find returns the saved object with the group, kind, namespace and name of o. A missing
// namespace on one side matches any on the other. It is nil if there is none, and an error
// if there are several.
func (s *Saved) Find(o object.Object) (*object.Object, error) {
	found, err := s.At(o.ID())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Place(), err)
	}
	return found, nil
}

// At is Find by identity. nil if there is none; it is an error if the identity has no namespace and
// there are several.
func (s *Saved) At(id object.Identity) (*object.Object, error) {
	found, ok := s.byID[id]
	if !ok {
		namespaces := slices.Sorted(slices.Values(s.byName[id])) // none for an identity that has one
		if len(namespaces) > 1 {
			return nil, fmt.Errorf("is saved in several namespaces (%v): name one with -n", namespaces)
		}
		id.Namespace = strings.Join(namespaces, "") // the only one, or none
		if found, ok = s.byID[id]; !ok {
			return nil, nil
		}
	}
	return &found, nil
}

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
	return in.parse(name, text, keep)
}
