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
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// viewVerb prints what was applied last.
type viewVerb struct {
	*targetVerb
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
	args: func(s *complete.Server) cobra.CompletionFunc {
		return complete.UnlessFiles(s.TypeOrName(), cobra.NoFileCompletions)
	},
	run: func(c *call, ctx context.Context) error { return (&viewVerb{targetVerb: newTargetVerb(c)}).run(ctx) },
})

func (v *viewVerb) run(ctx context.Context) error {
	if err := v.begin(ctx, v.args); err != nil {
		return err
	}
	v.Merge(ctx)
	var bare []string
	for _, item := range v.Items {
		was := lastapplied.Read(item.Planned.Live)
		switch {
		case item.Err != nil:
		case was.State == lastapplied.None && v.Chosen(item):
			bare = append(bare, item.Target.String())
		default:
			item.Err = v.show(item, was)
		}
	}
	return errors.Join(v.Errs(), v.left(bare))
}

// show prints one configuration.
//
// Unlike kubectl: an object without one is an error. Nothing at all, and success,
// would read as an empty configuration.
func (v *viewVerb) show(item *run.Item, was lastapplied.Original) error {
	o := item.Target
	switch was.State {
	case lastapplied.None:
		return fmt.Errorf("%s: no last-applied-configuration annotation found on resource: %s%s: to adopt it, record what was applied: kubectl merge set-last-applied --create-annotation -f FILE", o, o.Name, ownership.Makers(item.Planned.Live))
	case lastapplied.Garbage:
		return fmt.Errorf("%s: %s", o, was.Problem)
	case lastapplied.Foreign:
		v.note(o.String(), was.Problem)
	}
	conf, err := merge.ReadJSON([]byte(was.Text))
	if err != nil {
		return fmt.Errorf("%s: last-applied: %w", o, err)
	}
	return v.emit(v.confText(item, was, conf))
}

// confText is the configuration in the form asked for. A Secret's values are hidden,
// unless they are not there anyway.
//
// Unlike kubectl: which prints them; a password should not be shown to those who only want
// to know which fields are theirs.
func (v *viewVerb) confText(item *run.Item, was lastapplied.Original, conf any) ([]byte, error) {
	hidden := conf
	if at := (redact.Place{Values: redact.ValuesOf(item.Planned.Live)}); !v.secrets {
		_, all := redact.MaskAt(at, merge.Opt{}, merge.Some(conf), v.Sensitive(item, conf))
		hidden = all.Value
		if m, isMap := all.Value.(map[string]any); isMap && was.State == lastapplied.Blanked { // metadata alone has values to hide
			if hidden = conf; m["metadata"] != nil {
				hidden = merge.With(merge.At[map[string]any](conf), m["metadata"], "metadata")
			}
		}
	}
	masked := !merge.Equal(conf, hidden, nil)
	if masked {
		v.note(item.Target.String(), "secret values are hidden: --show-secrets shows them")
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
	return append(b.Bytes(), '\n'), nil
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

var _ = registerVerb(verb{
	use: "set-last-applied (-f FILE | -k DIRECTORY)", short: "Set what was applied last to what a file states",
	long: `Set the last-applied-configuration annotation of objects to the contents of a file, as if
'kubectl merge -f FILE' had been run, without any other change to them. What it
contains and the next file that is merged does not is removed by that merge.`,
	example: `  kubectl merge set-last-applied -f web.yaml

  # Adopt what was created with kubectl create, helm or another tool
  kubectl merge set-last-applied --create-annotation -f web.yaml`,
	inputs: "take the configuration from",
	takes: exactly(0, func(c *call) error {
		return c.usage(fmt.Sprintf("unexpected argument %q: objects are given with -f", c.args[0]))
	}),
	run: func(c *call, ctx context.Context) error { return newTargetVerb(c).set(ctx) },
})

// set is kubectl merge set-last-applied.
func (v *targetVerb) set(ctx context.Context) error {
	if err := v.validateInput(); err != nil {
		return err
	}
	if err := v.begin(ctx, nil); err != nil {
		return err
	}
	v.Set(v.create, func(item *run.Item, text string) { v.note(item.Target.String(), text) })
	v.Merge(ctx)
	if err := v.Errs(); err != nil {
		return err // nothing is written after an error
	}
	return v.send(ctx, func(item *run.Item) error {
		switch unchanged := item.Result.Outcome == write.Unchanged; {
		case unchanged && v.output == "diff":
			return nil
		case unchanged && v.output == "":
			text := fmt.Sprintf("set-last-applied %s: no changes required.", escape.Line(item.Target.Name))
			if v.mode == dryNone {
				_, err := fmt.Fprintln(v.Out, text)
				return err
			}
			return v.remark(diff.Note{Object: item.Target.String(), Kind: noteOutcome, Message: "unchanged" + v.mode.suffix()}, text)
		}
		return v.written(item)
	})
}
