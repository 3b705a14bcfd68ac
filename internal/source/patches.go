package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// What kustomize reports of a patch without naming its file, in the words of chain.
var (
	faulty    = redact.Pattern(`(?s)^(must specify a target for|unable to parse SM or JSON patch from) (?:JSON patch |patch )?\[(path|patch): (".*")\]$`)
	unmatched = redact.Pattern(`^patches: no resource is a (\S+) (\S+), `)
	pathless  = redact.Pattern(`^(\w+) operation does not apply: doc is missing (?:path|key): "?(/[^":]*)"?: missing (?:path|value|key)$`)
)

// patchFault rewrites the error of a patch so that it names the file, if only one patch can be meant.
func patchFault(folder, text string) string {
	if m := faulty().FindStringSubmatch(text); m != nil {
		its, _ := strconv.Unquote(m[3])
		err := errors.New("is neither a patch of an object, with its kind and name, nor a JSON patch")
		at := patchOf(folder, func(name string, patch []byte) bool {
			if name != its && (m[2] != "patch" || strings.TrimSpace(string(patch)) != its) {
				return false
			}
			if _, bad := Decode(patch); bad != nil {
				err = bad
			}
			return true
		})
		if strings.HasPrefix(m[1], "must") {
			return at + "is a JSON patch without a target: name the objects that it is for: target: {kind: KIND, name: NAME}"
		}
		return at + err.Error()
	}
	if m := unmatched().FindStringSubmatch(text); m != nil {
		return patchOf(folder, func(_ string, patch []byte) bool {
			docs, _ := Decode(patch)
			return slices.ContainsFunc(docs, func(d Document) bool {
				o := object.Object{Value: merge.At[map[string]any](d.Value)}
				return o.Kind() == m[1] && o.Name() == m[2]
			})
		}) + strings.TrimPrefix(text, "patches: ")
	}
	if m := pathless().FindStringSubmatch(text); m != nil {
		at := patchOf(folder, func(_ string, patch []byte) bool { return bytes.Contains(patch, []byte(m[2])) })
		return at + m[1] + " " + m[2] + ": the resource has no such path: correct it in the patch"
	}
	return text
}

// patchOf returns the place of the only patch of a kustomization that is meant; "patches: " where that is
// none, or several. is is given the name of its file, "" for one in the kustomization itself, and its text.
func patchOf(folder string, is func(name string, patch []byte) bool) string {
	file, data := kustomizationIn(folder)
	docs, _ := Decode(data)
	var found []string
	for _, d := range docs {
		for _, field := range []string{"patches", "patchesJson6902"} {
			for i, entry := range merge.MapsAt(d.Value, field) {
				name, at := merge.At[string](entry, "path"), fmt.Sprintf("%s: %s[%d]: ", file, field, i)
				if name != "" {
					at = "patches: " + name + ": "
				}
				if is(name, patchText(folder, entry)) {
					found = append(found, at)
				}
			}
		}
	}
	if len(found) != 1 {
		return "patches: "
	}
	return found[0]
}

// patchText returns the text of an entry of patches, from its file if it has one.
func patchText(folder string, entry map[string]any) []byte {
	if name := merge.At[string](entry, "path"); name != "" {
		text, _ := ReadFile(filepath.Join(folder, name))
		return text
	}
	return []byte(merge.At[string](entry, "patch"))
}

// Image matches an image, with its name, tag and digest.
var Image = redact.Pattern(`^(.+?)(?::([^:/@]+))?(?:@(.+))?$`)

// imageLine captures an image in what is built.
var imageLine = redact.Pattern(`(?m)^[\s-]*image: ["']?([^\s"']+)`)

// idle reports the images and the patches of a kustomization that fit nothing of what is built. kustomize
// passes over them, and a misspelled name stays unnoticed. A name may have a prefix and a suffix by now, and what a
// patch deletes is not there.
func (in Inputs) idle(built string, objects []object.Object) {
	file, data := kustomizationIn(in.Kustomize)
	file = filepath.Join(in.Kustomize, file)
	docs, _ := Decode(data)
	for _, d := range docs {
		if entries := merge.MapsAt(d.Value, "images"); len(entries) > 0 && merge.At[any](d.Value, "configurations") == nil {
			in.idleImages(file, entries, built)
		}
		for i, e := range merge.MapsAt(d.Value, "patches") {
			if to := merge.At[map[string]any](e, "target"); to != nil && !bytes.Contains(patchText(in.Kustomize, e), []byte("$patch")) {
				in.unfit(file, i, merge.At[string](to, "kind"), merge.At[string](to, "name"), objects)
			}
		}
	}
}

