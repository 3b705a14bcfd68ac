package absorb

import (
	"cmp"
	"encoding/base64"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// place is a text of a file with which it may set a value.
type place struct {
	file   string
	part   string // of a kustomization, for messages
	text   []byte
	hashed string // the reason if an object gets another name by it
	secret bool   // what a diff does not recognize as such
	rank   rank
}

// rank orders places: the value that is built is that of the last that sets it.
type rank struct {
	missing int // steps of the value's path that it does not state yet
	depth   int
	class   int // of the field of the kustomization, in the order of its effect
	foreign bool
}

// hashed is the reason for which data of a generator stay.
const hashed = "the name has a hash of the content, so that it would be another object"

// seeker looks for the places of a value.
type seeker struct {
	*Kustomization
	o      *Object
	v      *Value
	origin origin
	found  []place
}

// places lists where a value may come from or go to, the likely ones first.
func (k *Kustomization) places(o *Object, v *Value) []place {
	s := &seeker{Kustomization: k, o: o, v: v}
	for _, s.origin = range k.list {
		text := k.text(s.origin.file)
		switch {
		case s.read[s.origin.file] == nil: // out of the repository
		case s.origin.key == "":
			f, err := yamldoc.Parse(text)
			if err != nil {
				continue
			}
			for _, doc := range f.Documents() {
				s.kustomization(doc.Value(), nil, func(want any) []byte {
					edited, err := doc.Edit(yamldoc.Edit{Want: want, Type: files.KustomizationType(), Aliases: true})
					if err != nil {
						return nil
					}
					return f.Assemble(map[*yamldoc.Document][]byte{doc: edited}, nil)
				})
			}
		case !strings.HasSuffix(s.origin.key, "Generator"):
			for _, d := range s.documents(text) {
				class := 3
				if strings.HasPrefix(s.origin.key, "patches") {
					class = 2
				}
				d.rank.depth, d.rank.class, d.file = s.origin.depth, class, s.origin.file
				if class == 2 || !d.rank.foreign { // kustomize adds to the names of resources
					s.found = append(s.found, d)
				}
			}
		}
	}
	s.found = slices.DeleteFunc(s.found, func(p place) bool { return p.text == nil || string(p.text) == string(k.text(p.file)) })
	slices.SortStableFunc(s.found, func(a, b place) int {
		x, y := a.rank, b.rank
		return cmp.Or(x.missing-y.missing, x.depth-y.depth, x.class-y.class, strings.Compare(strconv.FormatBool(x.foreign), strconv.FormatBool(y.foreign)))
	})
	return s.found
}

// add adds an edit of the kustomization.
func (s *seeker) add(at []string, text []byte, r rank) {
	r.depth = s.origin.depth
	p := place{file: s.origin.file, part: ": " + at[0], text: text, rank: r}
	if strings.HasSuffix(at[0], "Generator") {
		p.hashed = hashed
	}
	s.found = append(s.found, p)
}

// setters are the fields of a kustomization that set values, and the form that they have with the
// value; nil if it is not theirs. An entry of a list is "-".
var setters = map[string]func(*seeker, map[string]any) (any, int){
	"images.-": (*seeker).image, "replicas.-": (*seeker).replicas, "labels.-.pairs": (*seeker).pair, "commonLabels": (*seeker).pair,
	"commonAnnotations": (*seeker).pair, "configMapGenerator.-": (*seeker).generator, "secretGenerator.-": (*seeker).generator,
}

// kustomization visits a value of a kustomization, at names; with returns the text with another one.
func (s *seeker) kustomization(v any, at []string, with func(any) []byte) {
	switch v := v.(type) {
	case string:
		if len(at) > 0 && strings.HasPrefix(at[0], "patches") && strings.ContainsAny(v, "\n{[") {
			for _, inner := range s.documents([]byte(v)) {
				inner.rank.class = 2
				s.add(at, with(string(inner.text)), inner.rank)
			}
		}
	case []any:
		for i, e := range v {
			s.kustomization(e, append(at[:len(at):len(at)], "-"), func(e any) []byte {
				list := slices.Clone(v)
				list[i] = e
				return with(list)
			})
		}
	case map[string]any:
		if set := setters[strings.Join(at, ".")]; set != nil {
			if want, missing := set(s, v); want != nil {
				s.add(at, with(want), rank{missing: missing})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			s.kustomization(v[name], append(at[:len(at):len(at)], name), func(e any) []byte { return with(merge.With(v, e, name)) })
		}
	}
}

// documents returns the forms of a YAML text in which one of its objects or patches has the value.
func (s *seeker) documents(text []byte) (all []place) {
	var missing []int
	var foreign []bool
	_, _ = files.EditText(text, true, func(d files.Stated) (any, *merge.Type, error) {
		if s.fits(d.Object) {
			missing, foreign = append(missing, s.missing(d.Value)), append(foreign, !strings.Contains(s.o.Name(), d.Object.Name()))
		}
		return nil, nil, nil
	})
	for i := range missing {
		n := -1
		edited, err := files.EditText(text, true, func(d files.Stated) (any, *merge.Type, error) {
			if !s.fits(d.Object) {
				return nil, nil, nil
			}
			if n++; n != i {
				return nil, nil, nil
			}
			want, err := s.stated(d.Value)
			return want, s.o.typ, err
		})
		if err == nil {
			all = append(all, place{text: edited, rank: rank{missing: missing[i], foreign: foreign[i]}})
		}
	}
	if f, err := yamldoc.Parse(text); err == nil && len(missing) == 0 {
		doc := f.Documents()[0]
		ops, _ := doc.Value().([]any)
		for i := range ops {
			if want := s.operation(ops, i); want != nil {
				if edited, err := doc.Edit(yamldoc.Edit{Want: want, Aliases: true}); err == nil {
					all = append(all, place{text: f.Assemble(map[*yamldoc.Document][]byte{doc: edited}, nil), secret: s.o.Kind() == "Secret"})
				}
			}
		}
	}
	return all
}

func (s *seeker) fits(d object.Object) bool { return d.Kind() == s.o.Kind() }

// missing is the number of steps to the value that a document does not have.
func (s *seeker) missing(doc map[string]any) int {
	p, _ := spelled(doc, s.v.Path, s.v.live)
	for n := len(p); n > 0; n-- {
		if _, there := merge.Lookup(doc, p[:n], s.o.typ); there {
			return len(p) - n
		}
	}
	return len(p)
}

// stated returns a document with the value. A patch that does not state what live has lost takes it
// out.
func (s *seeker) stated(doc map[string]any) (map[string]any, error) {
	if last := s.v.Path[len(s.v.Path)-1]; !s.v.live.Set && s.missing(doc) > 0 && s.v.Order == nil {
		if last.Kind == merge.FieldStep {
			return merge.Put(doc, s.v.Path, nil)
		}
		return merge.Put(doc, s.v.Path.Child(merge.Named("$patch")), "delete")
	}
	return s.o.with(doc, func(v *Value) bool { return v.Path.String() == s.v.Path.String() })
}

// operation returns a JSON patch (RFC 6902) in which one operation sets the value; nil if that one
// does not lead to it. An index stands for any entry: what it leads to is found by building.
func (s *seeker) operation(ops []any, i int) any {
	op, _ := ops[i].(map[string]any)
	steps := strings.Split(merge.At[string](op, "path"), "/")[1:]
	if len(steps) > len(s.v.Path) {
		return nil
	}
	for n, name := range steps {
		_, err := strconv.Atoi(name)
		step := s.v.Path[n]
		if name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name); step.Kind == merge.FieldStep && step.Name != name || step.Kind != merge.FieldStep && err != nil && name != "-" {
			return nil
		}
	}
	rest, list := s.v.Path[len(steps):], slices.Clone(ops)
	value, stated := op["value"]
	inner, isMap := value.(map[string]any)
	var with any = s.v.live.Value
	var err error
	switch {
	case len(rest) == 0 && !(s.v.live.Set && stated):
		return slices.Delete(list, i, i+1)
	case len(rest) == 0:
	case !isMap:
		return nil
	case s.v.live.Set:
		with, err = merge.Put(inner, rest, with)
	default:
		with, err = merge.Replay(inner, []merge.Change{{Op: merge.OpRemove, Path: rest}})
	}
	if err != nil {
		return nil
	}
	list[i] = merge.With(op, with, "value")
	return list
}

// image returns an entry of images with live's name, tag and digest.
func (s *seeker) image(e map[string]any) (any, int) {
	live, isText := s.v.live.Value.(string)
	old, _ := merge.Lookup(s.o.Value, s.v.Path, s.o.typ)
	was, _ := old.(string)
	from, to := imageParts(was), imageParts(live)
	name, _ := e["name"].(string)
	if !isText || was == "" || from[0] != cmp.Or(merge.At[string](e, "newName"), name) {
		return nil, 0
	}
	for i, field := range []string{"newName", "newTag", "digest"} {
		switch {
		case to[i] == from[i]:
		case to[i] == "" || i == 0 && to[i] == name:
			e = merge.Without(e, field)
		default:
			e = merge.With(e, to[i], field)
		}
	}
	return e, 0
}

// imageParts are the name, tag and digest of an image.
func imageParts(image string) (parts [3]string) {
	image, parts[2], _ = strings.Cut(image, "@")
	parts[0] = image
	if at := strings.LastIndex(image, ":"); at > strings.LastIndex(image, "/") {
		parts[0], parts[1] = image[:at], image[at+1:]
	}
	return parts
}

func (s *seeker) replicas(e map[string]any) (any, int) {
	if s.v.Path.String() != "spec.replicas" || !s.v.live.Set || !strings.Contains(s.o.Name(), merge.At[string](e, "name")) {
		return nil, 0
	}
	return merge.With(e, s.v.live.Value, "count"), 0
}

// pair returns labels or annotations with the value.
func (s *seeker) pair(pairs map[string]any) (any, int) {
	n := len(s.v.Path)
	key := s.v.Path[n-1].Name
	if _, there := pairs[key]; !there || n < 2 || s.v.Path[n-2].Name != "labels" && s.v.Path[n-2].Name != "annotations" {
		return nil, 0
	}
	if !s.v.live.Set {
		return merge.Without(pairs, key), 0
	}
	return merge.With(pairs, s.v.live.Value, key), 0
}

// generator returns an entry of a generator with the value as a literal. Files that it reads are
// places of their own.
func (s *seeker) generator(e map[string]any) (any, int) {
	if len(s.v.Path) != 2 || !strings.Contains(s.o.Name(), merge.At[string](e, "name")) {
		return nil, 0
	}
	key, live, folder := s.v.Path[1].Name, s.v.live, filepath.Dir(s.origin.file)
	text, _ := live.Value.(string)
	if encoded, err := base64.StdEncoding.DecodeString(text); err == nil && (s.o.Kind() == "Secret" || s.v.Path[0].Name == "binaryData") {
		text = string(encoded)
	}
	for i, f := range merge.At[[]any](e, "files") {
		name, file, named := strings.Cut(f.(string), "=")
		if !named {
			name, file = filepath.Base(name), name
		}
		if name == key && live.Set {
			s.file(filepath.Join(folder, file), []byte(text))
		} else if name == key {
			return merge.With(e, slices.Delete(slices.Clone(merge.At[[]any](e, "files")), i, i+1), "files"), 0
		}
	}
	for _, f := range merge.At[[]any](e, "envs") {
		file, _ := filepath.EvalSymlinks(filepath.Join(folder, f.(string)))
		lines := strings.SplitAfter(string(s.text(file)), "\n")
		for i, line := range lines {
			if !strings.HasPrefix(line, key+"=") {
				continue
			}
			if lines[i] = ""; live.Set {
				lines[i] = key + "=" + text + line[len(strings.TrimRight(line, "\r\n")):]
			}
			s.file(file, []byte(strings.Join(lines, "")))
		}
	}
	literals := slices.Clone(merge.At[[]any](e, "literals"))
	i := slices.IndexFunc(literals, func(l any) bool { return strings.HasPrefix(l.(string), key+"=") })
	switch {
	case i >= 0 && live.Set:
		literals[i] = key + "=" + text
	case i >= 0:
		literals = slices.Delete(literals, i, i+1)
	case live.Set && literals != nil:
		return merge.With(e, append(literals, key+"="+text), "literals"), 1
	default:
		return nil, 0
	}
	return merge.With(e, literals, "literals"), 0
}

// file adds a file that a generator reads.
func (s *seeker) file(name string, text []byte) {
	if at, err := filepath.EvalSymlinks(name); err == nil && s.read[at] != nil {
		s.found = append(s.found, place{file: at, text: text, hashed: hashed, rank: rank{depth: s.origin.depth}})
	}
}
