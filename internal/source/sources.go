package source

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Sources are the local files that a kustomization is built of. That they are files of it is read from
// its text: what they set is found by building.
type Sources struct {
	Folder  string // absolute, without links
	Files   []SourceFile
	Distant []string // entries that are not here: URLs

	seen      map[string]bool // files and folders
	part      bool            // a Component, which is not built alone
	namespace string          // of its own
}

// SourceFile is one of them.
type SourceFile struct {
	Name  string // absolute, without links
	Depth int    // 0: named by the kustomization itself, 1: by one that it names, and so on
	Key   string // the field of the kustomization that names it; "": a kustomization
}

// SourcesOf finds those of the kustomization of a folder, which is absolute and without links. There are
// none if it has none.
func SourcesOf(folder string) *Sources {
	s := &Sources{Folder: folder, seen: map[string]bool{}}
	s.read(folder, 0)
	return s
}

// Has reports whether a file is one of them.
func (s *Sources) Has(file string) bool { return s.seen[file] }

// read adds the kustomization of a folder, and what it names.
func (s *Sources) read(folder string, depth int) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if file, err := filepath.EvalSymlinks(filepath.Join(folder, name)); err == nil && !s.seen[file] {
			s.seen[folder] = true
			s.add(SourceFile{Depth: depth}, file, folder)
			return
		}
	}
}

// maybeFolders are the fields whose entries may be folders, and may be elsewhere. The files of the last three
// may name others.
var maybeFolders = []string{"resources", "bases", "components", "generators", "transformers", "validators"}

// add adds a file, and those that it names: as a text, or behind a key as KEY=FILE.
func (s *Sources) add(o SourceFile, file, folder string) {
	if o.Name = file; s.seen[file] {
		return
	}
	s.seen[file], s.Files = true, append(s.Files, o)
	if o.Key != "" && !slices.Contains(maybeFolders[3:], o.Key) {
		return
	}
	text, _ := os.ReadFile(file)
	docs, _ := Decode(text) // what cannot be read cannot be built either
	for _, d := range docs {
		if o.Key == "" && o.Depth == 0 {
			s.part, s.namespace = merge.At[string](d.Value, "kind") == types.ComponentKind, merge.At[string](d.Value, "namespace")
		}
		yamldoc.Visit(d.Value, func(v any, at []string, _ func(any) any) {
			name, isText := v.(string)
			if !isText || len(at) == 0 {
				return
			}
			in := SourceFile{Depth: o.Depth, Key: "configurations"}
			if o.Key == "" {
				in.Key = at[0]
			}
			_, behind, _ := strings.Cut(name, "=")
			if !s.named(name, in, folder) && !s.named(behind, in, folder) && slices.Contains(maybeFolders, in.Key) && !strings.Contains(name, "\n") {
				s.Distant = append(s.Distant, name)
			}
		})
	}
}

// named adds the file or folder of a name, and reports whether there is one.
func (s *Sources) named(name string, o SourceFile, folder string) bool {
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
	case slices.Contains(maybeFolders, o.Key) && !s.seen[at]:
		s.read(at, o.Depth+1)
	}
	return true
}

// Others are the kustomizations of the repository that are not parts of others, and that this one is
// not built of, unless they build objects of another namespace: the repository is the closest folder
// that git has, otherwise the one that holds all sources.
func (s *Sources) Others() (repository string, all []*Sources) {
	top := s.Folder
	for _, o := range s.Files {
		for rel, err := filepath.Rel(top, o.Name); err != nil || !filepath.IsLocal(rel); rel, err = filepath.Rel(top, o.Name) {
			top = filepath.Dir(top)
		}
	}
	for at := s.Folder; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			top = at
			break
		}
	}
	_ = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case err != nil || d.IsDir() || !slices.Contains(konfig.RecognizedKustomizationFileNames(), d.Name()):
			return nil // what cannot be read cannot be built
		}
		o := SourcesOf(filepath.Dir(name))
		if apart := s.namespace != "" && o.namespace != "" && s.namespace != o.namespace; !o.part && (apart || !s.seen[o.Folder]) {
			all = append(all, o)
		}
		return nil
	})
	return top, all
}
