package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

var (
	seed  = flag.Uint64("defaults.seed", 1, "where the random objects begin")
	count = flag.Int("defaults.count", 150, "random objects of each kind")
)

// TestDefaultsAreFresh: the committed file has the results of the server's functions.
func TestDefaultsAreFresh(t *testing.T) {
	committed, err := os.ReadFile("../../../pkg/schema/internal/gen/defaults.txt")
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := text()
	if err != nil {
		t.Fatal(err)
	}
	if fresh != string(committed) {
		t.Error("defaults.txt is stale: go -C test/cluster run ./defaults -o ../../pkg/schema/internal/gen/defaults.txt && go generate ./pkg/schema")
	}
}

// sample is one random object and what the server makes of it.
type sample struct {
	kind
	before, after runtime.Object
}

// TestCompleteIsWhatTheServerDoes: the program and the server's functions fill in the same
// defaults, in random objects of every kind.
func TestCompleteIsWhatTheServerDoes(t *testing.T) {
	var samples []sample
	var in bytes.Buffer
	for _, k := range kinds() {
		for i := range *count {
			before, err := k.sparse(*seed + uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			before.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind)
			samples = append(samples, sample{k, before, k.defaulted(before)})
			line, err := json.Marshal(before)
			if err != nil {
				t.Fatal(err)
			}
			in.Write(append(line, '\n'))
		}
	}
	cmd := exec.Command("go", "run", "./test/complete")
	cmd.Dir, cmd.Stdin, cmd.Stderr = "../../..", &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	compared, failures := 0, map[string]bool{}
	for _, s := range samples {
		if !lines.Scan() {
			t.Fatal("there are fewer answers than objects")
		}
		if lines.Text() == "null" {
			continue // a kind that client-go does not have
		}
		compared++
		if what := s.differs(t, lines.Bytes()); what != "" && !failures[what] {
			failures[what] = true
			t.Errorf("%s: %s", s.GroupVersionKind, what)
		}
	}
	t.Logf("%d objects compared", compared)
	if compared < len(samples)*9/10 {
		t.Errorf("%d of %d objects were compared", compared, len(samples))
	}
}

// differs says at which field the completed object is not what the server's functions
// give; both are written by the same Go type, so that spelling does not count.
func (s sample) differs(t *testing.T, completed []byte) string {
	obj, err := s.scheme.New(s.GroupVersionKind)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(completed, obj); err != nil {
		return err.Error() + " in " + string(completed)
	}
	return difference("", asJSON(t, obj), asJSON(t, s.after))
}

func asJSON(t *testing.T, obj runtime.Object) any {
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	delete(v, "status") // not configuration
	return v
}

// difference is the first place where two JSON values differ. The time of a call is not
// compared, nor what a pod as a whole requests, which is summed up over its containers,
// nor an alpha field that newer versions do not have any more.
func difference(at string, got, want any) string {
	if strings.HasSuffix(at, ".timeAdded") || at == ".spec.resources" || strings.HasSuffix(at, ".nodeAllocatableResourceMappings") {
		return ""
	}
	if g, ok := got.(map[string]any); ok {
		if w, ok := want.(map[string]any); ok {
			for _, m := range []map[string]any{g, w} {
				for k := range m {
					if d := difference(at+"."+k, g[k], w[k]); d != "" {
						return d
					}
				}
			}
			return ""
		}
	}
	if g, ok := got.([]any); ok {
		if w, ok := want.([]any); ok && len(g) == len(w) {
			for i := range g {
				if d := difference(at+"[]", g[i], w[i]); d != "" {
					return d
				}
			}
			return ""
		}
	}
	if reflect.DeepEqual(got, want) {
		return ""
	}
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	return at + ": completed to " + string(g) + ", the server has " + string(w)
}
