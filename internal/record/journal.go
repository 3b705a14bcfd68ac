// Package record writes the steps of a run as they happen, as a document for undo. It refuses to
// decide what is written to the cluster.
//
// Rules: docs/plan.md#records.
package record

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// ErrNotRecorded is the error of a write that was not begun because it could not be recorded.
var ErrNotRecorded = errors.New("the record cannot be written")

// Store holds a journal. Appended text is stored when Append returns, even if the process is killed
// at once.
type Store interface {
	io.ReaderAt
	Append(text []byte) error
	// Replace replaces the appended text by the one that write writes.
	Replace(write func(io.Writer) error) error
	// Remove removes all of it.
	Remove() error
}

// Journal is a run.Journal. Every write is entered before it is sent. When its outcome is known, a
// second entry replaces the first. When the run ends, only entries of executed, or possibly
// executed, writes are left.
type Journal struct {
	store  Store
	header plandoc.Header

	mu      sync.Mutex
	end     int64
	entries map[*run.Item][]entry // several if it is unknown whether an earlier write was executed
	err     error                 // of the store: nothing is written after it
	lost    []string              // objects of which a value cannot be restored
}

// entry is one write.
type entry struct {
	at, size int64
	action   apply.Action
	written  bool // it was, or may have been, executed
}

// Open begins a journal. The header is stored before it returns. The error is the store's, or
// that of a header that cannot be encoded.
func Open(store Store, h plandoc.Header) (*Journal, error) {
	h.Record = true
	j := &Journal{store: store, header: h, entries: map[*run.Item][]entry{}}
	h.Unfinished = true // until Close
	text, err := h.Encode()
	if err != nil {
		return nil, err
	}
	return j, j.append(append(text, "objects:\n"...))
}

func (j *Journal) append(text []byte) error {
	if j.err == nil {
		j.err = j.store.Append(text)
		j.end += int64(len(text))
	}
	if j.err != nil {
		return fmt.Errorf("%w: %w", ErrNotRecorded, j.err)
	}
	return nil
}

// Begin enters a write that is about to be sent. If that fails, it must not be sent. The returned
// function enters its outcome: the object that the server has stored, nil for none, or the error.
func (j *Journal) Begin(item *run.Item, p apply.Planned) (func(stored map[string]any, err error), error) {
	sub := Subject(item, p)
	doc, held := j.header.Item(sub), ownership.Others(p.Live, "")
	if p.Sensitive != nil && !j.header.ShowSecrets {
		held = nil // members of a set that may be secret are among the fields
	}
	doc.ManagedFields, doc.Outcome = held, plandoc.Begun
	n, err := j.enter(item, doc, -1)
	if err != nil {
		return nil, err
	}
	return func(stored map[string]any, err error) {
		switch {
		case err != nil && cluster.Uncertain(err):
			return // the earlier entry is correct
		case err != nil:
			doc.Outcome = plandoc.Refused
		default:
			if sub.Action == apply.Change && p.Final != nil {
				sub.Planned.Live = j.since(p, stored)
			}
			if sub.Stored = stored; sub.Action != apply.Delete {
				doc = j.header.Item(sub)
				doc.ManagedFields, doc.Written = held, plandoc.Written{UID: object.UID(stored), ResourceVersion: object.Object{Value: stored}.ResourceVersion(), AppliedBy: appliers(p, stored)}
			}
			doc.Outcome = plandoc.Done
		}
		_, _ = j.enter(item, doc, n) // it fails the next write, and Close
	}, nil
}

// appliers returns the managers that own, by server-side apply, what a write has stored.
func appliers(p apply.Planned, stored map[string]any) []string {
	entries := ownership.Others(stored, "")
	if p.Action == apply.Change {
		entries, _ = ownership.Divide(entries, p.Changes)
	}
	entries = slices.DeleteFunc(entries, func(e any) bool { return merge.At[string](e, "operation") != "Apply" })
	return object.Each(entries, func(e any) string { return merge.At[string](e, "manager") })
}

// since returns the object before a write, with what others have changed until it was done: a write that is
// bound to some values only, or to none, keeps that.
func (j *Journal) since(p apply.Planned, stored map[string]any) map[string]any {
	owners, ours := ownership.Of(stored), []string{j.header.Manager, ownership.AnnotationManager}
	theirs := slices.DeleteFunc(merge.Diff(p.Final, stored, p.Type), func(c merge.Change) bool {
		by := ownership.At(owners, c.Path)
		return len(by) == 0 || slices.ContainsFunc(by, func(o merge.Owner) bool { return slices.Contains(ours, o.Manager) })
	})
	if live, err := merge.Replay(p.Live, theirs); err == nil {
		return merge.At[map[string]any](live)
	}
	return p.Live
}

