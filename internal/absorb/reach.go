package absorb

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/source"
)

// sources are the local files that a kustomization is built of. That they are files of it is read
// from its text: what they set is found by building.
type sources struct {
	folder  string
	list    []origin
	seen    map[string]bool // files and folders
	distant []string        // entries that are not here: URLs
	part    bool            // a Component, which is not built alone
}

// origin is one of them.
type origin struct {
	file  string // absolute, without links
	depth int    // 0: named by the kustomization itself, 1: by one that it names, and so on
	key   string // the field of the kustomization that names it; "": a kustomization
}

// kustomizationNames are kustomize's names of the file, in its order.
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// read adds the kustomization of a folder, and what it names.
func (s *sources) read(folder string, depth int) {
	for _, name := range kustomizationNames {
		file, err := filepath.EvalSymlinks(filepath.Join(folder, name))
		if err != nil || s.seen[file] {
			continue
		}
		s.add(origin{file: file, depth: depth})
		s.seen[folder] = true
		for _, m := range documents(file) {
			s.part = s.part || depth == 0 && m["kind"] == "Component"
			for _, key := range slices.Sorted(maps.Keys(m)) {
				s.names(m[key], origin{key: key, depth: depth}, folder)
			}
		}
		return
	}
}

// documents are the mappings of a file; none if it cannot be read, and so not be built either.
func documents(file string) (all []map[string]any) {
	text, _ := os.ReadFile(file)
	docs, _ := source.Decode(text)
	for _, d := range docs {
		if m, isMap := d.Value.(map[string]any); isMap {
			all = append(all, m)
		}
	}
	return all
}

func (s *sources) add(o origin) {
	if !s.seen[o.file] {
		s.seen[o.file], s.list = true, append(s.list, o)
	}
}

// below are the fields whose entries may be folders, and may be elsewhere.
var below = []string{"resources", "bases", "components", "generators", "transformers", "validators"}

// names adds the files and folders that a value names: as a text, or behind a key as KEY=FILE.
func (s *sources) names(v any, o origin, folder string) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			s.names(v[k], o, folder)
		}
	case []any:
		for _, e := range v {
			s.names(e, o, folder)
		}
	case string:
		_, behind, _ := strings.Cut(v, "=")
		for _, name := range []string{v, behind} {
			if !filepath.IsAbs(name) {
				name = filepath.Join(folder, name)
			}
			at, err := filepath.EvalSymlinks(name)
			info, statErr := os.Stat(at)
			within := slices.Contains(below, o.key)
			switch {
			case err != nil || statErr != nil:
				if within && name == filepath.Join(folder, v) && !strings.Contains(v, "\n") {
					s.distant = append(s.distant, v)
				}
			case !info.IsDir():
				s.add(origin{file: at, depth: o.depth, key: o.key})
				if slices.Contains(below[3:], o.key) { // it may name others
					for _, m := range documents(at) {
						s.names(m, origin{key: "configurations", depth: o.depth}, folder)
					}
				}
			case within && !s.seen[at]:
				s.read(at, o.depth+1)
			}
		}
	}
}

// sourcesOf are those of the kustomization of a folder, which is absolute and without links.
func sourcesOf(folder string) *sources {
	s := &sources{folder: folder, seen: map[string]bool{}}
	s.read(folder, 0)
	return s
}

// others are the kustomizations of the repository that this one is not built of, and which are not
// parts of others: the repository is the closest folder that git has, otherwise the one that holds
// all sources.
func (s *sources) others() (top string, all []*sources) {
	top = s.folder
	for at := top; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			top = at
			break
		}
		if at == filepath.Dir(at) {
			for _, o := range s.list {
				for rel, err := filepath.Rel(top, o.file); err != nil || !filepath.IsLocal(rel); rel, err = filepath.Rel(top, o.file) {
					top = filepath.Dir(top)
				}
			}
			break
		}
	}
	_ = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case err != nil || d.IsDir() || !slices.Contains(kustomizationNames, d.Name()) || s.seen[filepath.Dir(name)]:
			return nil // what cannot be read is built by nobody
		}
		if o := sourcesOf(filepath.Dir(name)); !o.part {
			all = append(all, o)
		}
		return nil
	})
	return top, all
}
