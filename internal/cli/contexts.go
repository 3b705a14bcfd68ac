package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/contexts"
	"github.com/kubectl-merge/kubectl-merge/internal/drift"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

const (
	mostContexts = 32 // that are asked at once

	ownCluster = "each context names its own: leave one of them out"
	ofOne      = " of one cluster: use --context"
)

var _ = registerFlags(
	flagRow{verbs: "diff explain drift", name: "contexts", group: "show", at: func(c *call) any { return &c.contexts }, completes: (*complete.Server).ContextList,
		help: "contexts of the kubeconfig, by names and patterns (prod-*), whose clusters are asked at the same time: what is the same is shown once",
		excludes: []tie{{"context", "leave one of them out"}, {"cluster", ownCluster}, {"server", ownCluster}, {"live", noServer}, {"watch", "a watch is" + ofOne},
			{"policy=ask", "answers are" + ofOne}, {"output=plan", "a plan is" + ofOne}, {"output=patch", "a patch is" + ofOne}, {"output=prometheus", "metrics are" + ofOne}}},
	flagRow{verbs: "merge undo migrate absorb adopt disband delete verify " + targets, name: "contexts", bare: "true",
		advice: "several clusters are only read, by diff, drift and explain: a write that some of them refuse would leave them different from each other: write to one at a time, with --context, and compare all with kubectl merge drift --contexts"},
)

// several are the results of a verb in several contexts. It is run once for each, by a call of its
// own, which collects what it would print.
type several struct {
	names []string
	found []*found
}

// found is the result of a verb in one context.
type found struct {
	out, err collected
	report   *drift.Report
	sections []diff.Section
	failed   error
}

// inContexts runs the verb for each of the contexts, at the same time, and prints what it has found
// in all of them.
func (c *call) inContexts(ctx context.Context) (err error) {
	s := several{}
	if s.names, err = c.chosen(); err != nil {
		return err
	}
	if c.validateInput() == nil {
		c.local = &input{}
		if c.local.objects, c.local.bad, err = c.readLocal(ctx, packed); err != nil {
			return err
		}
	}
	line := c.progress(ctx)
	s.found = make([]*found, len(s.names))
	parallel.Each(ctx, parallel.Steps{N: len(s.names), Limit: mostContexts, Done: func(i int) { line.Note("clusters", i+1, len(s.names)) }}, func(i int) {
		one := c.in(s.names[i])
		one.found.failed = one.failed(one.verb.run(one, ctx))
		one.warnings.print()
		one.report(one.found.failed)
		s.found[i] = one.found
	})
	line.End()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	shown := c.page()
	err = c.verb.sum(c, s)
	s.tell(c)
	if err = errors.Join(err, shown()); err != nil || s.code(c) == done {
		return err
	}
	return &exit{Code: s.code(c)}
}

// chosen returns the contexts that the flag names, each once: those of a pattern in their order.
func (c *call) chosen() (chosen []string, err error) {
	config, err := c.flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, mark("connection-setup", mistaken(fmt.Errorf("kubeconfig: %w", err)))
	}
	names := slices.Sorted(maps.Keys(config.Contexts))
	for _, want := range c.contexts {
		pattern := regexp.MustCompile("^(?s:" + strings.ReplaceAll(regexp.QuoteMeta(strings.ToValidUTF8(want, "?")), `\*`, ".*") + ")$")
		fits := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !pattern.MatchString(name) })
		if len(fits) == 0 {
			return nil, mark("connection-setup", fmt.Errorf("--contexts=%s: fits no context of the kubeconfig%s; there are: %s", want, suggest.Hint(want, names), cmp.Or(listed(names), "none")))
		}
		chosen = append(chosen, slices.DeleteFunc(fits, func(name string) bool { return slices.Contains(chosen, name) })...)
	}
	return chosen, nil
}

// in returns the call for one context.
func (c *call) in(name string) *call {
	one, e := *c, *c.env
	one.env, one.found = &e, &found{out: collected{on: c.Out}}
	e.In, e.Out, e.ErrOut, e.line, e.blanked = strings.NewReader(""), &one.found.out, &one.found.err, nil, c.secretValues()
	e.flags = e.connection()
	given, own := reflect.ValueOf(c.flags).Elem(), reflect.ValueOf(e.flags).Elem()
	for i := range own.NumField() {
		if f := own.Field(i); f.CanSet() && f.Kind() == reflect.Pointer { // the value of a flag
			f.Set(given.Field(i))
		}
	}
	if e.flags.Context = &name; e.flags.Password != nil && *e.flags.Password == "" {
		e.flags.Password = nil // otherwise users would be asked for it, by several calls at once
	}
	if one.output == "yaml" {
		one.output = "json" // see documents
	}
	return &one
}

// code returns the exit code: that of an error in any context, of conflicts, of differences.
func (s several) code(c *call) (worst int) {
	for _, f := range s.found {
		if f.broken(c) {
			return exitCode(f.failed)
		}
		worst = max(worst, exitCode(f.failed))
	}
	return worst
}

// broken reports whether the verb has ended with an error.
func (f *found) broken(c *call) bool { return exitCode(f.failed) == max(c.verb.failure, failed) }

