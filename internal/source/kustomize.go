package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// fetches is the timeout of a kustomization, in timeouts of one request: it may fetch several
// remote bases.
const fetches = 5

// build builds a kustomization. kustomize cannot be stopped: when ctx ends, or it takes too long,
// it is abandoned, and ends with the process.
func (in Inputs) build(ctx context.Context) ([]byte, error) {
	limit, ctx, cancel := in.limited(ctx, fetches)
	defer cancel()
	data, err := parallel.Await(ctx, func() ([]byte, error) { return build(in.Kustomize, boundedFiles{read: in.built.files}) })
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("kustomization %s: is not built after %s: look at what it fetches (kustomize build), or give it longer with --request-timeout", remoteName(in.Kustomize), limit)
	case ctx.Err() != nil || err == nil:
		return data, err
	}
	way := ""
	switch info, statErr := os.Stat(in.Kustomize); {
	case strings.Contains(err.Error(), notThere) && errors.Is(statErr, fs.ErrNotExist):
		return nil, fmt.Errorf("the path %q does not exist; check the name after -k%.0w", remoteName(in.Kustomize), statErr)
	case statErr == nil && !info.IsDir():
		return nil, fmt.Errorf("-k %s: is a file: give the folder of its kustomization with -k, or a manifest with -f", in.Kustomize)
	}
	if strings.HasPrefix(err.Error(), noKustomization) {
		way = "; manifests without one are given with -f"
		if names, _ := filepath.Glob(filepath.Join(in.Kustomize, "[Kk]ustomi?ation.y*ml")); len(names) > 0 {
			way = ": rename " + filepath.Base(names[0]) + " to kustomization.yaml"
		}
	}
	in.Values.Quoted()
	in.built.collect()
	its := in.Values.BlankOthers(in.built.addresses.BlankOwn(chain(in.Kustomize, in.built.unnamed(err.Error()))))
	return nil, fmt.Errorf("kustomization %s: %s", remoteName(in.Kustomize), its+way)
}

// How kustomize reports an entry of resources: with the reasons why it can be read neither as a file nor as
// a folder, around those of the folder's own entries.
var (
	below  = redact.Pattern(`(?s)^accumulating resources: accumulation err='.*?' must resolve to a file': (?:recursed accumulation of|couldn't make target for) path '([^']*)': `)
	listed = redact.Pattern(`(?s)^accumulating resources: (?:accumulation err=')?accumulating resources from '(.*?)': (.*)$`)
)

type spelling struct {
	its  *regexp.Regexp
	here string
}

