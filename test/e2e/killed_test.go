package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-merge/kubectl-merge/test/part"
)

// killed is a command that is killed at its requests, and what has to hold after each kill.
type killed struct {
	name string
	// Where it is killed: between every two requests, before and after the server has heard of
	// the second (without -soak in turns, where that is asked for), a part of them; or at writes
	// drawn at random.
	turns, random bool
	faults        bool // each of its requests fails, too
	args          []string
	begin         func(k *killing) // once
	prepare       func(k *killing) // before each kill
	check         func(k *killing) // after it
	counted       string           // of what at least so many have to be counted
	least         int
}

// killing is a namespace in which a command is killed.
type killing struct {
	*pruned
	part            part.Part
	where, record   string // of this kill: for messages; a name for the run's record
	before, written map[string]string
	foreign         map[string]types.UID
}

const killedObjects = 60

var killedArgs = append([]string{"--recreate=ConfigMap"}, prunedArgs...)

var killedCommands = []killed{
	{
		name: "many", random: true, args: []string{"-f", "v2.yaml", "--concurrency=2"}, counted: "kills", least: 2,
		begin: func(k *killing) {
			k.file("v1.yaml", many(killedObjects, "1"))
			k.file("v2.yaml", many(killedObjects, "2"))
			k.merges("-f", "v1.yaml")
			k.labelled()
		},
		prepare: func(k *killing) { k.merges("-f", "v1.yaml") },
		check: func(k *killing) {
			k.wantMany(killedObjects, "")
			again := words(k.merges("-f", "v2.yaml"))
			k.wantMany(killedObjects, "2")
			k.counts.add("objects written before", killedObjects-count(again, "configured"))
			notUnchanged(k.t, "the third run", words(k.merges("-f", "v2.yaml")), killedObjects)
		},
	},
	{
		// No object outside the set is ever deleted, and the next run finishes the set.
		name: "prune", faults: true, args: append([]string{"-f", "v2.yaml"}, prunedArgs...), counted: "kills", least: 10,
		begin: func(k *killing) {
			k.does("kubectl", "create", "configmap", "theirs")
			k.does("kubectl", "create", "serviceaccount", "theirs")
			k.manifest("v1.yaml", []string{"configmap/a", "configmap/b", "serviceaccount/r", "role.rbac.authorization.k8s.io/x"}, 1)
			k.manifest("v2.yaml", killedSet, 2)
		},
		prepare: func(k *killing) {
			k.runs("v1.yaml")
			k.foreign = foreign(k.objects())
		},
		check: func(k *killing) {
			k.untouched(k.where, k.foreign, killedSet)
			k.runs("v2.yaml")
			k.exact(k.where, killedSet)
			k.untouched(k.where, k.foreign, killedSet)
		},
	},
	{
		// The record of a killed run is correct: after its undo, everything is as it was before the run,
		// last-applied too, also what was deleted and created again with what others have configured.
		name: "run", args: append([]string{"-f", "v2.yaml", "--record", "RECORD"}, killedArgs...), counted: "records taken back", least: 10,
		begin:   (*killing).both,
		prepare: (*killing).first,
		check: func(k *killing) {
			if k.recorded(k.record) {
				k.does("kubectl-merge", "undo", k.record)
				k.counts.add("records taken back", 1)
			}
			k.is(k.before)
		},
	},
	{
		// Undoing the same record again finishes an undo that was killed.
		name: "undo again", turns: true, args: []string{"undo", "run-RECORD", "--record", "RECORD", "--concurrency=1"}, counted: "kills", least: 10,
		begin:   (*killing).both,
		prepare: (*killing).second,
		check: func(k *killing) {
			k.undone("run-" + k.record)
			k.is(k.before)
		},
	},
	{
		// Undoing the record of the undo itself restores what the run had written.
		name: "undo undone", turns: true, args: []string{"undo", "run-RECORD", "--record", "RECORD", "--concurrency=1"}, counted: "kills", least: 10,
		begin:   (*killing).both,
		prepare: (*killing).second,
		check: func(k *killing) {
			if k.recorded(k.record) {
				k.does("kubectl-merge", "undo", k.record)
			}
			k.is(k.written)
		},
	},
	{
		// A run that fails, and the rollback that follows.
		name: "rollback", turns: true, counted: "records taken back", least: 10,
		args: append([]string{"-f", "bad.yaml", "--preflight=false", "--rollback-on-failure", "--record", "RECORD", "--concurrency=1"}, killedArgs...),
		begin: func(k *killing) {
			k.both()
			text, err := os.ReadFile(filepath.Join(k.dir, "v2.yaml"))
			k.must(err)
			k.file("bad.yaml", string(text)+"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: Bad_Name}\n")
			k.first()
		},
		prepare: func(*killing) {},
		check: func(k *killing) {
			if k.recorded(k.record) {
				k.undone(k.record)
				k.counts.add("records taken back", 1)
			}
			k.is(k.before)
		},
	},
}

var killedSet = []string{"configmap/a", "configmap/c"}

