package absorb

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// place is a text of a file with which it may set a value.
type place struct {
	file   string
	title  string // the file, and the field of a kustomization, for messages
	text   []byte
	hidden bool // it holds a value of a Secret that a diff does not recognize as such
	rank

	now  []object.Object // what is built with it
	sets []*Value        // the chosen values that are set then
}

// rank orders places: the value that is built is that of the last that sets it.
type rank struct {
	missing int // steps of the value's path that it does not state yet
	depth   int
	class   int
	way     int // in which a patch has it: see object
}

// The classes of what a text holds, in the order of its effect. kustomize adds to names: what has another
// name may be the value's object before that.
const (
	fields = iota // of a kustomization
	patches
	otherPatches
	resources
)

// setters are the parts of a text that may set a value, by the names that lead there. Each returns the
// part with the value; nil if it is not its own, and an error if that is impossible.
var setters = map[bool]map[string]func(*seeker, map[string]any) (any, error){
	true: {
		"images.-": (*seeker).image, "replicas.-": (*seeker).replicas, "labels.-.pairs": (*seeker).pair, "commonLabels": (*seeker).pair,
		"commonAnnotations": (*seeker).pair, "configMapGenerator.-": (*seeker).generator, "secretGenerator.-": (*seeker).generator,
	},
	false: {"": (*seeker).object, "items.-": (*seeker).object, "-": (*seeker).operation},
}

// seeker looks for the places of a value.
type seeker struct {
	*Value
	was  any // what is built as the files are
	rank     // of the part that is looked at
}

