package absorb

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// sources are the local files that a kustomization is built of. That they are files of it is read
// from its text: what they set is found by building.
type sources struct {
	folder  string
	list    []origin
	seen    map[string]bool // files and folders
	distant []string        // entries that are not here: URLs
	part    bool            // a Component, which is not built alone
	built   []byte          // what is built of the files as they are, once it was asked for
}

// origin is one of them.
type origin struct {
	file  string // absolute, without links
	depth int    // 0: named by the kustomization itself, 1: by one that it names, and so on
	key   string // the field of the kustomization that names it; "": a kustomization
}

// sourcesOf are those of the kustomization of a folder, which is absolute and without links.
func sourcesOf(folder string) *sources {
	s := &sources{folder: folder, seen: map[string]bool{}}
	s.read(folder, 0)
	return s
}

// read adds the kustomization of a folder, and what it names.
func (s *sources) read(folder string, depth int) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if file, err := filepath.EvalSymlinks(filepath.Join(folder, name)); err == nil && !s.seen[file] {
			s.seen[folder] = true
			s.add(origin{depth: depth}, file, folder)
			return
		}
	}
}

// below are the fields whose entries may be folders, and may be elsewhere. The files of the last three
// may name others.
var below = []string{"resources", "bases", "components", "generators", "transformers", "validators"}

// add adds a file, and those that it names: as a text, or behind a key as KEY=FILE.
func (s *sources) add(o origin, file, folder string) {
	if o.file = file; s.seen[file] {
		return
	}
	s.seen[file], s.list = true, append(s.list, o)
	if o.key != "" && !slices.Contains(below[3:], o.key) {
		return
	}
	text, _ := os.ReadFile(file)
	docs, _ := source.Decode(text) // what cannot be read cannot be built either
	for _, d := range docs {
		s.part = s.part || o.key == "" && o.depth == 0 && merge.At[string](d.Value, "kind") == types.ComponentKind
		walk(d.Value, nil, nil, func(v any, at []string, _ func(any) any) {
			name, isText := v.(string)
			if !isText || len(at) == 0 {
				return
			}
			in := origin{depth: o.depth, key: "configurations"}
			if o.key == "" {
				in.key = at[0]
			}
			_, behind, _ := strings.Cut(name, "=")
			if !s.named(name, in, folder) && !s.named(behind, in, folder) && slices.Contains(below, in.key) && !strings.Contains(name, "\n") {
				s.distant = append(s.distant, name)
			}
		})
	}
}

// named adds the file or folder of a name, and reports whether there is one.
func (s *sources) named(name string, o origin, folder string) bool {
	if !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	at, err := filepath.EvalSymlinks(name)
	info, statErr := os.Stat(at)
	switch {
	case err != nil || statErr != nil || name == folder:
		return false
	case !info.IsDir():
		s.add(o, at, folder)
	case slices.Contains(below, o.key) && !s.seen[at]:
		s.read(at, o.depth+1)
	}
	return true
}

// others are the kustomizations of the repository that this one is not built of, and which are not
// parts of others: the repository is the closest folder that git has, otherwise the one that holds
// all sources.
func (s *sources) others() (top string, all []*sources) {
	top = s.folder
	for _, o := range s.list {
		top = files.Common(top, filepath.Dir(o.file))
	}
	for at := s.folder; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			top = at
			break
		}
	}
	_ = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case err != nil || d.IsDir() || !slices.Contains(konfig.RecognizedKustomizationFileNames(), d.Name()) || s.seen[filepath.Dir(name)]:
			return nil // what cannot be read is built by nobody
		}
		if o := sourcesOf(filepath.Dir(name)); !o.part {
			all = append(all, o)
		}
		return nil
	})
	return top, all
}

// gone stands for an entry of a list that is taken out.
type gone struct{}

// walk calls do for a value and all below it, with the names on the way, where "-" stands for an entry
// of a list, and with what returns the whole with another value there.
func walk(v any, at []string, with func(any) any, do func(v any, at []string, with func(any) any)) {
	do(v, at, with)
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			walk(e, append(at[:len(at):len(at)], "-"), func(e any) any {
				if _, out := e.(gone); out {
					return with(slices.Delete(slices.Clone(v), i, i+1))
				}
				return with(slices.Concat(v[:i], []any{e}, v[i+1:]))
			}, do)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walk(v[name], append(at[:len(at):len(at)], name), func(e any) any { return with(merge.With(v, e, name)) }, do)
		}
	}
}
