package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/record"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
)

// recordFlags have a run recorded, and undone if it fails.
type recordFlags struct {
	file     string
	rollback bool

	journals []*record.Journal
	memory   *record.Memory // the record that --rollback-on-failure undoes
	hold     func()         // called before each write that can be rolled back
}

func (f *recordFlags) add(flags *pflag.FlagSet) {
	f.addFile(flags)
	flags.BoolVar(&f.rollback, "rollback-on-failure", false, "if the run fails, or with --wait does not become ready, undo what it has written")
}

// addFile adds the flag that names a file.
func (f *recordFlags) addFile(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "record", "", "FILE to record in what was written, for kubectl merge undo; it must not exist")
}

func (f *recordFlags) given() bool { return f.file != "" || f.rollback }

// check returns an error for invalid flags of a run that writes as mode asks.
func (f *recordFlags) check(mode dryRun) error {
	switch {
	case !f.given():
		return nil
	case mode != dryNone:
		return errors.New("--record and --rollback-on-failure: nothing is written, so that there is nothing to record: leave them out, or what makes it a preview")
	case f.file == "":
		return nil
	}
	if _, err := os.Lstat(f.file); err == nil {
		return fmt.Errorf("--record: %s: is there already, and no record is written over: choose another name, or remove it", f.file)
	}
	return nil
}

// open starts the record of a session's run.
func (f *recordFlags) open(ctx context.Context, e *env, s *session, secrets bool) error {
	if !f.given() {
		return nil
	}
	h, err := s.header(ctx, plandoc.Spelling{Salt: salt(), ShowSecrets: secrets, Record: true})
	if err != nil {
		return err
	}
	if f.file != "" {
		store, err := record.Create(f.file)
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
		f.hold = func() { e.signals.hold(f.underWay(e)) }
	}
	s.Journal = f
	return nil
}

func (f *recordFlags) begin(store record.Store, h plandoc.Header) error {
	j, err := record.Open(store, h)
	f.journals = append(f.journals, j)
	return err
}

// underWay reports that a rollback is in progress, which signals do not end.
func (f *recordFlags) underWay(e *env) func() {
	text := "the run has been ended, and is rolling back what it has written: that is finished first"
	if f.file != "" {
		text += "; what cannot be rolled back is in the record: " + f.undoes()
	}
	return func() { e.note("", text) }
}

// undoes returns the command that undoes the record.
func (f *recordFlags) undoes() string { return "kubectl merge undo " + f.file }

// Begin implements run.Journal for all journals.
func (f *recordFlags) Begin(item *run.Item, p apply.Planned) (func(map[string]any, error), error) {
	if f.hold != nil {
		f.hold()
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

// close completes the record of a run that has ended with err.
func (f *recordFlags) close(s *session, err error) error {
	errs := []error{err}
	for _, j := range f.journals {
		if bad := j.Close(s.Plan, err != nil); bad != nil && !errors.Is(err, record.ErrNotRecorded) {
			errs = append(errs, bad)
		}
	}
	return errors.Join(errs...)
}

// hidden reports the objects of which undo cannot restore a value.
func (f *recordFlags) hidden(e *env) {
	if f.file == "" || len(f.journals) == 0 {
		return
	}
	if lost := f.journals[0].Lost(); len(lost) > 0 {
		const most = 3
		more := ""
		if n := len(lost) - most; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		e.note(f.file, "undo cannot restore secret values of "+strings.Join(lost[:min(len(lost), most)], ", ")+more+", which are hidden in the record: --show-secrets records them")
	}
}

// end completes the record and, if the run has failed, undoes it if the user asked for that. The
// error is the run's, with its exit code.
func (f *recordFlags) end(ctx context.Context, e *env, s *session, err error) error {
	if f.rollback {
		defer e.signals.release()
	}
	code := exitCode(err)
	f.hidden(e)
	if closed := f.close(s, err); closed != nil {
		err = &exit{Code: max(code, failed), Err: closed}
	}
	if f.memory == nil || code == done || !f.journals[len(f.journals)-1].Begun() {
		return err
	}
	doc, bad := plandoc.Parse("the record of this run", f.memory.Text())
	if bad == nil {
		u := undoing{env: e, doc: doc, policy: "live", manager: s.Write.FieldManager, concurrency: s.Concurrency, rollback: true, partial: true}
		u.dryRun.text = string(dryNone)
		bad = u.run(context.WithoutCancel(ctx)) // an interrupted run is undone, too
	}
	var left *exit
	if errors.As(bad, &left) && left.Err == nil {
		bad = errors.New("what is left as it is is listed above")
	}
	if bad != nil {
		bad = fmt.Errorf("not all of it was rolled back: %w", bad)
		if f.file != "" {
			bad = fmt.Errorf("%w; the record has what is left: %s", bad, f.undoes())
		}
		return &exit{Code: exitCode(err), Err: errors.Join(err, bad)}
	}
	return err
}
