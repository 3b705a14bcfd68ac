package run

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
)

// TestDetailsAreShared: items of which there is nothing to report share their Details before
// and after they are reported, and are reported by their own.
func TestDetailsAreShared(t *testing.T) {
	const n = largeFrom + 100
	var local, there strings.Builder
	for i := range n {
		name := fmt.Sprint("c", i)
		local.WriteString(conf(name, fmt.Sprint(i%2+1)))
		there.WriteString(applied(t, name, "1", "1"))
	}
	p, _ := setup(t, local.String(), there.String())
	p.Needs, p.Preflight = Outcomes, false
	p.Merge(t.Context())
	for _, item := range p.Items {
		if unchanged := item.Planned.Action == apply.Nothing; item.shared() != unchanged {
			t.Fatalf("%s: shares its details: %t, and is unchanged: %t", item.Target, item.shared(), unchanged)
		}
	}
	seen := 0
	p.Send(t.Context(), func(item *Item) {
		seen++
		if item.shared() || item.Planned.Name != item.Target.String() || item.Result.Planned.Name != item.Planned.Name {
			t.Errorf("%s: is reported by the details of %q, with a result of %q", item.Target, item.Planned.Name, item.Result.Planned.Name)
		}
	})
	if seen != n {
		t.Errorf("%d items were reported, of %d", seen, n)
	}
	of := map[*Details]int{}
	for _, item := range p.Items {
		of[item.Details]++
	}
	if len(of) != 2 || of[p.Items[0].Details] != n/2 {
		t.Errorf("%d items, half of them changed, end with details %v", n, of)
	}
	pristine(t)
}

// pristine: the values that items share are not modified.
func pristine(t *testing.T) {
	t.Helper()
	common.Range(func(key, value any) bool {
		d := *value.(*Details)
		if d.summary() != key {
			t.Errorf("shared as %v is %v", key, d.summary())
		}
		if d.set(summary{}); !reflect.ValueOf(d).IsZero() {
			t.Errorf("what items share has been modified: %+v", d)
		}
		return true
	})
}

// TestSomethingToReportIsNotShared: whatever an item has beyond action and outcome stays its
// own.
func TestSomethingToReportIsNotShared(t *testing.T) {
	for reason, set := range map[string]func(*Item){
		"an answer":               func(i *Item) { i.Answers = []apply.Answer{{}} },
		"a problem of its plan":   func(i *Item) { i.Planned.Problems = []string{"is odd"} },
		"a note on its write":     func(i *Item) { i.Result.Notes = []string{"was changed"} },
		"a field set only once":   func(i *Item) { i.fixed = []string{"spec.a"} },
		"a request to be sent":    func(i *Item) { i.Planned.Action, i.stored.request = apply.Change, &apply.Request{} },
		"its live object":         func(i *Item) { i.Planned.Live = map[string]any{"a": "b"} },
		"a live object as a text": func(i *Item) { i.stored.live = []byte("{}") },
	} {
		i := NewItem(item("", "ConfigMap", "a", "b").Object, item("", "ConfigMap", "a", "b").Target)
		if !i.shared() {
			t.Fatal("a new item has details of its own")
		}
		i.Own()
		if set(i); i.shared() {
			t.Fatalf("%s: what is its own is shared", reason)
		}
		if i.share(); i.shared() {
			t.Errorf("%s: is lost", reason)
		}
	}
	pristine(t)
}

// TestItemIsSmall: there are as many as objects in the input, a hundred thousand.
func TestItemIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Item{}); size > 304 {
		t.Errorf("an item takes %d bytes: what most items do not have belongs into its Details", size)
	}
}

// TestRendered: what is made of a plan as soon as it is merged takes the plan's place until it is
// shown; where nothing can be made, the plan is there.
func TestRendered(t *testing.T) {
	const n = largeFrom + 100
	var local, there strings.Builder
	for i := range n {
		name := fmt.Sprint("c", i)
		local.WriteString(conf(name, "2"))
		there.WriteString(applied(t, name, "1", "1"))
	}
	p, _ := setup(t, local.String(), there.String())
	p.Shown, p.Needs = true, Changes
	made := func(i *Item) bool { return !strings.HasSuffix(i.Target.Name, "7") }
	p.Render = func(i *Item) any {
		if i.Planned.Final == nil || i.Result.Outcome == "" {
			t.Errorf("%s: is to be made of a plan that is not whole, or without a result", i.Target)
		}
		if !made(i) {
			return nil
		}
		return "diff of " + i.Target.Name
	}
	p.Merge(t.Context())
	seen := 0
	p.Show(t.Context(), func(i *Item) {
		seen++
		want := any(nil)
		if made(i) {
			want = "diff of " + i.Target.Name
		}
		if i.Rendered != want || (i.Planned.Final == nil) != made(i) {
			t.Errorf("%s: %v, and its plan has gone: %t", i.Target, i.Rendered, i.Planned.Final == nil)
		}
		if i.Action() != apply.Change || string(i.Result.Outcome) != "configured" || i.Impact().Word == "" {
			t.Errorf("%s: is %s, %s, %v", i.Target, i.Action(), i.Result.Outcome, i.Impact())
		}
	})
	if seen != n || p.Items[0].Rendered != nil {
		t.Errorf("%d of %d were shown; what was made stays: %v", seen, n, p.Items[0].Rendered)
	}
	pristine(t)
}
