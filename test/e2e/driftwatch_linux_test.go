package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// TestDriftWatched edits objects a hundred times a second while drift watches them, and
// kills and restarts the server meanwhile. The events, applied to the first report, have to
// give the last one, and the last one has to equal a new comparison: nothing was missed.
// Memory must not grow. With -soak=8 that lasts some ten minutes.
func TestDriftWatched(t *testing.T) {
	s := fragile.need(t)
	edits, restarts := 1000, 1
	if *soak > 1 {
		edits, restarts = *soak*7500, *soak/2
	}
	u := s.user(t, "watched")
	const maps, secrets = 40, 5
	text := many(maps, "1")
	for i := range secrets {
		text += fmt.Sprintf("---\n{apiVersion: v1, kind: Secret, metadata: {name: s%d}, stringData: {k: hidden}}\n", i)
	}
	u.file("all.yaml", text)
	u.merges("-f", "all.yaml")
	w := watchDrift(u, "all.yaml")
	<-w.begun
	e := newEditor(t, u, maps, secrets)
	for i := range restarts + 1 {
		e.edit(edits / (restarts + 1))
		if i < restarts {
			s.order(t, "kill")
			u.awaits(func() bool { return w.noted("trying again") > i })
			e.edit(100)
			s.order(t, "start")
			u.awaits(func() bool { return w.noted("answers again") > i })
		}
	}
	e.mark()
	u.awaits(func() bool { return w.marked() == maps+secrets })
	got := w.interrupt(t)
	if got.code != 1 || w.last == nil {
		t.Fatalf("want the report of the end, and exit code 1: %s", got)
	}
	var now watchedReport
	if err := json.Unmarshal([]byte(u.tries("kubectl-merge", "drift", "-f", "all.yaml", "-o", "json").stdout), &now); err != nil {
		t.Fatal(err)
	}
	sameRows(t, "the events and the last report", w.rows, w.last.index())
	sameRows(t, "the last report and a new comparison", w.last.index(), now.index())
	if w.noted("trying again") != restarts || w.noted("answers again") != restarts {
		t.Errorf("want two notes for each of %d restarts:\n%s", restarts, got.stderr)
	}
	w.flat(t)
	t.Logf("%d edits, %d failed, %d events, %d rows at the end, %d restarts; at most %d MB, %d at first and %d at last", e.done.Load(), e.failed.Load(), w.events, len(now.Rows), restarts, slices.Max(w.memory), w.memory[0], w.memory[len(w.memory)-1])
}

// watchedRow is a row of a report, watchedReport a report or an event.
type watchedRow struct{ Object, Drift, Path, Manager, Live string }

type watchedReport struct {
	Kind, Event string
	Rows        []json.RawMessage
	Row         json.RawMessage
}

func (r *watchedReport) index() map[string]watchedRow {
	out := map[string]watchedRow{}
	for _, raw := range r.Rows {
		row := readRow(raw)
		out[row.Object+" "+row.Path] = row
	}
	return out
}

func readRow(raw json.RawMessage) watchedRow {
	var row struct {
		Object, Drift, Path, Manager string
		Live                         any
	}
	_ = json.Unmarshal(raw, &row) // what is no row is none that is wanted
	return watchedRow{row.Object, row.Drift, row.Path, row.Manager, fmt.Sprint(row.Live)}
}

func sameRows(t *testing.T, what string, a, b map[string]watchedRow) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if a[key] != b[key] {
			t.Errorf("%s: %s: %+v and %+v", what, key, a[key], b[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if _, both := a[key]; !both {
			t.Errorf("%s: %s: only in the second: %+v", what, key, b[key])
		}
	}
}

// driftWatch is a drift --watch that runs, and what its events have come to.
type driftWatch struct {
	cmd    *exec.Cmd
	stderr screen
	begun  chan struct{}
	ended  chan struct{}
	memory []int // resident MB, once a second

	mu     sync.Mutex
	rows   map[string]watchedRow
	last   *watchedReport // after the first
	events int
}

func watchDrift(u *user, file string) *driftWatch {
	w := &driftWatch{stderr: screen{grown: make(chan struct{}, 1)}, cmd: u.command(u.t.Context(), "kubectl-merge", "drift", "-f", file, "--watch", "-o", "json"), begun: make(chan struct{}), ended: make(chan struct{})}
	w.cmd.Stderr = &w.stderr
	out, err := w.cmd.StdoutPipe()
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		u.t.Fatal(err)
	}
	go func() {
		defer close(w.ended)
		lines := bufio.NewScanner(out)
		for lines.Buffer(nil, 16<<20); lines.Scan(); {
			w.read(lines.Bytes())
		}
	}()
	go w.weigh()
	return w
}

func (w *driftWatch) read(line []byte) {
	var r watchedReport
	if json.Unmarshal(bytes.Clone(line), &r) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	row := readRow(r.Row)
	switch key := row.Object + " " + row.Path; {
	case r.Kind == "DriftReport" && w.rows == nil:
		w.rows = r.index()
		close(w.begun)
	case r.Kind == "DriftReport":
		w.last = &r
	case r.Event == "ended":
		delete(w.rows, key)
		w.events++
	default:
		w.rows[key] = row
		w.events++
	}
}

