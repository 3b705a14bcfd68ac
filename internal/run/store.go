package run

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Needs states which parts of the items have to be kept until the run ends. Of an object whose
// merge has something to report, all sides are kept.
type Needs uint8

// The levels of need.
const (
	Everything Needs = iota // local, live and result
	Changes                 // the same, of objects that a merge changes
	Outcomes                // the outcome of each, and its request until it is sent
)

// largeFrom is the number of items from which on a plan to be shown is compressed until its turn.
// Whole it takes some 70 KB, its two sides as text 5 or less. Fewer items stay whole, since merging
// them anew takes time.
const largeFrom = 200

// stored holds the kept parts of an item until its turn. An item is a recipe, its Object and its
// Target: all other parts can be computed again.
type stored struct {
	form
	live    []byte         // compressed JSON, in the form of that name, followed by a line with the patch of kept; nil if there is no live object
	kept    *apply.Kept    // the plan's results, in that form; nil: it is merged anew
	request *apply.Request // the request to send, in the form prepared
}

// form states which parts of an item are stored.
type form uint8

const (
	whole      form = iota // its plan
	prepared               // the plan's request, and the notes to report
	compressed             // its action; the plan is computed again from both sides and kept
	restored               // its plan, which was compressed, until it is reported
	rendered               // its printed form
)

// store evicts the parts of a merged item that no later step needs.
func (p *Plan) store(item *Item) error {
	planned := item.Planned
	switch {
	case planned.Final == nil: // it was, and is not merged anew
		return nil
	case p.Recreate.allows(item.Target.Resource) && planned.Action == apply.Change: // a recreated object is computed from both sides
	case p.Needs == Outcomes && !compared(planned) && !notable(planned) && !item.consulted(),
		p.Needs == Changes && planned.Action == apply.Nothing && !notable(planned) && !item.consulted():
		return item.prepare()
	case p.large && len(planned.Conflicts) == 0 && !item.consulted(): // conflicts are reported twice, see release
		p.compress(item)
		return nil
	}
	item.Own()
	item.Object, item.stored = planned.Subject.Object, stored{}
	return nil
}

// consulted reports whether other objects may wait for the item: its old and new values show whether they have to.
func (i *Item) consulted() bool {
	r := i.Target.Resource
	return isNamespace(r) || isCRD(r) || r.Group == "admissionregistration.k8s.io" && strings.HasSuffix(r.Kind, "WebhookConfiguration")
}

// notable reports whether the sides are needed: for a note on values, a conflict, or an object that
// is being deleted.
func notable(p apply.Planned) bool {
	return apply.Deleting(p.Live) != nil || len(p.Conflicts)+len(p.Settled)+len(p.Removed)+len(p.Undecided)+len(p.Extras) > 0
}

// compared reports whether the server's result is compared with the plan.
func compared(p apply.Planned) bool { return p.Applying != nil && p.Action != apply.Nothing }

// prepare stores the request of an item in place of its sides, which take far more memory.
func (i *Item) prepare() error {
	i.Own()
	p := &i.Planned
	r, err := p.Request(false)
	if err != nil {
		return fmt.Errorf("%s: %w", i.Target, err)
	}
	r.Body = bytes.Clone(r.Body)         // without spare capacity
	r.Version = strings.Clone(r.Version) // otherwise it keeps the server's whole answer in memory
	i.stored = stored{form: prepared, request: &r}
	i.Object = i.Object.Packed()
	p.Subject.Object = i.Object
	p.Live, p.Final = nil, nil
	if len(r.Body) == 0 { // otherwise the answer is compared with the request
		p.Type = nil
	}
	p.Result, p.Changes, p.Because = nil, nil, nil
	i.share()
	return nil
}

// compress replaces the plan, except its action, by the compressed live object and the plan's
// results.
func (p *Plan) compress(i *Item) {
	if p.render(i) {
		return
	}
	s := stored{form: compressed}
	if p.Plans == nil {
		s.kept = p.Planner.Keep(i.Planned)
	}
	if live := i.Planned.Live; live != nil {
		text, _ := object.Encode(live) // as it was read, it is JSON
		if s.kept != nil {             // most of it is in live, too
			text, s.kept.Patch = append(text, s.kept.Patch...), nil
		}
		s.live = compress(text)
	}
	i.Own()
	i.stored = s
	i.evict()
}

