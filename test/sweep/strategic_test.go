package sweep

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/kubectl-merge/kubectl-merge/internal/patch"
	"github.com/kubectl-merge/kubectl-merge/internal/strategic"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	types "github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// TestStrategic: --strategy=strategic and json give the object that kubectl apply gives,
// whole: its own library is called with the inputs that kubectl gives it, the
// last-applied annotation in both of them. What the library refuses is refused. Whatever
// is lost is reported with a true cause, and other policies keep what they promise.
func TestStrategic(t *testing.T) {
	kinds := append(builtin(t), shapes(t)...)
	for _, name := range []string{"strategic", "json"} {
		t.Run(name, func(t *testing.T) {
			by, err := strategy.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			var bad failures
			compared, refused := make([]bool, *count/25), make([]bool, *count/25)
			played := random(t, len(compared), func(i int) {
				k := kinds[i%len(kinds)]
				made, ok := applied(gen.New(*seed, uint64(i)).Triple(k.Kind, k.typ))
				if !ok {
					return
				}
				compared[i], refused[i] = true, made.libraryRefuses(by, k)
				if found := made.against(by, k); found != "" {
					made.Triple = shrink(made.Triple, func(in merge.Triple) bool {
						again, ok := applied(in)
						return ok && again.against(by, k) != ""
					})
					made, _ = applied(made.Triple)
					bad.add("%s: triple %d of -sweep.seed=%d\n%s\n%s", k, i, *seed, made.against(by, k), spell(made.Triple))
				}
			})
			bad.report(t)
			t.Logf("%d whole objects compared, %d refused by both", number(compared), number(refused))
			if number(compared) < played/2 {
				t.Errorf("only %d objects compared", number(compared))
			}
		})
	}
}

func number(list []bool) int {
	n := 0
	for _, b := range list {
		if b {
			n++
		}
	}
	return n
}

// pair is a manifest and the live object, on which its predecessor was applied.
type pair struct {
	merge.Triple
	read     lastapplied.Original
	modified []byte // the manifest as kubectl takes it for its merge
}

// applied puts a triple's original on live, as kubectl does. Server-owned fields are
// taken out of the manifests, and a Secret's stringData is data in them, since neither
// is merged as it stands; the namespace is the connection's.
func applied(in merge.Triple) (pair, bool) {
	for _, side := range []*any{&in.Original, &in.Local, &in.Live} {
		obj, ok := (*side).(map[string]any)
		meta, isMap := obj["metadata"].(map[string]any)
		if !ok || !isMap || obj["apiVersion"] == nil || obj["kind"] == nil || meta["name"] == nil {
			return pair{}, false
		}
		obj, meta = maps.Clone(obj), maps.Clone(meta)
		delete(meta, "namespace")
		obj["metadata"] = meta
		*side = obj
	}
	for _, side := range []*any{&in.Original, &in.Local} {
		*side, _ = lastapplied.Strip(*side, true)
		*side = lastapplied.FoldStringData(*side)
	}
	was, _, err := kubectlConfiguration(in.Original)
	if err != nil {
		return pair{}, false
	}
	p := pair{Triple: in}
	p.Live = lastapplied.With(in.Live, was)
	if p.read = lastapplied.Read(p.Live); p.read.State != lastapplied.OK {
		return pair{}, false
	}
	_, p.modified, err = kubectlConfiguration(in.Local)
	return p, err == nil
}

// kubectlConfiguration is the result of k8s.io/kubectl/pkg/util.GetModifiedConfiguration
// for a manifest: the text of its annotation, and the manifest with it.
func kubectlConfiguration(manifest any) (annotation string, modified []byte, err error) {
	text, err := json.Marshal(manifest)
	if err != nil {
		return "", nil, err
	}
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(text); err != nil {
		return "", nil, err
	}
	notes := u.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	delete(notes, lastapplied.Annotation)
	u.SetAnnotations(notes)
	bare, err := u.MarshalJSON()
	if err != nil {
		return "", nil, err
	}
	notes[lastapplied.Annotation] = string(bare)
	u.SetAnnotations(notes)
	modified, err = u.MarshalJSON()
	return string(bare), modified, err
}