// weigh notes the resident memory until the watch ends.
func (w *driftWatch) weigh() {
	for tick := time.NewTicker(time.Second); ; {
		select {
		case <-w.ended:
			return
		case <-tick.C:
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", w.cmd.Process.Pid))
			var size, resident int
			if _, err := fmt.Sscan(string(text), &size, &resident); err == nil {
				w.memory = append(w.memory, resident*os.Getpagesize()>>20)
			}
		}
	}
}

// flat: the last quarter takes no more than the first half did.
func (w *driftWatch) flat(t *testing.T) {
	t.Helper()
	if n := len(w.memory); n >= 8 {
		early, late := slices.Max(w.memory[:n/2]), slices.Max(w.memory[n-n/4:])
		if late > early*3/2+16 {
			t.Errorf("memory grows: %d MB in the first half, %d in the last quarter", early, late)
		}
	}
}

// noted counts a note on standard error.
func (w *driftWatch) noted(note string) int { return strings.Count(w.stderr.text(), note) }

// marked counts the objects whose last edit was reported.
func (w *driftWatch) marked() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.rows {
		if r.Path == "metadata.labels.end" {
			n++
		}
	}
	return n
}

// interrupt is Ctrl-C.
func (w *driftWatch) interrupt(t *testing.T) said {
	t.Helper()
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-w.ended
	var exit *exec.ExitError
	if err := w.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return said{line: "drift --watch", code: w.cmd.ProcessState.ExitCode(), stderr: w.stderr.text()}
}

// editor edits objects a hundred times a second.
type editor struct {
	t            *testing.T
	maps         corev1.ConfigMapInterface
	secrets      corev1.SecretInterface
	nMaps, nSecs int
	done, failed atomic.Int64
}

func newEditor(t *testing.T, u *user, maps, secrets int) *editor {
	t.Helper()
	config := rest.CopyConfig(u.server.config)
	config.QPS, config.Burst, config.Timeout = 1000, 1000, 10*time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &editor{t: t, maps: client.CoreV1().ConfigMaps(u.ns), secrets: client.CoreV1().Secrets(u.ns), nMaps: maps, nSecs: secrets}
}

// edit makes n edits, by several at once who begin an edit each ten milliseconds.
func (e *editor) edit(n int) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var group sync.WaitGroup
	var begun atomic.Int64
	for range 8 {
		group.Go(func() {
			for begun.Add(1) <= int64(n) {
				<-tick.C
				if err := e.one(); err != nil {
					e.failed.Add(1)
				} else {
					e.done.Add(1)
				}
			}
		})
	}
	group.Wait()
}

// edits are patches: of drift of all kinds, and of its end.
var edits = []string{`{"data":{"version":"2"}}`, `{"data":{"version":"3"}}`, `{"data":{"version":"1"}}`, `{"data":{"only-1":null}}`, `{"data":{"only-1":"x"}}`, `{"data":{"more":"x"}}`, `{"data":{"more":null}}`}

func (e *editor) one() (err error) {
	ctx := e.t.Context()
	name := fmt.Sprintf("m%d", rand.IntN(e.nMaps))
	switch rand.IntN(12) {
	case 0:
		err = e.maps.Delete(ctx, name, metav1.DeleteOptions{})
	case 1:
		_, err = e.secrets.Patch(ctx, fmt.Sprintf("s%d", rand.IntN(e.nSecs)), types.MergePatchType, []byte([]string{`{"data":{"k":"eA=="}}`, `{"data":{"k":"aGlkZGVu"}}`}[rand.IntN(2)]), metav1.PatchOptions{})
	default:
		_, err = e.maps.Patch(ctx, name, types.MergePatchType, []byte(edits[rand.IntN(len(edits))]), metav1.PatchOptions{FieldManager: "rival"})
	}
	if err != nil && rand.IntN(2) == 0 { // it may be one that was deleted
		err = e.create(name)
	}
	return err
}

func (e *editor) create(name string) error {
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"version":"1","only-1":"x"}}`, name)
	_, err := e.maps.Patch(e.t.Context(), name, types.ApplyPatchType, []byte(text), metav1.PatchOptions{FieldManager: "rival"})
	return err
}

// mark gives every object a label, by which its last state is known.
func (e *editor) mark() {
	e.t.Helper()
	label := []byte(`{"metadata":{"labels":{"end":"yes"}}}`)
	for i := range e.nMaps {
		name := fmt.Sprintf("m%d", i)
		_, err := e.maps.Patch(e.t.Context(), name, types.MergePatchType, label, metav1.PatchOptions{FieldManager: "rival"})
		if apierrors.IsNotFound(err) {
			if err = e.create(name); err == nil {
				_, err = e.maps.Patch(e.t.Context(), name, types.MergePatchType, label, metav1.PatchOptions{FieldManager: "rival"})
			}
		}
		if err != nil {
			e.t.Fatal(err)
		}
	}
	for i := range e.nSecs {
		if _, err := e.secrets.Patch(e.t.Context(), fmt.Sprintf("s%d", i), types.MergePatchType, label, metav1.PatchOptions{FieldManager: "rival"}); err != nil {
			e.t.Fatal(err)
		}
	}
}
