package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/part"
)

// TestLawAbsorbed holds two laws on the server, for random objects of every kind that can be written,
// and of custom resources:
//
//   - absorbed: objects are merged and edited by hand, and the edits are absorbed. The files differ in
//     exactly what is reported, a comparison names none of it, and absorbing again edits nothing.
//   - there and back: the objects are deleted and merged again. What was absorbed whole is configured
//     as it was on the cluster.
//
// An ordinary run plays a part of the objects (see ../part).
func TestLawAbsorbed(t *testing.T) {
	counts := &tally{counts: map[string]int{}}
	t.Cleanup(func() { t.Logf("%s", counts) })
	n, s := sequenceSeed(t), fragile.need(t)
	for batch := range 4 * *soak {
		t.Run(fmt.Sprint(batch), func(t *testing.T) {
			(&absorbed{promises: newPromises(t, s, counts, rand.New(rand.NewPCG(n, 16+uint64(batch))))}).play()
		})
	}
	if p := part.Chosen(t); counts.counts["values absorbed"] < p.Least(200) || counts.counts["objects as they were"] < p.Least(300) {
		t.Error("too little was absorbed to hold any law")
	}
}

// absorbed are objects that are played together.
type absorbed struct{ *promises }

// taken is a value of a report.
type taken struct {
	APIVersion, Kind, Name string
	Path, Stated, Reason   string
	Absorbed               bool
}

func (v taken) key() string {
	group, _, grouped := strings.Cut(v.APIVersion, "/")
	if !grouped {
		group = ""
	}
	return group + " " + v.Kind + " " + v.Name
}

func (a *absorbed) play() {
	a.all = slices.DeleteFunc(a.all, func(o *promised) bool { return o.v1 == nil })
	a.merge("at first", true)
	a.read(asPlanned)
	for _, o := range a.alive() {
		a.byHand(o)
	}
	a.read(asFound)
	before := a.objects()
	got := a.tries("kubectl-merge", "absorb", "-f", "v1.yaml", "-w", "--secrets", "-o", "json")
	if got.code != 0 {
		a.t.Fatal(got)
	}
	report := values(a.t, got, "values")
	a.judge(before, a.objects(), report)
	if again := a.tries("kubectl-merge", "absorb", "-f", "v1.yaml", "--secrets"); again.code != 0 {
		a.t.Errorf("there is more to absorb: %s", again)
	}
	a.thereAndBack(report)
}

// merge merges the files; what the server refuses is played no more.
func (a *absorbed) merge(when string, create bool) {
	if create {
		a.input("v1.yaml", first)
	}
	got := a.tries("kubectl-merge", "-f", "v1.yaml", "--preflight=false", "-q")
	said := words(got)
	for _, o := range a.alive() {
		if word := said[o.ref]; !slices.Contains([]string{"created", "configured", "unchanged"}, word) {
			o.left = true
			a.counts.add("objects that the server refuses "+when, 1)
			if got.code == 0 {
				a.t.Errorf("%s: %q, and all went well", o, word)
			}
		}
	}
	if create {
		a.input("v1.yaml", first)
	}
}

// byHand edits an object as kubectl edit and kubectl patch do. What the server refuses is no edit.
func (a *absorbed) byHand(o *promised) {
	was, here := o.live[asPlanned], o.kind.url(a.ns, o.name)
	edited := edit(a.Rand, was, o.other())
	var err error
	if a.IntN(2) == 0 {
		_, err = a.ask(a.t.Context(), "PUT", here, edited, "fieldManager", "kubectl-edit")
	} else {
		_, err = a.ask(a.t.Context(), "PATCH", here, mergePatch(was, edited), "fieldManager", "kubectl-patch")
	}
	a.edited("by hand", err)
}

// objects are those of the file, by their keys.
func (a *absorbed) objects() map[string]map[string]any {
	text, err := os.ReadFile(filepath.Join(a.dir, "v1.yaml"))
	if err != nil {
		a.t.Fatal(err)
	}
	all, err := source.Parse("v1.yaml", text)
	if err != nil {
		a.t.Fatal(err)
	}
	out := map[string]map[string]any{}
	for _, o := range all {
		out[o.Group()+" "+o.Kind()+" "+o.Name()] = o.Value
	}
	return out
}