// byKubectl is the object that kubectl apply leaves behind.
func (p pair) byKubectl(by strategy.Strategy, k kind) (any, error) {
	live, err := json.Marshal(p.Live)
	if err != nil {
		return nil, err
	}
	was := []byte(p.read.Text)
	if !by.NeedsStruct || k.object == nil {
		body, err := jsonmergepatch.CreateThreeWayJSONMergePatch(was, p.modified, live)
		if err != nil {
			return nil, err
		}
		v, err := merge.ReadJSON(body)
		return patch.ApplyMerge(p.Live, v), err
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(k.object)
	if err != nil {
		return nil, err
	}
	body, err := strategicpatch.CreateThreeWayMergePatch(was, p.modified, live, meta, true)
	if err != nil {
		return nil, err
	}
	result, err := strategicpatch.StrategicMergePatch(live, body, k.object)
	if err != nil {
		return nil, err
	}
	return merge.ReadJSON(result)
}

func (p pair) libraryRefuses(by strategy.Strategy, k kind) bool {
	_, err := p.byKubectl(by, k)
	return err != nil
}

func (p pair) merge(by strategy.Strategy, k kind, policy string) (strategy.Output, error) {
	named, err := merge.PolicyNamed(policy)
	if err != nil {
		return strategy.Output{}, err
	}
	in := p.Triple
	in.Original = p.read.Value
	return strategy.Plan(strategy.Input{
		Triple: in, Group: k.Group, Version: k.Version, Kind: k.Kind.Kind, Schema: k.typ, HasStatus: true,
		Policy: named, Strategy: by, Strategic: strategic.Of(k.object), Trace: true,
	})
}

// against says what is wrong with a merge, "" if nothing is.
func (p pair) against(by strategy.Strategy, k kind) string {
	want, wantErr := p.byKubectl(by, k)
	out, err := p.merge(by, k, "apply")
	if (err != nil) != (wantErr != nil) {
		return fmt.Sprintf("error %v, kubectl's %v", err, wantErr)
	}
	if err != nil {
		return ""
	}
	var manifest unstructured.Unstructured
	if err := manifest.UnmarshalJSON(p.modified); err != nil {
		return err.Error()
	}
	got := lastapplied.With(out.Result, manifest.GetAnnotations()[lastapplied.Annotation])
	if d := cmp.Diff(rounded(want), rounded(got)); d != "" && !p.excepted(k) && !p.comesBack(want, got, k.typ) {
		return "(-kubectl +ours)\n" + d
	}
	in := p.Triple
	in.Original, in.Live = p.read.Value, lastapplied.Without(p.Live)
	found := append(laws.Soundness(in.Live, out.Plan), laws.Silence(in, out.Plan, k.typ)...)
	found = append(found, untrue(in, out.Plan, k.typ)...)
	for _, policy := range []string{"strict", "live"} {
		if out, err = p.merge(by, k, policy); err != nil {
			return policy + ": " + err.Error()
		}
		found = append(found, laws.Soundness(in.Live, out.Plan)...)
		found = append(found, lost(in.Live, out.Plan, k.typ)...)
	}
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprint(found)
}

// comesBack: where the two differ, got is as live, and the server would store the one like the
// other: it fills in again what the library removes, or takes what it adds, or removes, for nothing.
func (p pair) comesBack(want, got any, typ *merge.Type) bool {
	live, want, got := exact(p.Live), exact(want), exact(got)
	return !slices.ContainsFunc(merge.Diff(want, got, typ), func(c merge.Change) bool {
		if t := typ.At(c.Path); c.Old.Set && c.New.Set { // a list in which keys repeat, for one
			return !merge.Equal(merge.Complete(c.Old.Value, t, true), merge.Complete(c.New.Value, t, true), t)
		}
		is, ok := merge.Lookup(live, c.Path, typ)
		if c.New.Set != ok || ok && !merge.Identical(is, c.New.Value) {
			return true
		}
		last := len(c.Path) - 1
		f := typ.At(c.Path[:last]).Field(c.Path[last].Name)
		holder := &merge.Type{Kind: merge.Object, Fields: map[string]merge.Field{"v": f}}
		one := map[string]any{"v": c.Old.Value}
		if c.New.Set {
			one["v"] = c.New.Value
		}
		none := f.Allocated && c.New.Set || merge.Equal(one, map[string]any{}, holder)
		return !none && !(c.New.Set && merge.NewFinder(got, typ).Refilled(c.Path))
	})
}

// ambiguous: an identity on the path repeats on one of the sides, so that the path does not
// say by itself which entries are partners.
func ambiguous(path merge.Path, typ *merge.Type, sides ...any) bool {
	for i, s := range path {
		if s.Kind != merge.KeyStep && s.Kind != merge.ValueStep {
			continue
		}
		second := slices.Clone(path[:i+1])
		second[i].Nth = 2
		for _, side := range sides {
			if _, ok := merge.Lookup(side, second, typ); ok {
				return true
			}
		}
	}
	return false
}

// rounded has numbers as float64, as kubectl computes JSON merge patches: that large
// numbers stay exact is no difference.
func rounded(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		return err
	}
	return out
}