// places lists where a value may come from or go to, the likely ones first.
func (k *kustomization) places(v *Value) (found []place) {
	s := &seeker{Value: v}
	s.was, _ = merge.Lookup(v.of.Value, v.of.at(v.of.Value, v), v.of.typ)
	for _, in := range k.Files {
		text, all := k.texts[in.Name], []place(nil)
		switch {
		case text == nil: // out of the repository
		case in.Key == "":
			all = s.forms(text, fields)
		case strings.HasPrefix(in.Key, "patches"):
			all = s.forms(text, patches)
		case strings.HasSuffix(in.Key, "Generator"):
			all = s.generated(string(text))
		default:
			all = s.forms(text, resources)
		}
		for i, p := range all {
			same := func(o place) bool { return bytes.Equal(o.text, p.text) }
			p.file, p.title, p.depth = in.Name, k.name(in.Name)+p.title, in.Depth
			if !bytes.Equal(p.text, text) && !slices.ContainsFunc(all[:i], same) {
				found = append(found, p)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b place) int {
		return cmp.Or(a.missing-b.missing, a.depth-b.depth, a.class-b.class, a.way-b.way)
	})
	return found
}

// forms returns the forms of a YAML text in which one of its parts has the value.
func (s *seeker) forms(text []byte, as int) (all []place) {
	f, err := yamldoc.Parse(text)
	if err != nil {
		return nil
	}
	for _, doc := range f.Documents() {
		if len(doc.Reread) > 0 { // kustomize reads the key n as a text
			continue
		}
		edit := yamldoc.Edit{Type: s.typeOf(doc.Value(), as), Aliases: true}
		yamldoc.Visit(doc.Value(), func(v any, at []string, with func(any) any) {
			form := func(part any, p place) {
				edit.Want = with(part)
				if edited, err := doc.Edit(edit); err == nil {
					p.text = f.Assemble(map[*yamldoc.Document][]byte{doc: edited}, nil)
					if as == fields {
						p.title = ": " + at[0]
					}
					all = append(all, p)
				}
			}
			switch v := v.(type) {
			case string:
				if as == fields && len(at) > 0 && strings.HasPrefix(at[0], "patches") && strings.ContainsAny(v, "\n{[") {
					for _, inner := range s.forms([]byte(v), patches) {
						form(string(inner.text), inner)
					}
				}
			case map[string]any:
				set := setters[as == fields][strings.Join(at, ".")]
				for way := 0; set != nil && (way == 0 || as == patches && way < 3); way++ {
					s.rank = rank{class: as, way: way}
					if part, err := set(s, v); err == nil && part != nil {
						form(part, place{rank: s.rank, hidden: len(at) == 1 && s.of.Kind() == "Secret"})
					}
				}
			}
		})
	}
	return all
}

// typeOf is the type of a document: a kustomization, a JSON patch, a List, or an object.
func (s *seeker) typeOf(doc any, as int) *merge.Type {
	switch {
	case as == fields:
		return files.KustomizationType()
	case merge.At[[]any](doc, "items") != nil:
		return files.ListType(s.of.typ)
	}
	return s.of.typ
}

// object returns a resource or a patch with the value. A patch of another name may be for the object all the same.
// The ways of a patch are: to state nothing of the value any more, to state it, or that it is taken out, and to
// state it behind the entries that precede it in live: kustomize puts the entries of a patch first.
func (s *seeker) object(doc map[string]any) (any, error) {
	named := strings.Contains(s.of.Name(), merge.At[string](doc, "metadata", "name"))
	if merge.At[string](doc, "kind") != s.of.Kind() || !named && s.class == resources {
		return nil, nil
	}
	if !named {
		s.class = otherPatches
	}
	p, _ := spelled(doc, s.of.at(doc, s.Value), s.live)
	s.missing = len(p) - merge.NewFinder(doc, s.of.typ).Reach(p)
	is, there := merge.Lookup(doc, p, s.of.typ)
	out, rest := there && (is == nil || merge.At[string](is, "$patch") != ""), doc
	if there && s.class != resources {
		rest, _ = (&Object{typ: s.of.typ}).remove(doc, p)
	}
	switch {
	case s.class == resources, s.way == 1 && (s.live.Set && !out || s.Order != nil):
		return s.of.with(doc, s.atOnce())
	case s.way == 0 && there && s.live.Set == out:
		return rest, nil
	case s.way == 1 && !s.live.Set && p[len(p)-1].Kind == merge.FieldStep:
		return merge.Put(rest, p, nil)
	case s.way == 1 && !s.live.Set:
		return merge.Put(rest, p.Child(merge.Named("$patch")), "delete")
	case s.way == 2 && s.live.Set:
		return s.behind(rest)
	}
	return nil, nil
}

// behind returns a patch with the value, and the keys of the entries that precede it in live.
func (s *seeker) behind(patch map[string]any) (_ any, err error) {
	for n, step := range s.Path {
		list, _ := merge.Lookup(s.of.live, s.Path[:n], s.of.typ)
		entries, typ := merge.At[[]any](list), s.of.typ.At(s.Path[:n])
		for _, e := range entries[:max(merge.EntriesOf(entries, typ).At(step), 0)] {
			before := merge.StepOf(typ, e, 0)
			p := s.Path[:n].Child(before)
			_, there := merge.Lookup(patch, p, s.of.typ)
			if _, built := merge.Lookup(s.of.Value, p, s.of.typ); built && !there && err == nil && before.Keys != nil {
				patch, err = merge.Put(patch, p.Child(merge.Named(before.Keys[0].Name)), before.Keys[0].Value)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return s.of.with(patch, s.atOnce())
}

// operation returns an operation of a JSON patch (RFC 6902) that sets the value. An index stands for
// any entry: what it leads to is found by building.
func (s *seeker) operation(op map[string]any) (_ any, err error) {
	steps := strings.Split(merge.At[string](op, "path"), "/")[1:]
	if len(steps) > len(s.Path) {
		return nil, nil
	}
	for n, name := range steps {
		if step := s.Path[n]; step.Kind == merge.FieldStep && step.Name != strings.NewReplacer("~1", "/", "~0", "~").Replace(name) {
			return nil, nil
		}
	}
	value, stated := op["value"]
	inner, isMap := value.(map[string]any)
	switch {
	case len(steps) == len(s.Path) && s.live.Set && stated:
		return merge.With(op, s.live.Value, "value"), nil
	case len(steps) == len(s.Path):
		return yamldoc.Gone{}, nil
	case isMap:
		for _, v := range s.atOnce() {
			if inner, err = s.of.set(inner, v.Path[len(steps):], v.live); err != nil {
				return nil, err
			}
		}
		return merge.With(op, inner, "value"), nil
	}
	return nil, nil
}

// image returns an entry of images with live's name, tag and digest.
func (s *seeker) image(e map[string]any) (any, error) {
	from := source.Image().FindStringSubmatch(merge.At[string](s.was))
	to := source.Image().FindStringSubmatch(merge.At[string](s.live.Value))
	name := merge.At[string](e, "name")
	if from == nil || to == nil || from[1] != cmp.Or(merge.At[string](e, "newName"), name) {
		return nil, nil
	}
	for i, field := range []string{"newName", "newTag", "digest"} {
		switch is := to[i+1]; {
		case is == from[i+1]:
		case is == "" || i == 0 && is == name:
			e = merge.Without(e, field)
		default:
			e = merge.With(e, is, field)
		}
	}
	return e, nil
}

func (s *seeker) replicas(e map[string]any) (any, error) {
	if s.Path.String() != "spec.replicas" || !s.live.Set || !strings.Contains(s.of.Name(), merge.At[string](e, "name")) {
		return nil, nil
	}
	return merge.With(e, s.live.Value, "count"), nil
}

// pair returns labels or annotations with the value.
func (s *seeker) pair(pairs map[string]any) (any, error) {
	key := s.Path[len(s.Path)-1:]
	if _, there := pairs[key[0].Name]; !there {
		return nil, nil
	}
	return s.of.set(pairs, key, s.live)
}

// generator returns an entry of a generator with the value as a literal, or without it. Files that it
// reads are places of their own.
func (s *seeker) generator(e map[string]any) (any, error) {
	if len(s.Path) != 2 || !strings.Contains(s.of.Name(), merge.At[string](e, "name")) {
		return nil, nil
	}
	key := s.Path[1].Name
	literals, read := slices.Clone(merge.At[[]any](e, "literals")), slices.Clone(merge.At[[]any](e, "files"))
	at := slices.IndexFunc(literals, func(l any) bool { return strings.HasPrefix(l.(string), key+"=") })
	file := slices.IndexFunc(read, func(f any) bool {
		name, _, named := strings.Cut(f.(string), "=")
		return name == key && named || filepath.Base(name) == key && !named
	})
	switch literal := key + "=" + s.plain(s.live.Value); {
	case at >= 0 && s.live.Set:
		literals[at] = literal
	case at >= 0:
		literals = slices.Delete(literals, at, at+1)
	case file >= 0 && !s.live.Set:
		return merge.With(e, slices.Delete(read, file, file+1), "files"), nil
	case file < 0 && s.live.Set && literals != nil:
		literals = append(literals, literal)
	default:
		return nil, nil
	}
	return merge.With(e, literals, "literals"), nil
}

// generated returns the forms of a file that a generator reads: as one value, or in lines as KEY=VALUE.
func (s *seeker) generated(text string) (all []place) {
	if len(s.Path) != 2 {
		return nil
	}
	live, key := s.plain(s.live.Value), s.Path[1].Name+"="
	if s.live.Set && text == s.plain(s.was) {
		all = append(all, place{text: []byte(live)})
	}
	lines := strings.SplitAfter(text, "\n")
	if i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, key) }); i >= 0 {
		end := lines[i][len(strings.TrimRight(lines[i], "\r\n")):]
		if lines[i] = ""; s.live.Set {
			lines[i] = key + live + end
		}
		all = append(all, place{text: []byte(strings.Join(lines, ""))})
	}
	return all
}

// plain returns a value of a ConfigMap or a Secret as a generator reads it.
func (s *seeker) plain(v any) string {
	text, _ := v.(string)
	if plain, err := base64.StdEncoding.DecodeString(text); err == nil && (s.of.Kind() == "Secret" || s.Path[0].Name == "binaryData") {
		return string(plain)
	}
	return text
}
