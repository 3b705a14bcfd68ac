package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// killing is a namespace in which runs change, create, delete and recreate objects, and are
// killed.
type killing struct{ *pruned }

// killedArgs are those of each run.
var killedArgs = append([]string{"--recreate=ConfigMap", "--concurrency=1"}, prunedArgs...)

// newKilling makes the namespace, the state v1.yaml and its successor v2.yaml.
func newKilling(t *testing.T, counts *tally) killing {
	k := killing{newPruned(t, server.need(t), counts)}
	fixed := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: fixed}\nimmutable: true\ndata: {version: \"%d\"}\n"
	for n, refs := range [][]string{{"configmap/a", "configmap/b", "serviceaccount/r"}, {"configmap/a", "configmap/c", "serviceaccount/s"}} {
		file := fmt.Sprintf("v%d.yaml", n+1)
		k.manifest(file, refs, n+1)
		text, err := os.ReadFile(filepath.Join(k.dir, file))
		k.must(err)
		k.file(file, string(text)+fmt.Sprintf(fixed, n+1))
	}
	k.does("kubectl", "create", "configmap", "theirs")
	k.carries("v1.yaml")
	k.does("kubectl", "label", "configmap", "fixed", "team=payments", "--field-manager=ops")
	return k
}

// carries plays a run to its end.
func (k killing) carries(file string, more ...string) {
	k.t.Helper()
	k.does("kubectl-merge", append(append([]string{"-f", file}, killedArgs...), more...)...)
}

// each calls play for every request of a command, with a kill before and after the server has
// heard of it, until the command ends before it is killed. Without -soak it is one of the two, in
// turns.
func (k killing) each(play func(where, record string, kill func(args ...string))) {
	for n, more := 0, true; more; n++ {
		for _, after := range []bool{false, true} {
			if *soak == 1 && after != (n%2 == 1) {
				continue
			}
			where, record := fmt.Sprintf("killed at request %d (after it: %t)", n, after), fmt.Sprintf("%d-%t.yaml", n, after)
			play(where, record, func(args ...string) {
				if more = k.killedAt(n, after, args...); more {
					k.counts.add("kills", 1)
				}
			})
			k.does("kubectl-merge", "applyset", "verify", "shop", "--fix")
		}
	}
}

// recorded reports whether there is a record.
func (k killing) recorded(file string) bool {
	_, err := os.Stat(filepath.Join(k.dir, file))
	return err == nil
}

// is checks that all is as it was at a time.
func (k killing) is(where string, then map[string]string) {
	k.t.Helper()
	if now := k.contents(); !maps.Equal(then, now) {
		k.t.Fatalf("%s: %s", where, differences(then, now))
	}
}

// undone undoes a record, though an undo that was killed has deleted an object to create it again:
// that is reported, with the way out.
func (k killing) undone(record string) {
	k.t.Helper()
	got := k.tries("kubectl-merge", "undo", record)
	switch {
	case got.code == 0:
		k.counts.add("undone again", 1)
	case got.code == 3 && strings.Contains(got.stderr, "configmap/fixed: is left as it is: was deleted since, by others or by an undo that was killed: --policy=apply creates it as it was before the run"):
		k.does("kubectl-merge", "undo", record, "--policy=apply")
		k.counts.add("undone again, by --policy=apply", 1)
	default:
		k.t.Fatal(got)
	}
}

// TestUndoKilled kills an undo between every two requests. Undoing the same record again
// finishes it, with --policy=apply where an object is gone that was to be created again; and
// undoing the record of the undo itself restores what the run had written.
func TestUndoKilled(t *testing.T) {
	for _, again := range []bool{true, false} {
		t.Run(fmt.Sprintf("again=%t", again), func(t *testing.T) {
			t.Parallel()
			counts := &tally{counts: map[string]int{}}
			t.Cleanup(func() { t.Logf("%s", counts) })
			k := newKilling(t, counts)
			k.each(func(where, record string, kill func(...string)) {
				k.carries("v1.yaml")
				before := k.contents()
				k.carries("v2.yaml", "--record", "run-"+record)
				written := k.contents()
				kill("undo", "run-"+record, "--record", "undo-"+record, "--concurrency=1")
				switch {
				case again:
					k.undone("run-" + record)
					k.is(where, before)
				case k.recorded("undo-" + record):
					k.does("kubectl-merge", "undo", "undo-"+record)
					counts.add("records of an undo taken back", 1)
					k.is(where, written)
				default: // it was killed before the record was opened
					k.is(where, written)
				}
			})
			if n := counts.counts["kills"]; n < 10 {
				t.Errorf("only %d kills", n)
			}
		})
	}
}

// TestRollbackKilled kills a run that fails, and the rollback that follows, between every two
// requests. The record of the run is true: undoing it finishes the rollback.
func TestRollbackKilled(t *testing.T) {
	t.Parallel()
	counts := &tally{counts: map[string]int{}}
	t.Cleanup(func() { t.Logf("%s", counts) })
	k := newKilling(t, counts)
	text, err := os.ReadFile(filepath.Join(k.dir, "v2.yaml"))
	k.must(err)
	k.file("bad.yaml", string(text)+"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: Bad_Name}\n")
	before := k.contents()
	args := append([]string{"-f", "bad.yaml", "--preflight=false", "--rollback-on-failure"}, killedArgs...)
	k.each(func(where, record string, kill func(...string)) {
		kill(append(args, "--record", record)...)
		if k.recorded(record) {
			k.undone(record)
			counts.add("records taken back", 1)
		}
		k.is(where, before)
	})
	if n := counts.counts["records taken back"]; n < 10 {
		t.Errorf("only %d records were taken back", n)
	}
}