// spelled lists other parts of its errors, and their replacements. They take time that only an error needs.
var spelled = sync.OnceValue(func() []spelling {
	return []spelling{
		{regexp.MustCompile("(?s)^trouble configuring builtin Patch\\w*Transformer with config: `.*?`: "), ""},
		{regexp.MustCompile(`(?s)^trouble configuring builtin HelmChart\w* with config: .*must specify --enable-helm$`), "helmCharts: are not built here: kubectl kustomize --enable-helm DIRECTORY | kubectl merge -f -"},
		{regexp.MustCompile(`^failed to get the patch file from path\(([^)]*)\): `), "patches: $1: "},
		{regexp.MustCompile(`^no resource matches strategic merge patch "([^".]+)[^"/]*/([^"]+)\.[^".]*": .*`), "patches: no resource is a $1 $2, which a patch is for: correct the name in the patch, or add the resource"},
		{regexp.MustCompile(`(?s)^(?:patch and path can't be set at the same time|must specify one of patch and path in)\n.*`), "patches: an entry has both patch and path, or neither: give one of them"},
		{regexp.MustCompile(`(?s)^accumulating resources: accumulation err='merging resources from '(.*?)': may not add resource with an already registered id: ([^.]+)[^/]*/([^.]+)\..*`), "resources: $1: has a $2 $3, as another entry has: take one of them out"},
		{regexp.MustCompile(`(?s)'[^']*' must resolve to a file': cycle detected: .*`), "the kustomizations build each other: take the entry out"},
		{regexp.MustCompile(`^nothing selected by ([^.]+)\.[^/]*/([^.]+)\.[^/]*$`), "replacements: no resource is a $1 $2, which is a source: correct the name, or add the resource"},
		{regexp.MustCompile("^fieldPath `([^`]+)` is missing for replacement source ([^.]+)[^/]*/([^.]+).*$"), "replacements: the source $2 $3 has no $1: correct its fieldPath, or add the field"},
		{regexp.MustCompile(`^unable to find field "([^"]+)" in replacement target$`), "replacements: a target has no $1: correct its fieldPaths, or give it options: {create: true}"},
		{regexp.MustCompile(`^replacements must specify a source and at least one target$`), "replacements: an entry lacks source or targets: add it"},
		{regexp.MustCompile(`^target must specify resources to select$`), "replacements: an entry of targets lacks select: add it"},
		{regexp.MustCompile("(?s)^trouble configuring builtin ReplacementTransformer with config: `\nReplacements:\n- path: (\\S+).*?`: "), "replacements: $1: "},
		{regexp.MustCompile("^(?:configmap|secret) (\\S+) illegally repeats the key `([^`]*)`$"), "a generator: $1 has the key $2 twice: keep one of them"},
		{regexp.MustCompile(`(?s)^merging from generator .*Kind:"(\w+)".* Name:"([^"]*)".* does not exist; cannot merge or replace$`), "a generator with a behavior: no resource is a $1 $2: correct the name, or take behavior out"},
		{regexp.MustCompile(`(?s)^merging from generator .*Kind:"(\w+)".* Name:"([^"]*)".* exists; can not use behavior: .*`), "generators: two of them make the $1 $2, or a resource is it: rename one, or give the later one behavior: merge"},
		{regexp.MustCompile(`^var '\{(\S+) (\w+)\..*\}' cannot be mapped to a field in the set of known resources$`), "vars: $1: no resource is the $2 that it names: correct its objref, or add the resource"},
		{regexp.MustCompile(`(?s)^accumulation err='accumulating resources from '(.*?)': evalsymlink .*`), "transformers, generators or validators: $1: there is no such file: add it, or take the entry out"},
		{regexp.MustCompile(`^(invalid Kustomization: )json: cannot unmarshal \w+ into Go struct field \w+\.(\S+) of type types\.\w+$`), "$1$2: must be a mapping, or a list of mappings: write its fields, as in name: web"},
		{regexp.MustCompile(`^(invalid Kustomization: )json: cannot unmarshal (\w+) into Go struct field \w+\.(\S+) of type string$`), `$1$3: is a $2, where the type is string: write it in quotes`},
		{regexp.MustCompile(`^(invalid Kustomization: )json: cannot unmarshal (\w+) into Go struct field \w+\.(\S+) of type ([^\s\[]+)$`), "$1$3: is a $2, where the type is $4: correct it"},
		{regexp.MustCompile(`^(invalid Kustomization: )json: cannot unmarshal \w+ into Go struct field \w+\.(\S+) of type \[\]\S+$`), `$1$2: must be a list: begin each entry with "-"`},
		{regexp.MustCompile(`(?s)^decoding .*: (invalid character .*|json: .*)$`), "patchesJson6902: a patch is not a list of operations in JSON: $1"},
		{regexp.MustCompile(`(?s)^evalsymlink failure on '.*\n.*`), "patchesStrategicMerge: an entry is neither a file nor YAML: correct it, or write it as one of patches"},
		{regexp.MustCompile(`^resource with name (\S+) does not match a config with the following GVK .*`), "replicas: no Deployment, StatefulSet, ReplicaSet or ReplicationController is named $1: correct the name, or take the entry out"},
		{regexp.MustCompile(`line \[[\d ]*\] has invalid utf8 bytes : .*`), "a line is not UTF-8: save the file as UTF-8"},
		{regexp.MustCompile(`^loading KV pairs: (?:file sources|env source files): \[([^\]]*)\]: `), "a generator reads $1: "},
		{regexp.MustCompile(`^accumulating components: loader\.New "must build at directory: not a valid directory: evalsymlink failure on '[^']*/([^/']+)' : lstat [^:]*: no such file or directory"`), "components: $1: there is no such folder: add it, or take the entry out"},
		{regexp.MustCompile(`found character that cannot start any token`), "a tab indents, or a text begins with a character that has to be quoted"},
		{regexp.MustCompile(`^evalsymlink failure on '[^']*/([^/']+)' : lstat [^:]*: no such file or directory`), "$1: there is no such file: add it, or take the entry out"},
		{regexp.MustCompile(`evalsymlink failure on '[^']*' : lstat [^:]*: no such file or directory`), "there is no such file: add it, or take the entry out"},
		{regexp.MustCompile(`(?s)^loading KV pairs: literal sources .*`), "literals of a generator: an entry is not written as KEY=VALUE: correct it"},
		{regexp.MustCompile(`^Unexpected kind: (\S*)$`), "patches: an entry has the op $1: write add, remove, replace, move, copy or test"},
		{regexp.MustCompile(`^testing value (\S+) failed: test failed$`), "patches: the test of $1 fails: the resource has another value there"},
		{regexp.MustCompile(`(?s)^error looking up replacement source: wrong node kind: .*`), "replacements: the fieldPath of a source leads into a single value: correct it"},
		{regexp.MustCompile(`(?s)wrong node kind: expected (\w+)Node but got (\w+)Node: node contents:.*`), "a patch has a $2 where the resource has a $1: correct its type in the patch"},
		{regexp.MustCompile(`MalformedYAMLError: (?:yaml: )?(.*?) in File: \S+`), "$1"},
	}
})