// exact is v with the numbers that rounded leaves, as merges have them.
func exact(v any) any {
	text, err := json.Marshal(rounded(v))
	if err != nil {
		return err
	}
	out, err := merge.ReadJSON(text)
	if err != nil {
		return err
	}
	return out
}

// excepted: a built-in rule gives a part of the object to live, whatever the strategy.
func (p pair) excepted(k kind) bool {
	rules, err := types.Exceptions()
	return err == nil && len(rules.For(types.Object{Group: k.Group, Kind: k.Kind.Kind, Name: "made", Triple: p.Triple})) > 0
}

// untrue lists the removals whose cause is not the case.
func untrue(in merge.Triple, p merge.Plan, typ *merge.Type) []laws.Breach {
	var found []laws.Breach
	has := func(side any, path merge.Path) (present, null bool) {
		v, ok := merge.Lookup(side, path, typ)
		return ok && v != nil, ok && v == nil
	}
	for _, r := range p.Removed {
		if ambiguous(r.Path, typ, in.Original, in.Local, in.Live) {
			continue
		}
		was, _ := has(in.Original, r.Path)
		is, null := has(in.Local, r.Path)
		holds := true
		switch r.Cause {
		case merge.CauseDropped:
			holds = was && !is
		case merge.CauseNull:
			holds = null
		case merge.CauseDisplaced:
			holds = !is
		case merge.CauseInside, merge.CauseReplaced:
			holds = !is && !null && !was
		}
		if !holds {
			found = append(found, laws.Breach{Law: laws.Told, Path: r.Path, What: fmt.Sprintf("cause %d is not the case", r.Cause)})
		}
	}
	return found
}

// lost lists the disagreements that live won, or no side, whose value is not in result.
func lost(live any, p merge.Plan, typ *merge.Type) []laws.Breach {
	var found []laws.Breach
	for _, d := range append(p.Settled[:len(p.Settled):len(p.Settled)], p.Conflicts...) {
		if _, ok := merge.Lookup(live, d.Path, typ); !ok || ambiguous(d.Path, typ, live, p.Result) {
			continue // live lacks it, or has it in an entry under other keys
		}
		v, ok := merge.Lookup(p.Result, d.Path, typ)
		if d.Winner != merge.LocalSide && d.Live.Set && (!ok || !merge.Identical(v, d.Live.Value)) {
			found = append(found, laws.Breach{Law: laws.Kept, Path: d.Path, What: "live's value is to stay, and does not"})
		}
	}
	return found
}