// idleImages reports the entries of images that nothing has. What one of them has made, a later one may have renamed.
func (in Inputs) idleImages(file string, entries []map[string]any, built string) {
	var images []string
	for _, m := range imageLine().FindAllStringSubmatch(built, -1) {
		images = append(images, Image().FindStringSubmatch(m[1])[1])
	}
	for i, e := range slices.Backward(entries) {
		name := merge.At[string](e, "name") // a regular expression
		is, err := regexp.Compile("^(?:" + cmp.Or(regexp.QuoteMeta(merge.At[string](e, "newName")), name) + ")$")
		switch {
		case err != nil:
		case slices.ContainsFunc(images, is.MatchString):
			images = append(images, name) // an entry before it may have made it
		default:
			in.Note(file, fmt.Sprintf("images[%d]: nothing that is built has the image %s%s", i, name, suggest.Hint(name, images)))
		}
	}
}

// unfit reports a patch if its target, by regular expressions, is none of the objects.
func (in Inputs) unfit(file string, i int, kind, name string, objects []object.Object) {
	kinds, err := regexp.Compile("^(?:" + cmp.Or(kind, ".*") + ")$")
	names, bad := regexp.Compile(name)
	if err != nil || bad != nil || kind+name == "" {
		return
	}
	var near []string
	for _, o := range objects {
		if kinds.MatchString(o.Kind()) {
			near = append(near, o.Name())
		}
	}
	if !slices.ContainsFunc(near, names.MatchString) {
		in.Note(file, fmt.Sprintf("patches[%d]: its target, %s, is nothing that is built%s", i, strings.TrimSpace(kind+" "+name), suggest.Hint(name, near)))
	}
}

// kustomizationIn reads the kustomization of a folder; "" if it has none that can be read.
func kustomizationIn(folder string) (name string, data []byte) {
	for _, name := range kustomizations {
		if data, err := ReadFile(filepath.Join(folder, name)); err == nil {
			return name, data
		}
	}
	return "", nil
}

// generators collects the values that a kustomization makes Secrets of. An error of kustomize's may
// quote them, and no generated Secret exists then to take them from.
type generators struct {
	folder    string
	values    *redact.Values
	addresses *redact.Values    // receives the credentials in addresses of remote bases
	files     map[string][]byte // all that kustomize has read
	strange   []error           // lines of files of variables that no server takes
}

func (in Inputs) generators() *generators {
	g := &generators{folder: in.Kustomize, values: in.Values, addresses: &redact.Values{}, files: map[string][]byte{}}
	addCredentials(g.addresses, in.Kustomize)
	return g
}

// collect collects the values of all files.
func (g *generators) collect() {
	for name, text := range g.files {
		g.text(filepath.Dir(name), text)
	}
}

// unnamed returns kustomize's error of a resource that it cannot read, with the name of its file.
func (g *generators) unnamed(text string) string {
	if !strings.HasPrefix(text, "map[string]interface {}(nil): yaml: ") {
		return text
	}
	for _, name := range slices.Sorted(maps.Keys(g.files)) {
		if !slices.Contains(extensions, filepath.Ext(name)) {
			continue
		}
		if _, err := Decode(g.files[name]); err != nil {
			return Relative(g.folder, name) + ": " + err.Error()
		}
	}
	return text
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
				text := string(g.files[filepath.Join(dir, env)])
				g.values.AddLines(text)
				g.lines(filepath.Join(dir, env), text)
			}
			for _, file := range merge.AllAt[string](generator["files"]) {
				g.values.AddText(string(g.files[filepath.Join(dir, file[strings.IndexByte(file, '=')+1:])]))
			}
		}
	}
}

// lines collects the lines of a file of variables whose key no Secret can have. They are not shown: PASSWORD: x holds a value.
func (g *generators) lines(name, text string) {
	for i, line := range strings.Split(text, "\n") {
		key, _, _ := strings.Cut(strings.TrimSpace(line), "=")
		if key != "" && key[0] != '#' && len(validation.IsConfigMapKey(key)) > 0 {
			g.strange = append(g.strange, fmt.Errorf("%s: line %d: is not KEY=VALUE", Relative(g.folder, name), i+1))
		}
	}
}