// render stores the printed form of an item in place of its plan. It returns false if that is not
// possible yet.
func (p *Plan) render(i *Item) bool {
	if p.Render == nil {
		return false
	}
	i.Result = unsent(i)
	made := p.Render(i)
	if made == nil {
		i.Result = write.Result{}
		return false
	}
	problems := i.Planned.Problems
	i.Rendered, i.stored = made, stored{form: rendered}
	i.evict()
	if len(problems) > 0 {
		i.Own()
		i.Planned.Problems, i.Result.Planned.Problems = problems, problems
	}
	return true
}

// evict reduces the item's plan and result to its outcome.
func (i *Item) evict() {
	i.Object = i.Object.Packed()
	if i.shared() {
		return
	}
	i.Planned = apply.Planned{Subject: apply.Subject{Object: i.Object, Name: i.Planned.Name}, Action: i.Planned.Action}
	i.Result.Planned, i.Result.Object, i.stored.request = i.Planned, nil, nil
	i.share()
}

// restore computes the plan of a compressed item again, from the same parts. It was checked before.
func (p *Plan) restore(ctx context.Context, item *Item) {
	if item.Err != nil || item.stored.form != compressed {
		return
	}
	var obj map[string]any
	if item.stored.live != nil {
		text, err := decompress(item.stored.live)
		var v any
		if err == nil {
			var patch []byte
			if text, patch, _ = bytes.Cut(text, []byte("\n")); item.stored.kept != nil {
				item.stored.kept.Patch = patch
			}
			v, err = merge.ReadJSON(text)
		}
		if err != nil {
			item.Err = fmt.Errorf("%s: cannot be read again: %w", item.Target, err)
			return
		}
		obj, _ = v.(map[string]any)
	}
	item.Own()
	if item.Planned, item.Err = p.again(ctx, item, obj); item.Err == nil {
		item.stored = stored{form: restored}
	}
}

// again returns the plan of a compressed item, from its kept results if they suffice.
func (p *Plan) again(ctx context.Context, item *Item, obj map[string]any) (apply.Planned, error) {
	if item.stored.kept == nil {
		return p.merged(ctx, item, obj)
	}
	s, err := item.subject()
	if err != nil {
		return apply.Planned{}, err
	}
	return item.stored.kept.Plan(s, obj)
}

// result returns the needed parts of an item's result.
func (p *Plan) result(r write.Result) write.Result {
	if p.Needs == Outcomes {
		r.Object = nil
	}
	return r
}

// release evicts the parts that only the report of an item needed. A conflict is reported once more
// at the end.
func (p *Plan) release(item *Item) {
	waited := item.stored.form == compressed || item.stored.form == restored
	if (p.Needs == Outcomes || waited) && !item.consulted() && len(item.Result.Planned.Conflicts) == 0 {
		item.evict()
	}
}

// compressors are reused: one takes a megabyte, and a sync.Pool would give it to the garbage
// collector again and again.
var compressors = make(chan *flate.Writer, runtime.GOMAXPROCS(0))

// compressor returns one of them, or a new one if all are in use.
func compressor() *flate.Writer {
	select {
	case w := <-compressors:
		return w
	default:
		w, _ := flate.NewWriter(nil, flate.BestSpeed) // its one error is an unknown level
		return w
	}
}

// release returns a compressor for reuse, unless there are enough.
func release(w *flate.Writer) {
	select {
	case compressors <- w:
	default:
	}
}

// compress makes a text small: an object with its managedFields to a third.
func compress(text []byte) []byte {
	w := compressor()
	defer release(w)
	b := bytes.NewBuffer(make([]byte, 0, len(text)/2))
	w.Reset(b)
	_, _ = w.Write(text) // no write to b fails
	_ = w.Close()
	return bytes.Clone(b.Bytes()) // without the buffer's spare capacity
}

var decompressors = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// decompress returns the text that was compressed.
func decompress(small []byte) ([]byte, error) {
	r := decompressors.Get().(io.ReadCloser)
	defer decompressors.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(small), nil); err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
