package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/migrate"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

const migrateLong = `Move the ownership of objects' fields to server-side apply, or back to client-side apply. No
value changes: only managedFields do, and the last-applied annotation.

    --to=server-side   what was applied last (the annotation, or without one what the managers
                       of --from own) is then applied by --field-manager; what else those
                       managers own stays, without an owner
    --to=client-side   what --field-manager has applied becomes the last-applied configuration,
                       with what the annotation states besides

The server tries all of it first, and an apply of what is moved: if that is a conflict, or
would change a value, nothing is written. A dry run prints what happens to each field:

    moves       the applier owns it from now on
    unstated    a manager that is migrated owned it, but it was not applied
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

var _ = registerVerb(verb{
	use:   "migrate (-f FILE | -k DIRECTORY | TYPE/NAME...) --to=(server-side|client-side)",
	short: "Move ownership to server-side apply, or back", long: migrateLong, example: migrateExample,
	inputs: "migrate", args: objectArgs,
	takes: func(c *call) error {
		if c.to == "" {
			return errors.New("--to: name the way: --to=server-side or --to=client-side")
		}
		return c.checkObjects()
	},
	run: (*call).migrate,
})

// migrate moves ownership to server-side apply and back.
func (v *call) migrate(ctx context.Context) error {
	if v.output == "" && v.mode != dryNone {
		v.output = migrate.Formats[0]
	}
	at, err := v.reach()
	if err != nil {
		return err
	}
	m := migrate.New(at.Cluster, at.live, migrate.Planner{Schemas: at.Type, To: migrate.Direction(v.to), Manager: v.manager, From: v.fromManagers, Named: len(v.args) > 0})
	m.Concurrency = v.concurrency
	objects, err := v.objects(ctx, at.Cluster)
	if err == nil {
		err = m.Read(ctx, objects)
	}
	if err == nil && v.mode != dryClient {
		err = m.Try(ctx)
	}
	if err != nil {
		return err // nothing is written after an error
	}
	flag, managers := "from", &ownership.Managers{Names: m.Planner.From}
	if m.Planner.To == migrate.ToClientSide && v.given("field-manager") {
		flag, managers.Names = "field-manager", []string{m.Planner.Manager}
	}
	for _, i := range m.Items {
		managers.Look(i.Planned.Live)
	}
	managers.Missing(func(name, text string, _ bool) { v.note("--"+flag+"="+name, text) })
	return v.finishMigration(ctx, m)
}

// finishMigration prints the report, and writes the migrations.
func (v *call) finishMigration(ctx context.Context, m *migrate.Run) error {
	var err error
	switch v.output {
	case "table":
		err = v.printRows(m.Table(), nil)
	case "json":
		err = escape.WriteJSON(v.Out, m.Report(), "")
	}
	if err != nil {
		return err
	}
	done := func(i *run.Item) { v.migratedOne(i, m.Moves[i].Rows) }
	if v.mode == dryNone {
		m.Send(ctx, done)
		return m.Errs()
	}
	m.Show(ctx, done)
	return nil
}

// migratedOne prints the outcome of an object, and the remaining steps for the user.
func (v *call) migratedOne(i *run.Item, rows []migrate.Row) {
	if i.Err != nil {
		return
	}
	word := string(i.Result.Outcome)
	if i.Result.Outcome == write.Configured {
		word = "migrated"
	}
	word += v.mode.suffix()
	if v.output != "" {
		_ = v.remark(diff.Note{Object: i.Target.String(), Kind: noteOutcome, Message: word}, escape.Line(i.Target.String())+" "+word) // only stdout matters
	} else {
		fmt.Fprintf(v.Out, "%s %s\n", escape.Line(i.Target.String()), word)
	}
	for _, text := range i.Result.Notes {
		v.note(i.Target.String(), text)
	}
	for _, r := range rows {
		switch text := escape.Line(r.Path.String()); r.What {
		case migrate.Conflict:
			v.note(i.Target.String(), fmt.Sprintf("%s: the file states another value than live, which %s owns: applying it will be a conflict", text, cmp.Or(strings.Join(r.By, ", "), "nobody")))
		case migrate.Removed:
			v.note(i.Target.String(), text+": the file does not state it: applying it will remove it")
		}
	}
}
