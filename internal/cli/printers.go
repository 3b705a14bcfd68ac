package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/patch"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// renderer is a printer that can render an item as soon as that is merged, for its run.Item.Rendered. It
// may be called by several goroutines; nil: rendered later, from the item's plan.
type renderer interface{ render(item *run.Item) any }

// rendering makes a printer render a large run while it is being merged: objects on whose values no
// notes are printed. nil if the printer renders later, such as one of the server's answers.
func rendering(printer any, notes *reporter, mode dryRun) run.Render {
	p, can := printer.(renderer)
	if !can || mode != dryClient {
		return nil
	}
	return func(item *run.Item) any {
		// Ignored fields are reported once for a file, for the first object in input order.
		if !notes.quiet && (len(item.Result.Planned.Ignored) > 0 || len(notes.of(item)) > 0) {
			return nil
		}
		return p.render(item)
	}
}

func (v view) begin(context.Context, *session) error { return nil }

func (v view) ended(outcome.Ended) error { return nil }

func (v view) close(context.Context) error { return nil }

// became returns the outcome of an object, in the words of kubectl apply.
func (v view) became(item *run.Item) string {
	return item.Result.Word() + v.mode.suffix()
}

// line returns the outcome line of an object.
func (v view) line(item *run.Item) string {
	return escape.Line(item.Target.String()) + " " + v.became(item) + "\n"
}

// linePrinter prints lines as kubectl apply does: deployment.apps/web configured.
type linePrinter struct{ view }

func (f linePrinter) printObject(item *run.Item) error { return f.emit([]byte(f.line(item)), nil) }

type namePrinter struct{ view }

func (f namePrinter) printObject(item *run.Item) error {
	_, err := fmt.Fprintln(f.Out, escape.Line(item.Target.String()))
	return err
}

// dryPrinter prints the results of a dry run for reading: the objects that would be created or
// changed, with Secrets masked, without managedFields and the last-applied annotation. The outcome
// of each object is printed to stderr and, if stdout is no terminal, as a comment above the object.
//
// Unlike kubectl: whose --dry-run prints outcome lines alone, which do not show what would be
// written. The comments are for pipes: | grep configured finds what it finds with kubectl, and
// what reads YAML skips them.
type dryPrinter struct {
	view
	shown int
}

func (f *dryPrinter) printObject(item *run.Item) error {
	if item.Surplus != nil || item.Result.Outcome == write.Unchanged { // it is deleted or unchanged
		return errors.Join(f.emit([]byte(f.comment(item)), nil), f.outcome(item))
	}
	obj := any(item.Result.Object)
	if !f.secrets {
		_, obj = redact.Mask(item.Result.Planned.LiveSide(), obj, item.Result.Planned.Sensitive, item.Result.Planned.Value)
	}
	obj = lastapplied.Without(obj)
	text, err := yamldoc.Encode(f.trimmed(obj))
	if err != nil {
		return fmt.Errorf("%s: %w", item.Target, err)
	}
	between := ""
	if f.shown > 0 {
		between = "---\n"
	}
	f.shown++
	_, err = io.WriteString(f.Out, between+f.comment(item)+string(text))
	return errors.Join(err, f.outcome(item))
}

// comment returns an object's outcome line as a YAML comment, for pipes.
func (f *dryPrinter) comment(item *run.Item) string {
	if term.IsTerminal(f.Out) {
		return ""
	}
	return "# " + f.line(item)
}

// outcome prints an object's outcome on stderr, besides the result on stdout.
func (v view) outcome(item *run.Item) error {
	name, became := escape.Line(item.Target.String()), v.became(item)
	return v.remark(diff.Note{Object: name, Kind: noteOutcome, Message: became}, name+" "+became)
}

// trimmed returns obj without managedFields, unless --show-managed-fields is set.
func (v view) trimmed(obj any) any {
	if v.managedFields || merge.At[any](obj, "metadata", "managedFields") == nil {
		return obj
	}
	return merge.Without(obj.(map[string]any), "metadata", "managedFields")
}

