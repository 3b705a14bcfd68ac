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
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
)

// disownVerb gives fields up.
type disownVerb struct {
	targetVerb
	out    keptOutput
	dryRun dryRunFlag
	write  bool // the files too

	fields []merge.Path
}

var _ = registerVerb(verb{
	open: newDisown,
	args: func(e *env) cobra.CompletionFunc {
		return complete.UnlessFiles(e.server().Disowned, complete.LocalFields)
	},
	flags: map[string]cobra.CompletionFunc{"output": keptOutputs},
})

func newDisown(e *env) *cobra.Command {
	v := &disownVerb{targetVerb: targetVerb{env: e, validate: "ignore"}}
	cmd := &cobra.Command{
		Use:   "disown (TYPE/NAME | -f FILE) FIELD...",
		Short: "Give fields up, to an autoscaler say: live keeps their values",
		Long: `Take fields out of what was applied last, so that the next merge of a file without them
leaves live's values alone. With -w they are taken out of the file too; its comments
and its layout stay. Entries of lists are named by their keys, those of maps by theirs.`,
		Example: `  # Hand the replicas over to an autoscaler
  kubectl merge disown deployment/web spec.replicas

  # In the file too
  kubectl merge disown -f web.yaml -w spec.replicas

  kubectl merge disown deployment/web 'spec.template.spec.containers[name=proxy]' 'metadata.labels["example.com/team"]'`,
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	v.inputs.add(flags, "give fields up of")
	flags.StringVar(&v.manager, "field-manager", defaultManager, "name of the manager used to track field ownership")
	v.addRules(flags)
	v.out.add(flags)
	v.out.reports(flags)
	addDryRun(flags, &v.dryRun)
	flags.BoolVarP(&v.write, "write", "w", false, "take the fields out of the files given with -f too")
	return cmd
}

func (v *disownVerb) run(ctx context.Context, args []string) error {
	mode, err := v.out.mode(v.dryRun)
	if err != nil {
		return err
	}
	names, err := v.parse(args)
	if err != nil {
		return err
	}
	if err := v.out.open(ctx, v.env, mode); err != nil {
		return err
	}
	if err := v.open(ctx); err != nil {
		return err
	}
	objects, err := v.find(ctx, names)
	if err != nil {
		return err
	}
	if err := errors.Join(v.read(ctx, objects)...); err != nil {
		return err
	}
	return v.disown(ctx, objects, mode)
}

// parse parts the arguments into those that name objects, which are none where -f
// is given, and the fields.
func (v *disownVerb) parse(args []string) (names []string, err error) {
	fields := args
	if !v.inputs.given() && len(args) > 0 {
		n := 1 // TYPE/NAME, or a TYPE with -l
		if !strings.Contains(args[0], "/") && v.inputs.Selector == "" {
			n = min(2, len(args)) // TYPE NAME
		}
		names, fields = args[:n], args[n:]
	}
	switch {
	case v.write && !v.inputs.given():
		return nil, errors.New("-w: takes fields out of files: name them with -f")
	case v.write && (v.inputs.Kustomize != "" || slices.Contains(v.inputs.Files, "-")):
		return nil, errors.New("-w: can write neither standard input nor what kustomize built: give files with -f")
	case len(fields) == 0:
		return nil, errors.New("no field is named: say which to give up, as spec.replicas or 'spec.template.spec.containers[name=web].image'")
	}
	for _, text := range fields {
		path, err := merge.ParsePath(text)
		if err != nil {
			return nil, err
		}
		v.fields = append(v.fields, path)
	}
	return names, nil
}

// handover is one object's part in a run.
type handover struct {
	kept
	has      []merge.Path // of the fields, those that it was applied with
	filed    []merge.Path // those that its file states
	plan     annotate.Annotated
	rewrite  annotate.Rewrite
	meanings []annotate.Meaning
	failed   bool // it could not be written
}

// disown plans all before it writes any. The files come last: a file without a
// field that is still ours would have it removed from live.
func (v *disownVerb) disown(ctx context.Context, objects []kept, mode dryRun) error {
	var (
		all  []*handover
		errs []error
	)
	for _, o := range objects {
		h, err := v.plan(ctx, o, len(objects) == 1)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, h)
	}
	if len(errs) == 0 {
		errs = append(errs, v.nowhere(all))
	}
	if err := errors.Join(errs...); err != nil {
		return err // nothing is written if anything is wrong
	}
	files, err := v.rewriteFiles(ctx, all)
	if err != nil {
		return err
	}
	for _, h := range all {
		if err := v.send(ctx, h, mode); err != nil {
			h.failed = true
			errs = append(errs, err)
		}
	}
	errs = append(errs, v.out.close(ctx))
	for _, f := range files {
		errs = append(errs, v.writeFile(f, mode))
	}
	return errors.Join(errs...)
}

