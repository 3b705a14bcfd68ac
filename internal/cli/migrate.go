package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/migrate"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// migrateVerb moves ownership to server-side apply and back.
type migrateVerb struct {
	*env
	inputs      inputFlags
	to          string
	from        []string
	manager     string
	output      string
	dryRun      dryRunFlag
	concurrency int
	quiet       bool
	args        []string // TYPE/NAME, in place of files
}

const migrateLong = `Move the ownership of objects' fields to server-side apply, or back to client-side apply. No
value changes: only managedFields do, and the last-applied annotation.

    --to=server-side   what was applied last (the annotation, or without one what the managers
                       of --from own) is then applied by --field-manager; what else those
                       managers own stays, without an owner
    --to=client-side   what --field-manager has applied becomes the last-applied configuration

The server tries all of it first, and an apply of what is moved: if that is a conflict, or
would change a value, nothing is written. A dry run prints what happens to each field:

    moves       the applier owns it from now on
    unstated    a manager that is migrated owned it, but nobody has applied it
    elsewhere   it was applied, and others have changed it since: it is left to them
    conflict    the file states another value: applying it will be a conflict
    removed     the file does not state it: applying it will remove it
    shared      others own it, too, which client-side apply ignores

Of an object that is named, conflict and removed are not known: they are found in a file.`

const migrateExample = `  # See what would be moved, and move it
  kubectl merge migrate -f web.yaml --to=server-side --dry-run
  kubectl merge migrate -f web.yaml --to=server-side

  # Include what helm or kubectl edit have set
  kubectl merge migrate -f web.yaml --to=server-side --from=helm,kubectl-edit

  # An object of the cluster, of which there is no file
  kubectl merge migrate deployment/web --to=server-side

  # And back
  kubectl merge migrate -f web.yaml --to=client-side`

var _ = registerVerb(verb{open: newMigrate, args: objectArgs, flags: map[string]cobra.CompletionFunc{
	"output": complete.Words(migrate.Formats...), "to": complete.Words(string(migrate.ToServerSide), string(migrate.ToClientSide)),
}})