// disclose notes that the values of a Secret are printed.
func (v view) disclose(item *run.Item) {
	if redact.IsSecretKind(item.Target.Group, item.Target.Kind) && !v.secrets && !v.quiet {
		printer, _, _ := strings.Cut(v.output, "=")
		name, text := escape.Line(item.Target.String()), "-o "+printer+" prints its values"
		_ = v.remark(diff.Note{Object: name, Kind: noteShown, Message: text}, "note: "+name+": "+text) // only stdout matters
	}
}

// patchPrinter prints the JSON merge patch of each object on a line of its own: the whole
// object if it is created, only its identity if nothing changes.
//
// Unlike kubectl: which prints no patches. Each patch states apiVersion, kind, name and namespace
// of its object: applied to that object they change nothing, and jq selects by them.
type patchPrinter struct{ view }

func (f patchPrinter) printObject(item *run.Item) error {
	if item.Surplus != nil { // no patch deletes an object
		return f.outcome(item)
	}
	p := item.Result.Planned
	body := map[string]any{}
	switch p.Action {
	case apply.Create:
		body = p.Final
	case apply.Change:
		body, _ = patch.Merge(p.Live, p.Final)
		fallthrough
	default:
		body = identified(body, item.Target)
	}
	if body["data"] != nil {
		f.disclose(item)
	}
	return escape.WriteJSON(f.Out, body, "")
}

// identified returns a patch with the identity of its object.
func identified(patch map[string]any, t cluster.Target) map[string]any {
	out := t.Identity().Value
	its, _ := out["metadata"].(map[string]any)
	maps.Copy(its, merge.At[map[string]any](patch, "metadata"))
	maps.Copy(out, patch)
	out["metadata"] = its
	return out
}

// doc returns an item's live object and the written, or expected, one; in a server dry run, as the
// server would store it.
func (v view) doc(item *run.Item) diff.Doc {
	p := item.Result.Planned
	if item.Surplus != nil {
		return diff.Doc{Name: diff.DocName(p.Live), Live: p.Live, Sensitive: p.Sensitive}
	}
	result := diff.Expected(p.Final, p.Changes, p.Type)
	d := diff.Doc{Name: diff.DocName(p.Final), Live: p.LiveSide(), Result: result, Local: p.Value, Contested: diff.Contested(result, p.Conflicts, p.Value, p.Type), Sensitive: p.Sensitive}
	if item.Action() == apply.Recreate { // the server's trial ends at the old object, without defaults
		d.Result = p.Recreated()
	} else if v.mode == dryServer && item.Result.Object != nil {
		d.Result = item.Result.Object
	}
	return d
}

// maskedPrinter wraps a printer that must not see secrets: it receives no value of a Secret, and
// none that the user's rules hide.
type maskedPrinter struct{ printer }

func (p maskedPrinter) printObject(item *run.Item) error { return p.printer.printObject(masked(item)) }

// masked returns a copy of an item with all hidden values masked; the item itself if it has none.
func masked(item *run.Item) *run.Item {
	object, details := item.Object, *item.Details
	var hidden [4]bool
	object.Value, hidden[0] = maskedObject(item.Object.Value, item.Planned.Sensitive)
	details.Result.Object, hidden[1] = maskedObject(item.Result.Object, item.Planned.Sensitive, item.Planned.Value)
	details.Planned, hidden[2] = maskedPlan(item.Planned)
	details.Result.Planned, hidden[3] = maskedPlan(item.Result.Planned)
	if hidden == [4]bool{} {
		return item
	}
	return item.With(object, &details)
}

func maskedObject(obj map[string]any, sensitive redact.Fields, sides ...any) (out map[string]any, hidden bool) {
	if obj == nil {
		return nil, false
	}
	_, shown := redact.Mask(nil, obj, sensitive, sides...)
	out, _ = shown.(map[string]any)
	return out, !merge.Identical(out, obj)
}

