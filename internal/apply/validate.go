package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Unfit is the error of a field in local that the kind does not have, or of a value that is not of its
// field's type.
type Unfit struct {
	Path    merge.Path // of the first such field
	Unknown bool       // the kind does not have it
	error              // names the fields, with the file and line of each
}

// validate reports fields in local that the kind does not have, and values that are
// not of their field's type.
//
// Unlike kubectl: it leaves this to the server, and so an error appears only when the
// object is sent.
func (p *Planner) validate(out *Planned) error {
	if out.Type == nil {
		return nil
	}
	unknown := schema.Unknown(out.Type, out.Value)
	for _, path := range unknown {
		if schema.IsDirective(path[len(path)-1].Name) {
			return fmt.Errorf("%s is a directive of a strategic merge patch%s: merge the patch into a file (kubectl merge files PATCH FILE -w), and apply that", path, p.Place(out.Object, path))
		}
		if path.String() == "sops" && strings.HasPrefix(merge.At[string](out.Value, "sops", "mac"), "ENC[") { // what is encrypted has no type
			return &Unfit{path, true, errors.New("is encrypted by SOPS: sops -d FILE | kubectl merge -f -" + p.Place(out.Object, path))}
		}
	}
	if p.Validate == Ignore {
		return nil
	}
	if p.Validate != Warn {
		if err := p.Mistyped(out.Subject, out.Type, nil); err != nil {
			return err
		}
		if err := p.images(out); err != nil {
			return err
		}
	}
	unknown = slices.DeleteFunc(unknown, func(path merge.Path) bool { // reported before, or by the run that leaves it out
		return p.Validate == Warn && (p.Writing == Writing(ServerSide{}) || slices.ContainsFunc(out.Unstored, func(q merge.Path) bool { return q.String() == path.String() }))
	})
	if len(unknown) == 0 {
		return nil
	}
	text := p.UnknownFields(out.Subject, out.Type, unknown...)
	if p.Validate == Warn {
		out.Problems = append(out.Problems, text+": the server will drop it")
		return nil
	}
	if !strings.Contains(text, "(write name: ") && !strings.Contains(text, "(begins as a line of a diff") { // where the line is wrong, not its name
		text += ": fix the name, or merge without it (--validate=ignore)"
	}
	return &Unfit{unknown[0], true, errors.New(text)}
}

// noImage matches what can be no image: the server takes it, and no node can pull it.
var noImage = redact.Pattern(`^\$|\$[{(]|:$`)

// podSpecs are where built-in kinds have the spec of a Pod.
var podSpecs = [][]string{{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}}

// images returns the *Unfit of a container's image with a variable that nothing has replaced.
func (p *Planner) images(out *Planned) error {
	for _, names := range podSpecs {
		spec := merge.At[map[string]any](out.Value, names...)
		for _, list := range []string{"containers", "initContainers"} {
			for i, c := range merge.At[[]any](spec, list) {
				image := merge.At[string](c, "image")
				if !noImage().MatchString(image) {
					continue
				}
				if _, builtin := schema.BuiltinKind(out.Group(), out.Version(), out.Kind()); !builtin {
					return nil
				}
				at := append(object.Each(append(names, list), merge.Named), merge.Step{Kind: merge.IndexStep, Index: i}, merge.Named("image"))
				way := "has a variable: replace it first (envsubst)"
				if strings.HasSuffix(image, ":") {
					way = "has no tag behind the colon: write one, or set the variable that gave it"
				}
				return &Unfit{at, false, fmt.Errorf("%s: %q %s%s", merge.Path(at), image, way, p.Place(out.Object, at))}
			}
		}
	}
	return nil
}

// dropped returns the fields of local that the kind does not have, that were applied before, and that live
// lacks: the server does not store them, which the run that sent them has reported.
func (p *Planned) dropped(t merge.Triple) (paths []merge.Path) {
	for _, path := range schema.Unknown(p.Type, p.Value) {
		_, was := merge.Lookup(t.Original, path, p.Type)
		if _, is := merge.Lookup(t.Live, path, p.Type); was && !is {
			paths = append(paths, path)
		}
	}
	return paths
}