func newMigrate(e *env) *cobra.Command {
	v := &migrateVerb{env: e}
	cmd := &cobra.Command{
		Use:     "migrate (-f FILE | -k DIRECTORY | TYPE/NAME...) --to=(server-side|client-side)",
		Short:   "Move ownership to server-side apply, or back, without changing a value",
		Long:    migrateLong,
		Example: migrateExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := spaced(cmd.Flags(), args); err != nil {
				return err
			}
			v.args = args
			return v.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	v.inputs.add(flags, "migrate")
	flags.StringVar(&v.to, "to", "", "server-side or client-side")
	flags.StringSliceVar(&v.from, "from", nil, "with --to=server-side, managers whose fields are moved besides those of client-side apply, as kubectl get --show-managed-fields names them")
	flags.StringVar(&v.manager, "field-manager", apply.ServerManager, "the field manager of server-side apply")
	flags.StringVarP(&v.output, "output", "o", "", "table or json (one line): print what happens to each field; a dry run prints the table")
	addDryRun(flags, &v.dryRun)
	flags.IntVar(&v.concurrency, "concurrency", parallel.Limit, "objects under way at once")
	flags.BoolVarP(&v.quiet, "quiet", "q", false, "print no notes")
	return cmd
}

// check returns the mode of the run that the flags ask for.
func (v *migrateVerb) check() (dryRun, error) {
	mode, err := parseDryRun(v.dryRun.text)
	switch to := migrate.Direction(v.to); {
	case err != nil:
		return mode, err
	case v.to == "":
		return mode, errors.New("--to: name the way: --to=server-side or --to=client-side")
	case to != migrate.ToServerSide && to != migrate.ToClientSide:
		return mode, fmt.Errorf("--to=%s: must be server-side or client-side", v.to)
	case to == migrate.ToClientSide && len(v.from) > 0:
		return mode, errors.New("--from: names managers that are moved to server-side apply: with --to=client-side, --field-manager names the one that is moved")
	case v.output != "" && !slices.Contains(migrate.Formats, v.output):
		return mode, fmt.Errorf("--output=%s: there are %s", v.output, strings.Join(migrate.Formats, ", "))
	case v.concurrency < 1:
		return mode, fmt.Errorf("--concurrency=%d: must be at least 1", v.concurrency)
	}
	if v.output == "" && mode != dryNone {
		v.output = migrate.Formats[0]
	}
	if len(v.args) > 0 {
		return mode, v.named().check()
	}
	return mode, v.inputs.validate()
}

func (v *migrateVerb) named() namedArgs {
	return namedArgs{verb: "migrate", args: v.args, inputs: &v.inputs}
}

// objects are those of the files, or those that are named.
func (v *migrateVerb) objects(ctx context.Context) (objects []object.Object, err error) {
	if len(v.args) > 0 {
		_, targets, err := v.named().find(ctx, v.env)
		for _, t := range targets {
			objects = append(objects, t.Identity())
		}
		return objects, err
	}
	inputs, err := v.local(ctx, &v.inputs)
	if err != nil {
		return nil, err
	}
	if objects, err = source.Read(ctx, inputs); len(objects) == 0 && err == nil {
		err = v.inputs.none()
	}
	return objects, err
}

func (v *migrateVerb) run(ctx context.Context) error {
	mode, err := v.check()
	if err != nil {
		return err
	}
	m, err := v.mover()
	if err != nil {
		return err
	}
	objects, err := v.objects(ctx)
	if err != nil {
		return err
	}
	items, err := m.Plan(ctx, objects)
	if err == nil {
		err = migrate.Failed(items)
	}
	if err == nil && mode != dryClient {
		err = m.Try(ctx, items)
	}
	if err != nil {
		return err // nothing is written after an error
	}
	for _, name := range m.Planner.From {
		if !slices.ContainsFunc(items, func(i *migrate.Item) bool { return i.Move.Has(name) }) {
			v.note("--from="+name, "no object of the input has fields of this manager")
		}
	}
	return v.finish(ctx, m, items, mode)
}

// mover returns a Mover for the cluster that the flags name.
func (v *migrateVerb) mover() (*migrate.Mover, error) {
	api, err := v.connect()
	if err != nil {
		return nil, err
	}
	ns, err := v.namespacing()
	if err != nil {
		return nil, err
	}
	docs := &apply.Documents{Fetch: api.OpenAPI}
	return &migrate.Mover{
		API: api, Live: &live.Server{API: api, Namespaces: ns}, Limit: v.concurrency,
		Planner: migrate.Planner{Schemas: docs.Type, To: migrate.Direction(v.to), Manager: v.manager, From: v.from, Named: len(v.args) > 0},
	}, nil
}

// finish prints the report, and writes the migrations.
func (v *migrateVerb) finish(ctx context.Context, m *migrate.Mover, items []*migrate.Item, mode dryRun) error {
	var err error
	switch v.output {
	case "table":
		err = migrate.WriteTable(v.Out, items)
	case "json":
		err = migrate.WriteJSON(v.Out, m.Planner, items)
	}
	if err != nil {
		return err
	}
	done := func(i *migrate.Item) { v.done(i, mode) }
	if mode == dryNone {
		m.Write(ctx, items, done)
		return migrate.Failed(items)
	}
	for _, i := range items {
		i.Result = write.Foreseen(i.Move.Planned)
		done(i)
	}
	return nil
}

// done prints the outcome of an object, and the remaining steps for the user.
func (v *migrateVerb) done(i *migrate.Item, mode dryRun) {
	if i.Err != nil {
		return
	}
	word := string(i.Result.Outcome)
	if i.Result.Outcome == write.Configured {
		word = "migrated"
	}
	word += mode.suffix()
	if v.output != "" {
		_ = v.remark(diff.Note{Object: i.String(), Kind: noteOutcome, Message: word}, escape.Line(i.String())+" "+word) // only stdout matters
	} else {
		fmt.Fprintf(v.Out, "%s %s\n", escape.Line(i.String()), word)
	}
	for _, text := range i.Result.Notes {
		v.remind(i, text)
	}
	for _, r := range i.Move.Rows {
		switch text := escape.Line(r.Path.String()); r.What {
		case migrate.Conflict:
			v.remind(i, fmt.Sprintf("%s: the file states another value than live, which %s owns: applying it will be a conflict", text, strings.Join(r.By, ", ")))
		case migrate.Removed:
			v.remind(i, text+": the file does not state it: applying it will remove it")
		}
	}
}

func (v *migrateVerb) remind(i *migrate.Item, text string) {
	if !v.quiet {
		v.note(i.String(), text)
	}
}
