package source

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// generators collects the values that a kustomization makes Secrets of. An error of kustomize's may
// quote them, and no generated Secret exists then to take them from.
type generators struct {
	values    *redact.Values
	addresses *redact.Values  // receives the credentials in addresses of remote bases
	seen      map[string]bool // folders
	strange   []error         // lines of files of variables that no server takes
}

// Bounds of the reads for one error.
const (
	mostGeneratorFolders = 100
	mostGeneratorFile    = 1 << 20
)

// read collects the values of a kustomization's folder and of the local folders that it names.
// Unreadable ones are skipped.
func (g *generators) read(dir string) {
	dir = filepath.Clean(dir)
	if g.seen[dir] || len(g.seen) == mostGeneratorFolders {
		return
	}
	g.seen[dir] = true
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Type().IsRegular() && slices.Contains(append(extensions, ""), filepath.Ext(e.Name())) {
			if text, ok := g.fileText(filepath.Join(dir, e.Name())); ok {
				g.text(dir, text)
			}
		}
	}
}

// text collects the values of a file, or of a patch that a kustomization holds.
func (g *generators) text(dir string, text []byte) {
	docs, err := Decode(text)
	if err != nil && redact.Mentions(string(text)) {
		g.values.AddLines(string(text))
	}
	for _, d := range docs {
		g.values.Add(d.Value)
		kustomization, _ := d.Value.(map[string]any)
		for _, key := range []string{"resources", "bases", "components"} {
			for _, below := range merge.AllAt[string](kustomization[key]) {
				addCredentials(g.addresses, below)
				g.read(filepath.Join(dir, below))
			}
		}
		for _, patch := range append(merge.MapsAt(kustomization, "patches"), merge.MapsAt(kustomization, "patchesJson6902")...) {
			g.text(dir, []byte(merge.At[string](patch, "patch")))
			if kind := merge.At[string](patch, "target", "kind"); kind == "" || redact.IsSecretKind("", kind) {
				g.values.AddLines(merge.At[string](patch, "patch"))
			}
		}
		for _, patch := range merge.AllAt[string](kustomization["patchesStrategicMerge"]) {
			g.text(dir, []byte(patch))
		}
		for _, generator := range merge.MapsAt(kustomization, "secretGenerator") {
			for _, env := range append(merge.AllAt[string](generator["envs"]), merge.AllAt[string]([]any{generator["env"]})...) {
				text, _ := g.fileText(filepath.Join(dir, env))
				g.values.AddLines(string(text))
				g.lines(filepath.Join(dir, env), string(text))
			}
			for _, file := range merge.AllAt[string](generator["files"]) {
				text, _ := g.fileText(filepath.Join(dir, file[strings.IndexByte(file, '=')+1:]))
				g.values.AddText(string(text))
			}
		}
	}
}

// lines collects the lines of a file of variables whose key no Secret can have. They are not shown: PASSWORD: x holds a value.
func (g *generators) lines(name, text string) {
	for i, line := range strings.Split(text, "\n") {
		key, _, _ := strings.Cut(strings.TrimSpace(line), "=")
		if key != "" && key[0] != '#' && len(validation.IsConfigMapKey(key)) > 0 {
			g.strange = append(g.strange, fmt.Errorf("%s: line %d: is not KEY=VALUE", name, i+1))
		}
	}
}

// fileText returns a file's content; false if it is not a regular file, or a large one.
func (g *generators) fileText(name string) ([]byte, bool) {
	info, err := os.Stat(name)
	if err != nil || info.Mode().Type()&fs.ModeType != 0 || info.Size() > mostGeneratorFile {
		return nil, false
	}
	text, err := os.ReadFile(name)
	return text, err == nil
}
