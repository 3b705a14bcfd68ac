package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/wait"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// lines returns the errors joined in err, each as one line. A cause that many objects share is
// reported for the first, with a count of the others. Errors that only report other errors, or an
// interrupt, as their cause are counted at the end. Values of Secrets are blanked.
func lines(err error, secret *redact.Values) (out []string) {
	l := lister{secret: secret, at: map[string]int{}, waiting: map[run.Hindrance]int{}}
	for _, one := range leaves(err) {
		l.add(one)
	}
	out = each(l.groups, group.String)
	out = append(out, each(l.hindrances, func(h run.Hindrance) string { return h.Summary(l.waiting[h]) })...)
	if l.cut > 0 {
		out = append(out, objects(l.cut)+" not written: "+run.ErrInterrupted.Error())
	}
	if l.unpruned > 0 {
		out = append(out, objects(l.unpruned)+" not pruned: "+run.ErrInterrupted.Error())
	}
	if l.unmerged > 0 {
		out = append(out, objects(l.unmerged)+" not merged: "+run.ErrNotMerged.Error())
	}
	return out
}

func objects(n int) string { return diff.Count(n, "object was", "objects were") }

// group is a cause, and the objects that it concerns.
type group struct {
	text    string             // of the first
	objects []*run.ObjectError // nil: not about an object
}

// more counts the other objects that share a cause.
func more(n int) string {
	if n <= 0 {
		return ""
	}
	return " (and " + diff.Count(n, "more object", "more objects") + ")"
}

// String returns a cause with the other objects that share it: up to three by their names.
func (g group) String() string {
	others := g.objects[1:]
	if n := len(others); n == 0 || n > 3 || others[0] == nil {
		return g.text + more(n)
	}
	return g.text + " (and " + escape.Line(listed(each(others, func(o *run.ObjectError) string { return o.Target.String() }))) + ")"
}

// lister groups errors by their cause.
type lister struct {
	secret        *redact.Values
	groups        []group
	at            map[string]int // in groups, by cause
	hindrances    []run.Hindrance
	waiting       map[run.Hindrance]int
	cut, unmerged int
	unpruned      int
}

// add takes an error that joins no others.
func (l *lister) add(err error) {
	var object *run.ObjectError
	var reached *run.NotReached
	switch {
	case errors.As(err, &reached):
		if l.waiting[reached.Hindrance]++; l.waiting[reached.Hindrance] == 1 {
			l.hindrances = append(l.hindrances, reached.Hindrance)
		}
	case errors.Is(err, run.ErrNotMerged):
		l.unmerged++
	case errors.Is(err, run.ErrUnpruned):
		l.unpruned++
	case errors.Is(err, run.ErrInterrupted), errors.Is(err, context.Canceled):
		l.cut++
	case errors.As(err, &object) && !errors.Is(err, write.ErrUnknown) && !errors.As(err, new(*surplusError)) && !errors.As(err, new(*leftError)):
		l.group(object.Cause(), err, object)
	default:
		l.group("\x00"+strconv.Itoa(len(l.groups)), err, object) // of its own
	}
}

// group counts an error; object is nil if it is not about an object.
func (l *lister) group(cause string, err error, object *run.ObjectError) {
	i, ok := l.at[cause]
	if !ok {
		i = len(l.groups)
		l.at[cause] = i
		l.groups = append(l.groups, group{text: errorText(l.secret.Blank(err.Error())) + escape.Line(object.Place())})
	}
	l.groups[i].objects = append(l.groups[i].objects, object)
}

// leaves returns the errors joined in err, also within errors with an exit code.
func leaves(err error) []error {
	var end *exit
	switch {
	case err == nil:
		return nil
	case joined(err) != nil:
		return slices.Concat(each(joined(err), leaves)...)
	case errors.As(err, &end) && err == error(end):
		return leaves(end.Err)
	}
	if object, ok := errors.AsType[*run.ObjectError](err); ok && err == error(object) && joined(object.Err) != nil {
		return each(joined(object.Err), func(one error) error { return object.Of(one) })
	}
	return []error{err}
}

// joined returns the errors of errors.Join, whose text is a line for each; an error that wraps two
// in a text of its own is one.
func joined(err error) []error {
	many, ok := err.(interface{ Unwrap() []error })
	if !ok || err.Error() != errors.Join(many.Unwrap()...).Error() {
		return nil
	}
	return many.Unwrap()
}

// The kinds of notes for errors with --notes=json.
const (
	noteError   diff.NoteKind = "error"
	noteWarning diff.NoteKind = "warning"
	noteWaiting diff.NoteKind = "not-written" // because of other errors, or conflicts
)

// report prints the errors that a command ends with: for people with one line for each cause; for
// programs, which can group them themselves, every error of every object.
func (e *env) report(err error) {
	if !e.json {
		for _, line := range lines(err, e.secretValues()) {
			fmt.Fprintf(e.ErrOut, "error: %s\n", line)
		}
		return
	}
	for _, one := range leaves(err) {
		n := diff.Note{Kind: noteError}
		if guarded, ok := errors.AsType[*guardError](one); ok { // an error each
			for _, n := range guarded.found {
				n.Kind, n.Message = noteError, n.Message+": --guard=refuse: nothing was written"
				e.failure(n, one)
			}
			continue
		}
		object, ok := errors.AsType[*run.ObjectError](one)
		if ok {
			n.Object, n.Namespace = object.Target.String(), object.Target.Namespace
		}
		if reached, ok := errors.AsType[*run.NotReached](one); ok {
			n.Object, n.Namespace, n.Kind = reached.Target.String(), reached.Target.Namespace, noteWaiting
		}
		if late, ok := errors.AsType[*wait.NotReady](one); ok {
			n.Object, n.Namespace = late.Object.Target.String(), late.Object.Namespace
		}
		text := errorText(e.secretValues().Blank(one.Error()))
		n.Object = cmp.Or(n.Object, subject(text))
		text = strings.TrimPrefix(text, n.Object+": ") + escape.Line(object.Place())
		n.Message = strings.ReplaceAll(text, "\n", " ")
		e.failure(n, one)
	}
}

var (
	objectName = regexp.MustCompile(`^[a-z][a-z0-9]*(\.[a-z0-9.-]+)?/\S+$`)
	flagName   = regexp.MustCompile(`^--\S+( \S+)?$`)
	pathNamed  = regexp.MustCompile(`^(?:the (?:path|file) "([^"]+)"|(--\S+) (?:needs|cannot be combined with)) `)
)

// subject returns the subject of an error, which begins its text: an object (TYPE/NAME), a file, a
// folder or a flag. "" for others: the kubeconfig, the server, the command line.
func subject(text string) string {
	if m := pathNamed.FindStringSubmatch(text); m != nil {
		return m[1] + m[2]
	}
	name, rest, ok := strings.Cut(text, ": ")
	if !ok || name == "" {
		return ""
	}
	folder, _ := strings.CutPrefix(name, "folder ")
	_, err := os.Lstat(folder)
	switch {
	case objectName.MatchString(name), flagName.MatchString(name), strings.HasPrefix(rest, "no such file or directory"):
		return name
	case err == nil, slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(folder)):
		return folder
	}
	return ""
}

// held reports whether an error contains only conflicts, which keep other objects from being
// written.
func held(err error) bool {
	return !slices.ContainsFunc(leaves(err), func(one error) bool {
		reached, is := errors.AsType[*run.NotReached](one)
		return !is || !reached.Conflict
	})
}
