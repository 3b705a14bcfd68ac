package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/annotate"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// disownVerb releases fields.
type disownVerb struct {
	*targetVerb
	fields []merge.Path
}

var _ = registerVerb(verb{
	use: "disown (TYPE/NAME | -f FILE) FIELD...", short: "Give fields up to others: live keeps their values",
	long: `Take fields out of what was applied last, so that the next merge of a file without them
leaves live's values alone. With -w they are removed from the file, too; its comments
and its layout stay. Entries of lists and maps are named by their keys.`,
	example: `  # Leave the replicas to an autoscaler
  kubectl merge disown deployment/web spec.replicas

  # In the file, too
  kubectl merge disown -f web.yaml -w spec.replicas

  # An entry of a list, and one of a map
  kubectl merge disown deploy/web 'spec.template.spec.containers[name=proxy]'
  kubectl merge disown deploy/web 'metadata.labels["example.com/team"]'`,
	inputs: "give fields up of",
	args: func(s *complete.Server) cobra.CompletionFunc {
		return complete.UnlessFiles(s.Disowned, complete.LocalFields)
	},
	run: func(c *call, ctx context.Context) error {
		return (&disownVerb{targetVerb: newTargetVerb(c)}).run(ctx)
	},
})

func (v *disownVerb) run(ctx context.Context) error {
	names, err := v.parse(v.args)
	if err == nil {
		err = v.begin(ctx, names)
	}
	if err != nil {
		return err
	}
	return v.disown(ctx)
}

// parse splits the arguments into those that name objects, none if -f is given, and the fields.
func (v *disownVerb) parse(args []string) (names []string, err error) {
	names, fields := namesAndFields(args)
	if !v.hasInput() && len(args) > 0 {
		n := 1 // TYPE/NAME, or a TYPE with -l
		if !strings.Contains(args[0], "/") && v.inputs.Selector == "" {
			n = min(2, len(args)) // TYPE NAME
		}
		names, fields = args[:n], args[n:]
	}
	switch {
	case v.write && !v.hasInput():
		return nil, errors.New("-w: takes fields out of files: name them with -f")
	case v.write && (v.inputs.Kustomize != "" || slices.Contains(v.inputs.Files, "-")):
		return nil, errors.New("-w: can write neither standard input nor what kustomize built: give files with -f")
	case len(fields) == 0 && len(args) == 2 && strings.Contains(args[1], ".") && !strings.Contains(args[0], "/"):
		return nil, fmt.Errorf("%q is no TYPE/NAME: an object is named with its type, as deployment/%s", args[0], args[0])
	case len(fields) == 0 && len(args) == 2 && strings.Contains(args[1], "/"):
		return nil, fmt.Errorf("%q stands where TYPE/NAME belongs: kubectl merge disown %s %s", args[0], args[1], args[0])
	case len(fields) == 0 && len(args) == 1 && strings.Contains(args[0], ".") && !strings.Contains(args[0], "/") && v.inputs.Selector == "":
		return nil, fmt.Errorf("%s: of which object? Name it before the field, as deployment/web, or give its file with -f", args[0])
	case len(fields) == 0:
		return nil, errors.New("no field is named: name those to give up behind -f FILE or TYPE/NAME, as spec.replicas or 'spec.template.spec.containers[name=web].image'")
	}
	all, err := askedFields(fields)
	v.fields = each(all, func(f asked) merge.Path { return f.Path })
	return names, err
}

// disown plans all changes before it writes any. The files are written last: a file without a field
// that the applier still owns would have the next merge remove it from live. Whether they can be
// written is found out first.
func (v *disownVerb) disown(ctx context.Context) error {
	d := &annotate.Disowning{Run: v.Run, Fields: v.fields, Files: v.write}
	if err := d.Plan(ctx); err != nil {
		return err // nothing is written after an error
	}
	var files []*filemerge.Edited
	if v.write {
		var err error
		if files, err = d.Edits(ctx, v.inputs.Files); err != nil {
			return err
		}
	}
	if v.mode == dryNone {
		for _, f := range files {
			if err := filemerge.Rehearse([]*filemerge.Edited{f}); err != nil {
				return err
			}
		}
	}
	err := v.send(ctx, func(item *run.Item) error { return v.disowned(d.Of(item)) })
	return errors.Join(append([]error{err}, each(files, func(f *filemerge.Edited) error { return v.writeFile(d, f) })...)...)
}

// disowned reports the outcome of one object, and its meaning.
func (v *disownVerb) disowned(d *annotate.Disowned) error {
	if !d.Changes() {
		return nil
	}
	d.Result.Outcome = write.Disowned
	v.meanings(d.Item, d.Meanings, v.mode == dryNone)
	if !v.write && len(d.Filed) > 0 {
		v.note(d.Target.String(), d.Object.Origin.File+": take it out there too, or let -w do it")
	}
	return v.written(d.Item)
}

// writeFile replaces the old text by the new one, or shows the difference.
func (v *disownVerb) writeFile(d *annotate.Disowning, f *filemerge.Edited) error {
	if err := d.Writable(f); err != nil {
		return err
	}
	if v.output == "diff" {
		if err := v.showFile(f); err != nil {
			return err
		}
	}
	taken := "would be taken out"
	if v.mode == dryNone {
		if err := d.Replace(f); err != nil {
			return err
		}
		taken = "taken out"
	}
	v.note(f.Name, strings.Join(d.Taken(f), ", ")+" "+taken)
	return nil
}

func (v *disownVerb) showFile(f *filemerge.Edited) error {
	text, err := filemerge.Diff(filemerge.Texts{From: f.Name, To: f.Name, Old: string(f.Old), Now: string(f.Now)}, filemerge.Hiding{ShowSecrets: v.secrets, Rules: v.Planner.Rules.All()})
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return v.printDiff(text)
}
