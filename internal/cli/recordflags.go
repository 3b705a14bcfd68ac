package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/record"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// recording has a run recorded, and undone if it fails.
type recording struct {
	*call
	journals []*record.Journal
	memory   *record.Memory // the record that --rollback-on-failure undoes
}

func (c *call) recorded() bool { return c.record != "" || c.rollback }

// check returns an error if the record's file exists.
func (f *recording) check() error {
	switch info, err := os.Lstat(f.record); {
	case f.record == "true" || f.record == "false" || f.record == "-": // of kubectl's flag of that name, and a stream
		return fmt.Errorf("--record=%s: names the FILE to record in, unlike kubectl's: leave it out, or name a file (--record=./%s is one)", f.record, f.record)
	case f.record != "" && err == nil && info.IsDir():
		return fmt.Errorf("--record: %s: is a folder: name a file in it", f.record)
	case f.record != "" && err == nil:
		return fmt.Errorf("--record: %s: is there already, and no record is written over: choose another name, or remove it", f.record)
	}
	return nil
}

// open starts the record of a session's run.
func (f *recording) open(ctx context.Context, s *session) error {
	if !f.recorded() {
		return nil
	}
	h, err := s.header(ctx, plandoc.Spelling{Salt: salt(), ShowSecrets: f.secrets, Record: true})
	if err != nil {
		return err
	}
	if f.record != "" {
		store, err := record.Create(f.record)
		if err == nil {
			err = f.begin(store, h)
		}
		if err != nil {
			return fmt.Errorf("--record: %w", err)
		}
	}
	if f.rollback {
		h.ShowSecrets, f.memory = true, &record.Memory{}
		if err := f.begin(f.memory, h); err != nil {
			return err
		}
	}
	s.Journal = f
	return nil
}

func (f *recording) begin(store record.Store, h plandoc.Header) error {
	j, err := record.Open(store, h)
	f.journals = append(f.journals, j)
	return err
}

// underWay reports that a rollback is in progress, which signals do not end.
func (f *recording) underWay() {
	text := "the run has been ended, and is rolling back what it has written: that is finished first"
	if f.record != "" {
		text += "; what cannot be rolled back is in the record: " + f.undoes()
	}
	f.env.note("", text) // answers a signal
}

// undoes returns the command that undoes the record.
func (f *recording) undoes() string { return "kubectl merge undo " + f.record }

// Begin implements run.Journal for all journals.
func (f *recording) Begin(item *run.Item, p apply.Planned) (func(map[string]any, error), error) {
	if f.memory != nil { // each write can be rolled back
		f.signals.hold(f.underWay)
	}
	var ends []func(map[string]any, error)
	for _, j := range f.journals {
		end, err := j.Begin(item, p)
		if err != nil {
			return nil, err
		}
		ends = append(ends, end)
	}
	return func(stored map[string]any, err error) {
		for _, end := range ends {
			end(stored, err)
		}
	}, nil
}

// close completes the record of a run, which has failed or not. The errors are of the record.
func (f *recording) close(s *session, failed bool) error {
	return errors.Join(each(f.journals, func(j *record.Journal) error {
		if err := j.Close(s.Plan, failed); !errors.Is(err, record.ErrNotRecorded) {
			return err
		}
		return nil // it was an error of the write
	})...)
}

// hidden reports the objects of which undo cannot restore a value.
func (f *recording) hidden() {
	if f.record == "" || len(f.journals) == 0 {
		return
	}
	if lost := f.journals[0].Lost(); len(lost) > 0 {
		const most = 3
		text := "undo cannot restore secret values of " + suggest.Few(lost, most) + ", which are hidden in the record: --show-secrets records them"
		f.plainReporter().note("Warning", diff.Note{Object: f.record, Kind: noteWarning, Message: escape.Line(text)})
	}
}

// end completes the record and, if the run has failed, undoes it if the user asked for that. The
// error is the run's, with its exit code.
func (f *recording) end(ctx context.Context, s *session, err error) (failure error) {
	if f.rollback {
		defer f.signals.release()
	}
	rolledBack := map[string]write.Outcome{}
	switch {
	case f.document == nil:
	case err == nil:
		err = f.document(nil) // if that fails, the run is rolled back, too
	default:
		defer func() { failure = errors.Join(failure, f.document(rolledBack)) }()
	}
	code := exitCode(err)
	f.hidden()
	if bad := f.close(s, err != nil); bad != nil {
		err = &exit{Code: max(code, failed), Err: errors.Join(err, bad)}
	}
	if f.memory == nil || code == done || !f.journals[len(f.journals)-1].Begun() {
		return err
	}
	doc, bad := plandoc.Parse("the record of this run", f.memory.Text)
	if bad == nil {
		o := options{policy: "live", manager: s.Write.FieldManager, concurrency: s.Concurrency, partial: true}
		if f.serverSide {
			o.manager = apply.DefaultManager // as of any undo: it writes from the client's side
		}
		u := undoing{call: &call{env: f.env, options: o, mode: dryNone}, doc: doc, rolledBack: rolledBack}
		bad = u.run(context.WithoutCancel(ctx)) // an interrupted run is undone, too
		if bad == nil && f.record != "" && !u.kept {
			f.note(f.record, "is removed: all that the run had written was rolled back") // its undo would undo a later run that writes the same
			bad = os.Remove(f.record)
		}
	}
	if left, ok := errors.AsType[*exit](bad); ok && left.Err == nil {
		bad = errors.New("what is left as it is is listed above")
	}
	if bad != nil {
		causes := slices.DeleteFunc(leaves(bad), func(err error) bool { return errors.As(err, new(*run.NotReached)) || errors.Is(err, run.ErrNotPruned) })
		causes = append(causes, bad)
		bad = fmt.Errorf("not all of it was rolled back: %w%s", causes[0], more(len(causes)-2))
		if f.record != "" {
			bad = fmt.Errorf("%w; the record has what is left: %s", bad, f.undoes())
		}
		return &exit{Code: exitCode(err), Err: errors.Join(err, &leftError{bad})}
	}
	return err
}

// leftError reports what a rollback has left. It is no part of the run's error, even if it has the same cause.
type leftError struct{ error }

// Unwrap returns the cause.
func (e *leftError) Unwrap() error { return e.error }