// TestKilled kills each command of the table at its requests.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, command := range killedCommands {
		t.Run(command.name, func(t *testing.T) {
			t.Parallel()
			counts := &tally{counts: map[string]int{}}
			t.Cleanup(func() { t.Logf("%s", counts) })
			k := &killing{pruned: newPruned(t, server.need(t), counts), part: part.Chosen(t)}
			command.begin(k)
			command.play(k)
			least := command.least
			if !command.random {
				least = k.part.Least(least)
			}
			if n := counts.counts[command.counted]; n < least {
				t.Errorf("only %d %s", n, command.counted)
			}
		})
	}
}

func (c killed) play(k *killing) {
	if c.random {
		for range 2 * *soak {
			c.kill(k, rand.IntN(killedObjects/2), rand.IntN(2) == 0)
		}
		return
	}
	harms := slices.DeleteFunc(faultyHarms(), func(h faultyHarm) bool { return h.slow })
	for n, more := 0, true; more; n++ {
		if !k.part.Has(n) {
			continue
		}
		turn := k.part.Nth(n) // what takes turns does so in each part
		for _, after := range []bool{false, true} {
			if !c.turns || *soak > 1 || after == (turn%2 == 1) {
				more = c.kill(k, n, after)
			}
		}
		for i, h := range harms {
			if c.faults && (*soak > 1 || i%len(harms) == turn%len(harms)) { // one fault at each request
				if c.once(k, fmt.Sprintf("%s at request %d", h.name, n), func(args []string) bool { return k.faultedAt(n, h, args...) }) {
					k.counts.add("faults", 1)
				}
			}
		}
	}
}

// kill kills the command once, before or after the server has heard of a request.
func (c killed) kill(k *killing, n int, after bool) bool {
	at := faultAt(n, nil)
	if c.random {
		at.hits = of("WRITE")
	}
	was := c.once(k, fmt.Sprintf("killed at request %d (after it: %t)", n, after), func(args []string) bool {
		return k.killedAt(at, after, args...)
	})
	if was {
		k.counts.add("kills", 1)
	}
	return was
}

// once strikes the command once, and reports whether it came that far.
func (c killed) once(k *killing, where string, strike func(args []string) bool) bool {
	k.where, k.record = where, strings.ReplaceAll(where, " ", "-")+".yaml"
	c.prepare(k)
	args := slices.Clone(c.args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "RECORD", k.record)
	}
	hit := strike(args)
	c.check(k)
	return hit
}

// both writes a state and its successor, in which objects are changed, created, pruned, and
// deleted to be created again.
func (k *killing) both() {
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
}

// carries plays a run to its end.
func (k *killing) carries(file string, more ...string) {
	k.t.Helper()
	k.does("kubectl-merge", slices.Concat([]string{"-f", file}, killedArgs, more)...)
}

// first restores the state.
func (k *killing) first() {
	k.carries("v1.yaml")
	k.before = k.contents()
}

// second records the run from the state to its successor.
func (k *killing) second() {
	k.first()
	k.carries("v2.yaml", "--record", "run-"+k.record)
	k.written = k.contents()
}

// recorded reports whether there is a record: a run may be killed before it is opened.
func (k *killing) recorded(file string) bool {
	_, err := os.Stat(filepath.Join(k.dir, file))
	return err == nil
}

// is checks that all is as it was at a time.
func (k *killing) is(then map[string]string) {
	k.t.Helper()
	if now := k.contents(); !maps.Equal(then, now) {
		k.t.Fatalf("%s: %s", k.where, differences(then, now))
	}
	k.does("kubectl-merge", "applyset", "verify", "shop", "--fix")
}

// undone undoes a record, though an undo that was killed has deleted an object to create it again:
// that is reported, with the way out.
func (k *killing) undone(record string) {
	k.t.Helper()
	got := k.tries("kubectl-merge", "undo", record)
	switch {
	case got.code == 0:
		k.counts.add("undone again", 1)
	case got.code == 3 && strings.Contains(got.stderr, "configmap/fixed: is not undone: was deleted since, by others or by an undo that was killed: --policy=apply creates it as it was before the run"):
		k.does("kubectl-merge", "undo", record, "--policy=apply")
		k.counts.add("undone again, by --policy=apply", 1)
	default:
		k.t.Fatal(got)
	}
}

// contents are all objects of the kinds that the test uses, without what the server keeps.
func (p *pruned) contents() map[string]string {
	p.t.Helper()
	var list struct {
		Items []map[string]any `json:"items"`
	}
	p.must(json.Unmarshal([]byte(p.does("kubectl", "get", "configmaps,serviceaccounts", "-o", "json").stdout), &list))
	out := map[string]string{}
	for _, o := range list.Items {
		meta, _ := o["metadata"].(map[string]any)
		for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
			delete(meta, field)
		}
		text, err := json.Marshal(o)
		p.must(err)
		out[fmt.Sprint(o["kind"], "/", meta["name"])] = string(text)
	}
	return out
}

func differences(a, b map[string]string) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if a[name] != b[name] {
			text += fmt.Sprintf("\n%s was  %s\nand is %s", name, a[name], b[name])
		}
	}
	for name := range b {
		if _, there := a[name]; !there {
			text += "\n" + name + " was not there"
		}
	}
	return text
}
