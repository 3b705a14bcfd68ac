package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/internal/target"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// viewVerb prints what was applied last.
type viewVerb struct {
	targetVerb
	printed int
}

var _ = registerVerb(verb{
	use: "view-last-applied (TYPE [NAME | -l SELECTOR | --all] | TYPE/NAME | -f FILE)", short: "Show what was applied last, from the annotation",
	long: `Show the last-applied-configuration annotation of objects: what kubectl apply, or merge,
was given the last time. An object without one is an error, unless it was selected by
its labels or by --all.`,
	example: `  kubectl merge view-last-applied deployment/web
  kubectl merge view-last-applied -f web.yaml -o json`,
	inputs: "look at",
	args:   func(s *complete.Server) cobra.CompletionFunc { return complete.UnlessFiles(s.TypeOrName(), nil) },
	run:    func(c *call, ctx context.Context) error { return (&viewVerb{targetVerb: targetVerb{call: c}}).run(ctx) },
})

func (v *viewVerb) run(ctx context.Context) error {
	objects, errs, err := v.read(ctx, v.args)
	if err != nil {
		return err
	}
	var bare []string
	for i, o := range objects {
		was := lastapplied.Read(o.Live)
		switch {
		case errs[i] != nil:
		case was.State == lastapplied.None && o.Chosen:
			bare = append(bare, o.String())
		default:
			errs[i] = v.show(o, was)
		}
	}
	return errors.Join(errors.Join(errs...), v.left(bare))
}

// show prints one configuration.
//
// Unlike kubectl: an object without one is an error. Nothing at all, and success,
// would read as an empty configuration.
func (v *viewVerb) show(o target.Target, was lastapplied.Original) error {
	switch was.State {
	case lastapplied.None:
		return fmt.Errorf("%s: no last-applied-configuration annotation found on resource: %s%s: to adopt it, record what was applied: kubectl merge set-last-applied --create-annotation -f FILE", o, o.Name, ownership.Makers(o.Live))
	case lastapplied.Garbage:
		return fmt.Errorf("%s: %s", o, was.Problem)
	case lastapplied.Foreign:
		v.note(o.String(), was.Problem)
	}
	conf, err := merge.ReadJSON([]byte(was.Text))
	if err != nil {
		return fmt.Errorf("%s: last-applied: %w", o, err)
	}
	return v.emit(v.confText(o, was, conf))
}

// confText is the configuration in the form asked for. A Secret's values are hidden,
// unless they are not there anyway.
//
// Unlike kubectl: which prints them; a password should not be shown to those who only want
// to know which fields are theirs.
func (v *viewVerb) confText(o target.Target, was lastapplied.Original, conf any) ([]byte, error) {
	hidden := conf
	if at := (redact.Place{Values: redact.ValuesOf(o.Live)}); !v.secrets {
		_, all := redact.MaskAt(at, merge.Opt{}, merge.Some(conf), v.Sensitive(o, conf))
		hidden = all.Value
		if m, isMap := all.Value.(map[string]any); isMap && was.State == lastapplied.Blanked { // metadata alone has values to hide
			if hidden = conf; m["metadata"] != nil {
				hidden = merge.With(merge.At[map[string]any](conf), m["metadata"], "metadata")
			}
		}
	}
	masked := !merge.Equal(conf, hidden, nil)
	if masked {
		v.note(o.String(), "secret values are hidden: --show-secrets shows them")
	}
	v.printed++
	if v.output == "yaml" {
		text, err := yamldoc.Encode(hidden)
		if v.printed > 1 {
			text = append([]byte("---\n"), text...)
		}
		return text, err
	}
	var b bytes.Buffer
	raw := []byte(was.Text)
	if masked {
		raw, _ = json.Marshal(hidden) // values of an object are JSON
	}
	if err := json.Indent(&b, bytes.TrimSpace(raw), "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// left reports of chosen objects that were never applied: among all of a type there
// are always some. If there is nothing else, it is an error.
func (v *viewVerb) left(bare []string) error {
	switch names := escape.Line(suggest.Few(bare, 5)); {
	case len(bare) > 0 && v.printed == 0:
		return fmt.Errorf("no last-applied-configuration annotation found on any of %d resources (%s): to adopt them, record what was applied: kubectl merge set-last-applied --create-annotation -f FILE", len(bare), names)
	case len(bare) > 0:
		v.note("", "no last-applied-configuration annotation on "+names)
	}
	return nil
}