// enter adds an entry, or replaces the nth about the item, from 0.
func (j *Journal) enter(item *run.Item, doc plandoc.Item, n int) (int, error) {
	text, err := doc.Encode()
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		j.err = errors.Join(j.err, err)
	}
	e := entry{at: j.end, size: int64(len(text)), action: doc.Action, written: doc.Outcome != plandoc.Refused}
	if err := j.append(append(text, plandoc.End...)); err != nil {
		return n, err
	}
	if n < 0 {
		n = len(j.entries[item])
		if n == 0 && doc.Lost() {
			j.lost = append(j.lost, item.Target.String())
		}
		j.entries[item] = append(j.entries[item], e)
	}
	j.entries[item][n] = e
	return n, nil
}

// Begun reports whether something was written, or may have been: what the server has refused was not.
func (j *Journal) Begun() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.wrote()
}

func (j *Journal) wrote() bool {
	all := slices.Concat(slices.Collect(maps.Values(j.entries))...)
	return slices.ContainsFunc(all, func(e entry) bool { return e.written })
}

// Lost returns the objects of which a value cannot be restored, since its former value is hidden;
// nil if there are none.
func (j *Journal) Lost() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lost
}

// Close leaves one entry for each object that was, or may have been, written, in the order
// of the run. A record of a run that has failed, and has written nothing, is removed.
func (j *Journal) Close(p *run.Plan, failed bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return fmt.Errorf("%w: %w", ErrNotRecorded, j.err)
	}
	if failed && !j.wrote() {
		return j.store.Remove()
	}
	err := j.store.Replace(func(w io.Writer) error { return j.compact(w, p) })
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotRecorded, err)
	}
	return nil
}

func (j *Journal) compact(w io.Writer, p *run.Plan) error {
	out, err := plandoc.NewWriter(w, j.header)
	for _, item := range slices.Concat(p.Items, p.Others) {
		for _, e := range j.entries[item] {
			if err != nil || !e.written {
				continue
			}
			text := make([]byte, e.size)
			if _, err = j.store.ReadAt(text, e.at); err == nil {
				out.Count(e.action)
				err = out.Raw(text)
			}
		}
		if j.entries[item] == nil && item.Action() == apply.Nothing && out != nil {
			out.Unchanged()
		}
	}
	if err == nil {
		err = out.Close()
	}
	return err
}

// Subject returns an item of a run in the form of documents, with a merge plan of it.
func Subject(item *run.Item, p apply.Planned) plandoc.Subject {
	sub := plandoc.Subject{Action: item.ActionOf(p), Identity: Identity(item), Planned: p, Impact: item.Foreseen().String()}
	if item.Surplus != nil {
		sub.Reason = item.Reason()
		sub.Planned.HasStatus = item.Target.Status
	}
	return sub
}

// Identity returns the item's object as documents name it.
func Identity(item *run.Item) plandoc.Identity {
	t := item.Target
	return plandoc.Identity{APIVersion: t.GroupVersion(), Kind: t.Kind, Namespace: t.Namespace, Name: t.Name}
}

// File is a Store in a file.
type File struct{ *os.File }

// Create makes the file, which only the user can read. It is an error if the file exists: a record
// is never overwritten.
func Create(name string) (*File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return nil, fmt.Errorf("%s: is there already, and no record is written over: choose another name, or remove it", name)
	}
	switch {
	case os.IsNotExist(err):
		return nil, fmt.Errorf("%s: its folder does not exist: create it first, or choose another name", name)
	case err != nil:
		return nil, fmt.Errorf("%w: choose a name where a file can be written", err)
	}
	return &File{f}, nil
}

// Append writes text and syncs it to disk. The error is that of the file.
func (f *File) Append(text []byte) error {
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}

// Replace writes another file and renames it to this one. The error is write's or that of the file,
// which is then unchanged, unless only its renaming failed.
func (f *File) Replace(write func(io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(f.Name()), ".record-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails if it was renamed
	b := bufio.NewWriter(tmp)
	if err := cmp.Or(write(b), b.Flush(), tmp.Sync(), tmp.Close()); err != nil { // each is done, also after an error
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), f.Name())
}

// Remove removes the file. The error is that of the file.
func (f *File) Remove() error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Remove(f.Name())
}

// Memory is a Store in memory.
type Memory struct{ Text []byte }

// Append adds text. It never fails.
func (m *Memory) Append(text []byte) error {
	m.Text = append(m.Text, text...)
	return nil
}

// ReadAt reads what was appended. The error is io.EOF after the end.
func (m *Memory) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(m.Text).ReadAt(p, at)
}

// Replace is like File's. On an error, which is write's, the text is unchanged.
func (m *Memory) Replace(write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	m.Text = b.Bytes()
	return nil
}

// Remove removes all. It never fails.
func (m *Memory) Remove() error {
	m.Text = nil
	return nil
}