// chain returns kustomize's error as one sentence: the kustomization that has the entry, the entry, and the cause.
func chain(folder, text string) string {
	in, at := "", folder
	for m := below().FindStringSubmatch(text); m != nil; m = below().FindStringSubmatch(text) {
		in, text = Relative(folder, m[1])+": ", text[len(m[0]):]
		at = m[1]
	}
	if m := listed().FindStringSubmatch(text); m != nil {
		why, _, _ := strings.Cut(m[2], "': must build at directory: ")
		text = "resources: " + m[1] + ": " + why
	}
	text = strings.TrimSpace(text)
	for _, s := range spelled() {
		text = s.its.ReplaceAllString(text, s.here)
	}
	if m := unknownField().FindStringSubmatch(text); m != nil {
		text = misspelt(at, m[1])
	}
	if strings.HasPrefix(text, unreadable) {
		file, data := kustomizationIn(at)
		if _, err := Decode(data); err != nil {
			text = err.Error()
		}
		text = file + ": " + strings.TrimPrefix(strings.TrimPrefix(text, unreadable), "yaml: ")
	}
	return in + patchFault(at, text)
}

// unreadable begins the error of a kustomization that is not YAML, or has a value of another type.
const unreadable = "invalid Kustomization: "

var unknownField = redact.Pattern(`^invalid Kustomization: json: unknown field "(\w+)"$`)

// misspelt returns the error of a kustomization's unknown field: its line, and the field that was probably meant.
func misspelt(folder, field string) string {
	var known []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[types.Kustomization]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known = append(known, name)
	}
	text := fmt.Sprintf("unknown field %q%s", field, cmp.Or(suggest.Hint(field, known), ": take it out"))
	at := regexp.MustCompile(`(?m)(?:^|[{,])[\s-]*"?` + field + `"?\s*:`)
	name, data := kustomizationIn(folder)
	if m := at.FindIndex(data); m != nil {
		return fmt.Sprintf("%s: line %d: %s", name, 1+bytes.Count(data[:m[1]], []byte("\n")), text)
	}
	return text
}

// Relative returns a file or folder, which is absolute and without links, as a path from the working
// directory, if the kustomization was named by one.
func Relative(named, name string) string {
	here, err := os.Getwd()
	if at, linkErr := filepath.EvalSymlinks(here); linkErr == nil {
		here = at
	}
	if near, relErr := filepath.Rel(here, name); err == nil && relErr == nil && !filepath.IsAbs(named) {
		return near
	}
	return name
}

// Parts of kustomize's errors for a missing folder, and one without a kustomization.
const (
	notThere        = "not a valid directory"
	noKustomization = "unable to find one of 'kustomization.yaml'"
)

// Build builds the kustomization of a folder as YAML, with texts in the place of what files hold, by
// their absolute names without links; nil: all are read. What the kustomization names elsewhere is
// fetched. The error is kustomize's, and may quote values of Secrets.
func Build(dir string, texts map[string][]byte) (text []byte, err error) {
	return build(dir, boundedFiles{texts: texts, read: map[string][]byte{}})
}

func build(dir string, files boundedFiles) (text []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("kustomize fails (%v): an entry lacks a field that it needs, such as the target of patchesJson6902", p)
		}
	}()
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	files.FileSystem = filesys.MakeFsOnDisk()
	m, err := krusty.MakeKustomizer(options).Run(files, dir)
	if err != nil {
		return nil, err
	}
	return m.AsYaml()
}

// boundedFiles gives the files of a kustomization the bounds of other inputs: of their size, and of
// the expansion of aliases. kustomize has no bound for the latter. Some have other texts.
type boundedFiles struct {
	filesys.FileSystem
	texts, read map[string][]byte // read receives what kustomize, which reads one file at a time, has read
}

// ReadFile returns the file's content.
func (b boundedFiles) ReadFile(name string) ([]byte, error) {
	if at, err := filepath.EvalSymlinks(name); err == nil && b.texts[at] != nil {
		return b.texts[at], nil
	}
	if why := Special(name); why != "" {
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s: is no regular file; take it out of the kustomization", name)
		}
	}
	data, err := ReadFile(name)
	b.read[name] = data
	if err != nil || !slices.Contains(extensions, filepath.Ext(name)) {
		return data, err
	}
	if _, err := Decode(data); errors.Is(err, errTooLarge) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// ReadNamed is ReadFile for a name that may be a pipe: one without a writer is waited for until ctx
// ends. Errors are ReadFile's.
func ReadNamed(ctx context.Context, name string) ([]byte, error) {
	if Special(name) == "" {
		return ReadFile(name)
	}
	data, err := parallel.Await(ctx, func() ([]byte, error) { return ReadFile(name) })
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("%s: reading it was interrupted", name)
	}
	return data, err
}

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