// plan works out what one object gives up. only: there is no other object that
// could be meant.
func (v *disownVerb) plan(ctx context.Context, o kept, only bool) (*handover, error) {
	h := &handover{kept: o}
	was := lastapplied.Read(o.live)
	if o.chosen && was.State == lastapplied.None {
		return h, nil
	}
	if err := annotate.Usable(was, o.live); err != nil {
		return nil, fmt.Errorf("%s: %w", o, err)
	}
	if err := v.look(ctx, h, was.Value); err != nil {
		return nil, fmt.Errorf("%s: %w", o, err)
	}
	wanted := h.has
	if only { // whatever is not there is reported by the one who looks
		wanted = slices.DeleteFunc(slices.Clone(v.fields), func(p merge.Path) bool {
			return v.write && !contains(h.has, p) && contains(h.filed, p)
		})
	}
	if len(wanted) == 0 {
		return h, nil
	}
	h.rewrite = v.giveUp(o, wanted)
	var err error
	if h.plan, err = v.planner.Annotate(ctx, o.subject(), o.live, h.rewrite); err != nil {
		return nil, err
	}
	local := o.local
	if local != nil && v.write {
		value, err := v.without(ctx, h, h.filed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o, err)
		}
		edited := *local
		edited.Value = value
		local = &edited
	}
	h.meanings, err = v.planner.Meanings(ctx, h.plan, local)
	return h, err
}

// look finds out where the fields are.
func (v *disownVerb) look(ctx context.Context, h *handover, conf any) error {
	typ, err := v.planner.TypeOf(ctx, h.subject(), conf)
	if err != nil {
		return err
	}
	for _, p := range v.fields {
		if _, ok := merge.Lookup(conf, spelled(conf, p), typ); ok {
			h.has = append(h.has, p)
		}
		if h.local == nil {
			continue
		}
		if _, ok := merge.Lookup(h.local.Value, spelled(h.local.Value, p), typ); ok {
			h.filed = append(h.filed, p)
		}
	}
	return nil
}

// giveUp takes fields out of a configuration.
func (v *disownVerb) giveUp(o kept, fields []merge.Path) annotate.Rewrite {
	return func(ctx context.Context, was lastapplied.Original) (apply.Conf, error) {
		conf := apply.Conf{Value: was.Value, Blanking: was.Blanking}
		if err := annotate.Usable(was, o.live); err != nil {
			return conf, err
		}
		var err error
		conf.Value, err = v.remove(ctx, o.subject(), was.Value, fields)
		return conf, err
	}
}

// remove takes fields out of a configuration or a file's object. What the kind
// cannot do without is nobody's to give up: the file could not make the object any
// more.
func (v *disownVerb) remove(ctx context.Context, s apply.Subject, value any, fields []merge.Path) (any, error) {
	typ, err := v.planner.TypeOf(ctx, s, value)
	if err != nil {
		return nil, err
	}
	for _, p := range fields {
		p = spelled(value, p)
		now, err := lastapplied.Remove(value, p, typ)
		if err != nil {
			return nil, err
		}
		gone := p
		for len(gone) > 1 {
			if _, there := merge.Lookup(now, gone[:len(gone)-1], typ); there {
				break
			}
			gone = gone[:len(gone)-1]
		}
		needed, err := v.planner.Required(ctx, s, gone)
		if err != nil {
			return nil, err
		}
		if needed {
			return nil, fmt.Errorf("%s: is required by the schema of %s, so that a file without it could not make the object: it cannot be given up", gone, s.Kind())
		}
		value = now
	}
	return value, nil
}

// spelled is a field of a Secret where the value has it: in data or in stringData,
// which are one thing to the server.
func spelled(value any, p merge.Path) merge.Path {
	other := map[string]string{"data": "stringData", "stringData": "data"}
	obj, _ := value.(map[string]any)
	if !redact.IsSecret(obj) || len(p) < 2 || other[p[0].Name] == "" {
		return p
	}
	if _, there := merge.Lookup(value, p, nil); there {
		return p
	}
	return append(merge.Path{merge.Named(other[p[0].Name])}, p[1:]...)
}

func contains(paths []merge.Path, p merge.Path) bool {
	return slices.ContainsFunc(paths, func(q merge.Path) bool { return q.String() == p.String() })
}

// nowhere is the error of fields that no object has, where there are several.
func (v *disownVerb) nowhere(all []*handover) error {
	var errs []error
	for _, p := range v.fields {
		found := slices.ContainsFunc(all, func(h *handover) bool {
			return contains(h.has, p) || v.write && contains(h.filed, p)
		})
		if !found && len(all) != 1 {
			errs = append(errs, fmt.Errorf("%s: is in the last-applied configuration of none of %d objects, so it is nobody's to give up: see kubectl merge view-last-applied", p, len(all)))
		}
	}
	return errors.Join(errs...)
}

// send writes one object's annotation, and reports what that means.
func (v *disownVerb) send(ctx context.Context, h *handover, mode dryRun) error {
	if h.rewrite == nil {
		return nil
	}
	out := write.Foreseen(h.plan.Planned)
	if mode != dryClient {
		var err error
		if out, err = v.store(ctx, h.kept, h.plan, h.rewrite, mode == dryServer); err != nil {
			return err
		}
	}
	out.Outcome = write.Disowned
	tellMeanings(v.env, h.kept, h.meanings)
	if !v.write && len(h.filed) > 0 {
		fmt.Fprintf(v.ErrOut, "note: %s: %s: take it out there too, or let -w do it\n", oneLine(h.String()), oneLine(h.local.Origin.File))
	}
	return v.out.written(h.kept, h.plan, out)
}