// maskedPlan returns a plan with masked sides, and the changes between them. Disagreements and
// removals are reduced to their paths, owners and winners.
func maskedPlan(p apply.Planned) (out apply.Planned, hidden bool) {
	local, hides := maskedObject(p.Value, p.Sensitive)
	live := p.LiveSide()
	was, is := redact.Mask(live, p.Final, p.Sensitive, p.Value)
	_, result := redact.Mask(live, p.Result, p.Sensitive, p.Value)
	if !hides && merge.Identical(was, live) && merge.Identical(is, p.Final) {
		return p, false
	}
	out = p
	out.Value, out.Applying = local, nil
	out.Live, _ = was.(map[string]any)
	out.Final, _ = is.(map[string]any)
	out.Output = strategy.Output{Ignored: p.Ignored, Uncompared: p.Uncompared, Plan: merge.Plan{Result: result, Changes: merge.Diff(was, is, p.Type)}}
	bare := func(d merge.Disagreement) merge.Disagreement {
		return merge.Disagreement{Kind: d.Kind, Path: d.Path, Owner: d.Owner, Winner: d.Winner, Rule: d.Rule, By: d.By}
	}
	out.Conflicts, out.Settled = each(p.Conflicts, bare), each(p.Settled, bare)
	out.Removed = each(p.Removed, func(r merge.Removal) merge.Removal {
		return merge.Removal{Path: r.Path, Cause: r.Cause, Owner: r.Owner, By: r.By, Own: r.Own}
	})
	return out, true
}

// streamPrinter prints a single object directly and several as a List, as kubectl does.
type streamPrinter struct {
	view
	out list
}

func (f *streamPrinter) printObject(item *run.Item) error {
	f.disclose(item)
	return f.out.add(f.trimmed(item.Result.Object))
}

func (f *streamPrinter) close(context.Context) error { return f.out.end() }

// list prints values as they come. In a style with alone, only the first is stored until there is a second.
type list struct {
	*env
	style listStyle
	first any
	shown int
}

// listStyle states how a list is written value by value; alone is for a single one, if that is no list.
type listStyle struct {
	head, between, tail, empty string
	alone, entry               func(any) ([]byte, error)
}

var yamlList = listStyle{
	head:  "apiVersion: v1\nitems:\n",
	tail:  "kind: List\nmetadata: {}\n",
	alone: yamldoc.Encode,
	entry: func(v any) ([]byte, error) { return yamldoc.Encode([]any{v}) },
}

var jsonList = listStyle{
	head:    "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        ",
	between: ",\n        ",
	tail:    "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {}\n}\n",
	alone:   jsonText,
	entry:   func(v any) ([]byte, error) { return indentedJSON(v, "        ") },
}

func (l *list) add(v any) error {
	l.shown++
	switch {
	case l.shown == 1 && l.style.alone != nil:
		l.first = v
		return nil
	case l.shown == 1:
		return l.print(l.style.head, v)
	case l.first != nil:
		if err := l.print(l.style.head, l.first); err != nil {
			return err
		}
		l.first = nil
	}
	return l.print(l.style.between, v)
}

func (l *list) print(before string, v any) error {
	text, err := l.style.entry(v)
	return l.emit(append([]byte(before), text...), err)
}

func (l *list) end() error {
	switch {
	case l.shown == 0:
		return l.emit([]byte(l.style.empty), nil)
	case l.first != nil:
		return l.emit(l.style.alone(l.first))
	}
	return l.emit([]byte(l.style.tail), nil)
}

// listPrinter prints all objects at once: a template may access any of them.
type listPrinter struct {
	view
	print   func([]any) ([]byte, error)
	objects []any
}

func (f *listPrinter) printObject(item *run.Item) error {
	f.objects = append(f.objects, f.trimmed(item.Result.Object))
	f.disclose(item)
	return nil
}

func (f *listPrinter) close(context.Context) error {
	if len(f.objects) == 0 {
		return nil
	}
	return f.emit(f.print(f.objects))
}

func jsonText(v any) ([]byte, error) {
	text, err := indentedJSON(v, "")
	return append(text, '\n'), err
}

// indentedJSON returns v as kubectl prints it, with prefix before every line but the first. A value
// nested too deeply for indentation is one line.
func indentedJSON(v any, prefix string) ([]byte, error) {
	if yamldoc.Deep(v) {
		text, err := yamldoc.Encode(v)
		return bytes.TrimSuffix(text, []byte("\n")), err
	}
	text, err := json.MarshalIndent(v, prefix, "    ")
	return escape.JSON(text), err
}