// tell prints notes, warnings and errors: for programs each with its context, for people once what
// several contexts share.
func (s several) tell(c *call) {
	lists := make([][]string, len(s.found))
	for i, f := range s.found {
		for _, text := range f.err.texts {
			line, _ := merge.ReadJSON([]byte(text)) // nil: it is for people
			if note, is := line.(map[string]any); is && c.json {
				_ = escape.WriteJSON(c.ErrOut, merge.With(note, s.names[i], "context"), "") // only stdout matters
			} else {
				lists[i] = append(lists[i], text)
			}
		}
	}
	for _, shared := range contexts.Group(lists, timeless, func(a, b string) bool { return true }) {
		text := shared.All[0]
		if word, rest, _ := strings.Cut(text, ": "); len(shared.In) < len(s.names) || len(s.names) == 1 {
			text = word + ": in " + contexts.Label(shared.In, s.names) + ": " + rest
		}
		fmt.Fprint(c.ErrOut, text)
	}
}

// whenWritten matches the time of a write, as diff.When spells it.
var whenWritten = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\dZ`)

// timeless returns a text without the times of writes, which are of no two clusters the same.
func timeless(text string) string { return whenWritten.ReplaceAllString(text, "") }

// collected keeps what is written, each write by itself: a report on one object, a note.
type collected struct {
	mu    sync.Mutex
	texts []string
	on    io.Writer // where it is printed later
}

// Write keeps a text, without the empty line that separates it from the one before.
func (t *collected) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := strings.TrimPrefix(string(b), "\n"); text != "" {
		t.texts = append(t.texts, text)
	}
	return len(b), nil
}

// Unwrap returns the stream whose width and colors count; see term.Direct.
func (t *collected) Unwrap() io.Writer { return t.on }

// printed prints what -o asks for: by default the text on each object, below its contexts.
func (c *call) printed(s several) error {
	row, _ := printerNamed(c.output)
	encode := map[string]func(any) ([]byte, error){"json": jsonText, "yaml": yamldoc.Encode}[c.output]
	switch {
	case row.sum != nil:
		return row.sum(view{c}, s)
	case encode != nil:
		return s.documents(c, encode)
	}
	lists := each(s.found, func(f *found) []string { return f.out.texts })
	object := func(text string) string { return strings.SplitN(text, "\n", 2)[0] }
	for _, shared := range contexts.Group(lists, object, func(a, b string) bool { return timeless(a) == timeless(b) }) {
		head := diff.Paint("# "+contexts.Label(shared.In, s.names), diff.Bold, c.colored())
		if _, err := io.WriteString(c.Out, head+"\n"+shared.All[0]); err != nil {
			return err
		}
	}
	return nil
}

// documents prints one list of what was printed as lists of JSON objects, each with its context.
func (s several) documents(c *call, encode func(any) ([]byte, error)) error {
	all := []any{}
	for i, f := range s.found {
		list, _ := merge.ReadJSON([]byte(strings.Join(f.out.texts, ""))) // of a context with an error: nothing
		for _, d := range merge.At[[]any](list) {
			all = append(all, merge.With(d.(map[string]any), s.names[i], "context"))
		}
	}
	return c.emit(encode(all))
}

// reports prints one report of drift.
func (c *call) reports(s several) error {
	all := make([]*drift.Report, len(s.found))
	for i, f := range s.found {
		if all[i] = f.report; f.report == nil {
			all[i] = &drift.Report{Errors: lines(f.failed, c.secretValues())}
		}
	}
	report := drift.Join(s.names, all)
	err := drift.FormatNamed(c.output).Write(c.Out, report, drift.Options{Width: term.Width(c.Out), Color: c.colored(), Now: time.Now()})
	if err == nil && len(report.Errors) == 0 && !c.quiet && c.output == drift.Formats[0].Name {
		err = c.remark(noteOf(report), report.Summary())
	}
	return err
}

// comment prints one comment for a pull request.
func (s several) comment(v view) error {
	comment, errs := newMarkdownPrinter(v).comment, []error{}
	lists := make([][]diff.Section, len(s.found))
	for i, f := range s.found {
		if lists[i] = f.sections; f.broken(v.call) && len(f.sections) == 0 {
			whole := failedSection("the cluster", strings.Join(lines(f.failed, v.secretValues()), "; "))
			whole.Context = s.names[i]
			errs = append(errs, comment.Add(whole)) // first, so that there is room for it
		}
	}
	text := func(section diff.Section) string {
		var b strings.Builder
		one := diff.NewComment(diff.MarkdownOptions{Limit: math.MaxInt})
		errs = append(errs, one.Add(section), one.Write(&b))
		return timeless(b.String())
	}
	object := func(section diff.Section) string { return section.Object + " " + section.Doc.Name }
	for _, shared := range contexts.Group(lists, object, func(a, b diff.Section) bool { return text(a) == text(b) }) {
		section := shared.All[0]
		section.Context = contexts.Label(shared.In, s.names)
		errs = append(errs, comment.Add(section))
	}
	return errors.Join(append(errs, comment.Write(v.Out))...)
}