// Place returns the file and line of a field, in parentheses with a space before them; "" where it is from
// no file.
func (p *Planner) Place(o object.Object, path merge.Path) string {
	if p.Locate == nil || o.Origin.File == "" {
		return ""
	}
	return " (" + p.Locate(o, path) + ")"
}

// Mistyped returns the *Unfit of values of s that no server accepts, with the file and line of each; it
// does not contain a Secret's values. A value that is the same in before is accepted; before may be nil.
func (p *Planner) Mistyped(s Subject, typ *merge.Type, before any) error {
	wrong := slices.DeleteFunc(schema.MistypedIn(typ, s.Value), func(w schema.Mistyped) bool {
		is, _ := merge.Lookup(s.Value, w.Path, typ)
		was, there := merge.Lookup(before, w.Path, typ)
		return w.Want == "" || there && merge.Identical(is, was)
	})
	if len(wrong) == 0 {
		return nil
	}
	var texts []string
	for _, w := range wrong {
		v, _ := merge.Lookup(s.Value, w.Path, typ)
		text := fmt.Sprintf("%s: must be %s", w.Path, w.Want)
		switch {
		case w.Want == schema.Base64, w.Want == "a string" && w.Fix == "" && merge.IsScalar(v) && inPlain(w.Path) != "":
			text += ": encode it" + inPlain(w.Path)
		case w.Want == "a list":
			text += `: begin each entry with "-"`
			if entry := typ.At(w.Path).EntryType(); entry.Field("name").Type != nil && entry.Field("value").Type != nil {
				text += ", as in - name: NAME, and value: below it"
			}
		case w.Want == "a mapping":
			text += ": write its fields below it"
			name, _, _ := strings.Cut(merge.At[string](v), "=") // an entry of env may be A=b
			if name != "" && typ.At(w.Path).Field("name").Type != nil && !redact.IsSecretKind(s.Group(), s.Kind()) {
				text += ", as in name: " + name
				if typ.At(w.Path).Field("value").Type != nil {
					text += ", and value: below it"
				}
			} else if n, ok := v.(json.Number); ok && typ.At(w.Path).Field("number").Type != nil {
				text += ", as in number: " + n.String()
			}
		case w.Want == "a string" && w.Fix == "" && typ.At(w.Path[:len(w.Path)-1]).EntryType() != nil:
			if strings.HasSuffix(w.Path.String(), "selector.matchLabels") {
				text += ": write the labels directly below selector"
			} else {
				text += ": write it as a block, |"
			}
		case redact.IsSecretKind(s.Group(), s.Kind()) && strings.HasPrefix(w.Fix, `"`):
			text += ": quote it"
		case !redact.IsSecretKind(s.Group(), s.Kind()):
			text += advice(w, v)
		}
		texts = append(texts, text+p.Place(s.Object, w.Path))
	}
	return &Unfit{wrong[0].Path, false, errors.New(Few(texts))}
}

// Few lists the first five problems, and counts the others.
func Few(problems []string) string { return strings.Join(suggest.AtMost(problems, 5), "; ") }

// inPlain names the field beside one of base64 in which the API takes a text as it is.
func inPlain(path merge.Path) string {
	if field, ok := map[string]string{"data": "stringData", "binaryData": "data"}[path[0].Name]; ok && len(path) == 2 {
		return ", or write it as it is under " + field
	}
	return ""
}

// advice suggests a fix for v, a value of the wrong type. Of a text the file may have
// another spelling (010, yes, 1e3) than the value that YAML has read (8, true, 1000).
func advice(w schema.Mistyped, v any) string {
	switch {
	case strings.Contains(merge.At[string](v), "${"):
		return ", and has a variable: replace those of the file first (envsubst)"
	case w.Fix == "" && slices.Contains([]string{"a number", "a whole number", "true or false", "a mapping"}, w.Want):
		return ", and is " + object.Describe(v)
	case w.Fix == "" && strings.HasPrefix(w.Want, "a quantity"):
		return fmt.Sprintf(", and is %q", v)
	case w.Fix == "":
		return ""
	case strings.HasPrefix(w.Fix, `"`):
		return ", and is " + object.Describe(v) + ": quote it"
	}
	return ": write " + w.Fix
}