// values are those of a report.
func values(t *testing.T, got said, name string) (all []taken) {
	t.Helper()
	var report map[string]json.RawMessage
	err := json.Unmarshal([]byte(got.stdout), &report)
	if err == nil {
		err = json.Unmarshal(report[name], &all)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	return all
}

// judge holds the first law.
func (a *absorbed) judge(before, after map[string]map[string]any, report []taken) {
	left := values(a.t, a.tries("kubectl-merge", "drift", "-f", "v1.yaml", "-o", "json"), "rows")
	for _, o := range a.alive() {
		var chosen []merge.Path
		for _, v := range report {
			path, err := merge.ParsePath(v.Path)
			if err != nil {
				a.t.Fatal(err)
			}
			switch {
			case v.key() != o.key():
			case !v.Absorbed:
				a.counts.add("left: "+v.Reason, 1)
			default:
				chosen = append(chosen, path)
				if stated, err := merge.ParsePath(v.Stated); err == nil && v.Stated != "" {
					chosen = append(chosen, stated)
				}
				a.counts.add("values absorbed", 1)
			}
		}
		for _, c := range merge.Diff(before[o.key()], after[o.key()], o.kind.typ) {
			if !reaches(c.Path, changesAt(chosen)) && !secretly(o, c.Path, chosen) {
				a.t.Errorf("%s: %s was not absorbed, and has changed in the file", o, c.Path)
			}
		}
		for _, row := range left {
			path, _ := merge.ParsePath(row.Path)
			named := func(v taken) bool {
				at, _ := merge.ParsePath(v.Path)
				return v.key() == row.key() && !v.Absorbed && (at.Leads(path) || path.Leads(at))
			}
			if row.key() == o.key() && !slices.ContainsFunc(report, named) {
				a.t.Errorf("%s: %s differs still", o, row.Path)
			}
		}
	}
}

// secretly: a value of a Secret stands as text in stringData.
func secretly(o *promised, p merge.Path, chosen []merge.Path) bool {
	return o.kind.kind == "Secret" && p[0].Name == "stringData" && slices.ContainsFunc(chosen, func(c merge.Path) bool { return c[0].Name == "data" })
}

func changesAt(paths []merge.Path) (all []merge.Change) {
	for _, p := range paths {
		all = append(all, merge.Change{Path: p})
	}
	return all
}

// thereAndBack holds the second law, of objects of which nothing was left and which can be deleted.
func (a *absorbed) thereAndBack(report []taken) {
	var whole []*promised
	for _, o := range a.alive() {
		if slices.Contains(neverPruned, o.kind.kind) || slices.ContainsFunc(report, func(v taken) bool { return v.key() == o.key() && !v.Absorbed }) {
			continue
		}
		whole = append(whole, o)
	}
	var gone []*sweptObject
	for _, o := range whole {
		gone = append(gone, &sweptObject{kind: o.kind, name: o.name})
	}
	parallel(gone, func(o *sweptObject) { _ = a.remove(a.t.Context(), o) }) // what stays is seen below
	a.read(asWritten)
	a.merge("when it is made again", false)
	a.read(asTakenBack)
	files := a.objects()
	for _, o := range whole {
		was, is := o.live[asFound], o.live[asTakenBack]
		if o.left || o.live[asWritten] != nil || was == nil || is == nil {
			a.counts.add("objects that were not made again", 1)
			continue
		}
		if problem := o.differs(o.configured(was), o.configured(is), files[o.key()]); problem != "" {
			a.t.Errorf("%s: %s", o, problem)
			continue
		}
		a.counts.add("objects as they were", 1)
	}
}

// differs names the first value that is not as it was, and that the server has not allocated.
func (o *promised) differs(was, is any, file map[string]any) string {
	for _, c := range merge.Diff(was, is, o.kind.typ) {
		f, _ := schema.FieldAt(o.kind.typ, c.Path)
		in, _ := schema.FieldAt(o.kind.typ, c.Path[:len(c.Path)-1])
		// An entry that the server adds to a new object (a Node's taint) cannot be absorbed where it was removed from live.
		made := !c.Old.Set && !o.at(c.Path, file).Set && o.alike(c.Path, c.New, o.at(c.Path, o.live[asPlanned]))
		// What may only grow (tolerations of a Pod) stays as live has it in every merge, so that it is no drift.
		grows := slices.ContainsFunc(o.kind.typ.Fixed, func(f merge.Fixed) bool { return f.Grows && f.String() == c.Path.String() })
		// A map that has nothing but what the server fills in where it is empty (behavior of an HPA) means what no map does.
		hollow := !c.New.Set && o.alike(c.Path, c.Old, merge.Some(merge.Complete(map[string]any{}, o.kind.typ.At(c.Path), true)))
		if c.Op != merge.OpOrder && !made && !grows && !hollow && !o.ofUID(c.Path) && !f.Allocated && !in.Allocated && !o.alike(c.Path, c.Old, o.unallocated(c.Path, c.Old, c.New)) {
			return fmt.Sprintf("%s: was %s, and is %s", c.Path, opt(c.Old), opt(c.New))
		}
	}
	return ""
}
