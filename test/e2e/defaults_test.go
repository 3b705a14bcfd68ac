package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
	"github.com/kubectl-merge/kubectl-merge/test/part"
)

// TestDefaults plays every field that the API server fills in, in every built-in
// kind: stated by us, left out, or null; then set by another client to more, to less or to something else,
// or stated by us as another value and set back to the default; with managedFields
// and without; in the second in which the object was made, and later. A difference is
// found exactly where live is not as the server would store local. One run plays a part of the
// fields (see ../part). See testdata/defaults/README.md.
func TestDefaults(t *testing.T) {
	s := newSweep(fragile.need(t).user(t, "defaults"))
	d := &defaults{sweep: s, others: readOthers(t), part: part.Chosen(t), seen: map[string]bool{}, fixed: map[string]bool{}, variety: map[string]int{}, seconds: map[bool]int{}}
	d.collect()
	d.create()
	d.edit()
	d.judge()
	d.compareFixed()
	t.Logf("%d of %d fields with a default of %d types, %d situations; of %d fields the server takes no other value; set to: %v; %d with managedFields of one second, %d of several", d.played(), len(d.seen), d.types(), len(d.all), len(d.fixed), d.variety, d.seconds[false], d.seconds[true])
}

// notDefaults are fields that the server fills in, and not as a default, each with
// the reason.
var notDefaults = map[string]string{
	"io.k8s.api.core.v1.ServiceSpec.ipFamilyPolicy": "an update that leaves it out keeps what is there",
	"io.k8s.api.core.v1.NodeSpec.taints":            "an admission plugin adds them when a Node is made, and never again",
	"io.k8s.api.core.v1.PodSpec.securityContext":    "an empty object: what others set in it are fields of their own, which stay",
}

// defaults is the run of the test.
type defaults struct {
	*sweep
	others map[string]any
	part   part.Part
	seen   map[string]bool // type and field; true: it is played
	fixed  map[string]bool // those of which the server takes no other value
	all    []*situation
	made   []*situation
	kinds  map[string]*sweptKind

	variety map[string]int // how often another client sets a field to more, less or something else
	seconds map[bool]int   // how often in another second than the object was made, and how often in that
}

// situation is one object, and what becomes of one of its fields.
type situation struct {
	name   string // what is played
	kind   *sweptKind
	field  string // type and name of the field
	path   []any
	local  map[string]any
	dry    map[string]any // the same under another name, for dry runs
	other  any            // the value that another client sets; nil: none
	strip  bool           // managedFields are removed
	late   bool           // in another second than the object was made
	differ bool           // live is not what the server makes of local
	want   any            // what the field is to be in the end
	live   map[string]any
}

func (s *situation) ref() string { return drawn(s.local).ref }

func (s *situation) String() string {
	return fmt.Sprintf("%s: %s: %s (%v)", s.name, s.kind, s.field, s.path)
}

func readOthers(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile("testdata/defaults/others.yaml")
	if err != nil {
		t.Fatal(err)
	}
	v, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

// manifests are those of this test and of the sweep.
func (d *defaults) manifests() []map[string]any {
	d.t.Helper()
	text, err := os.ReadFile("testdata/defaults/manifests.yaml")
	if err != nil {
		d.t.Fatal(err)
	}
	v, err := decode(text)
	if err != nil {
		d.t.Fatal(err)
	}
	var all []map[string]any
	for _, m := range v.(map[string]any)["manifests"].([]any) {
		all = append(all, m.(map[string]any))
	}
	return all
}

// collect finds the fields and makes the situations.
func (d *defaults) collect() {
	d.t.Helper()
	d.kinds = map[string]*sweptKind{}
	all := d.manifests()
	for _, k := range d.sweptKinds() {
		d.kinds[fmt.Sprint(k.apiVersion(), " ", k.kind)] = k
		all = append(all, k.base)
	}
	for i, m := range all {
		k := d.kinds[fmt.Sprint(m["apiVersion"], " ", m["kind"])]
		if k == nil {
			d.t.Errorf("%s %s: the server does not serve it", m["apiVersion"], m["kind"])
			continue
		}
		try := d.named(m, fmt.Sprintf("try-%d", i), 0)
		served, err := d.serverDry(k, try)
		if err != nil {
			d.t.Errorf("%s: manifest %d: %v", k, i, err)
			continue
		}
		again, err := d.serverDry(k, d.named(m, fmt.Sprintf("again-%d", i), 1<<14))
		if err != nil {
			d.t.Errorf("%s: manifest %d: %v", k, i, err)
			continue
		}
		found := &finder{}
		found.walk(k.typ, k.configuration(try), k.configuration(served), nil, false)
		for _, f := range found.fields {
			_, seen := d.seen[f.id]
			if allocated := !merge.Equal(at(again, f.path), f.value, nil); seen || allocated || notDefaults[f.id] != "" {
				continue
			}
			if d.seen[f.id] = d.part.Has(len(d.seen)); d.seen[f.id] {
				d.situations(k, m, f)
			}
		}
	}
}

// named is a manifest for the nth object in this test.
func (d *defaults) named(m map[string]any, name string, n int) map[string]any {
	ip := fmt.Sprintf("10.%d.%d.%d", 190+n>>16, n>>8&255, n&255)
	out := replaced(m, strings.NewReplacer("$NAME", name, "$NS", d.ns, "$IP", ip)).(map[string]any)
	meta, _ := out["metadata"].(map[string]any)
	if meta == nil {
		out["metadata"] = map[string]any{"name": name}
	}
	return out
}

// serverDry returns a manifest as the server would store it.
func (d *defaults) serverDry(k *sweptKind, m map[string]any) (map[string]any, error) {
	text, err := d.ask(d.t.Context(), "POST", k.url(d.ns, ""), m, "dryRun", "All")
	if err != nil {
		return nil, err
	}
	v, err := decodeJSON(text)
	o, _ := v.(map[string]any)
	return o, err
}

// filled is one field that the server fills in.
type filled struct {
	id     string // type and name
	name   string
	path   []any
	value  any
	field  merge.Field
	inside bool // of what is merged as one value
}

// finder lists the fields that served has and stated has not.
type finder struct{ fields []filled }

func (f *finder) walk(t *merge.Type, stated, served any, path []any, inside bool, keys ...string) {
	inside = inside || t != nil && (t.Atomic || t.Kind == merge.List)
	switch v := served.(type) {
	case map[string]any:
		m, _ := stated.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			field := t.Field(name)
			p := append(slices.Clone(path), name)
			_, has := m[name]
			switch below, isMap := v[name].(map[string]any); {
			case has || isMap && len(below) > 0 && !(field.Type != nil && field.Type.Atomic):
				f.walk(field.Type, m[name], v[name], p, inside)
			case !field.Allocated && len(path) > 0 && !slices.Contains(keys, name) && t != nil && t.Kind == merge.Object && path[0] != "metadata":
				f.fields = append(f.fields, filled{t.Name + "." + name, name, p, v[name], field, inside})
			}
		}
	case []any:
		l, _ := stated.([]any)
		if t != nil {
			for _, k := range t.Keys { // another key is another entry
				keys = append(keys, k.Name)
			}
		}
		for i := range l {
			if i < len(v) {
				f.walk(t.EntryType(), l[i], v[i], append(slices.Clone(path), i), inside, keys...)
			}
		}
	}
}

// situations adds those of one field. Which values another client may set is found
// out by asking the server.
func (d *defaults) situations(k *sweptKind, m map[string]any, f filled) {
	add := func(name string, local, other any, late, strip bool) {
		n := len(d.all) + 1
		s := &situation{name: name, kind: k, field: f.id, path: f.path, other: other, late: late, strip: strip}
		s.local, s.dry = d.named(m, fmt.Sprintf("d%d", n), n), d.named(m, fmt.Sprintf("dry-%d", n), 1<<14+n)
		if local != (none{}) {
			s.local, s.dry = setAt(s.local, f.path, local).(map[string]any), setAt(s.dry, f.path, local).(map[string]any)
		}
		if _, err := d.serverDry(k, s.dry); local == nil && err != nil {
			return // no null is legal here
		}
		d.all = append(d.all, s)
	}
	add("stated", f.value, nil, false, false)
	add("left out", none{}, nil, false, false)
	add("null", nil, nil, false, false)
	others := d.variants(k, m, f)
	if len(others) == 0 {
		d.fixed[f.id] = true
	}
	for _, to := range slices.Sorted(maps.Keys(others)) {
		other := others[to]
		for _, late := range []bool{false, true} {
			for _, strip := range []bool{false, true} {
				if late != strip && !f.inside && *soak == 1 {
					continue
				}
				d.variety[to]++
				add("stated, another client changed it to "+to, f.value, other, late, strip)
				add("left out, another client set it to "+to, none{}, other, late, strip)
				add("null, another client set it to "+to, nil, other, late, strip)
				add("stated as "+to+", another client set it back", other, f.value, late, strip)
			}
		}
	}
}

// variants are other values that the server takes for a field: more than the default,
// less than it, and something else. Of those that are alike only one is there.
func (d *defaults) variants(k *sweptKind, m map[string]any, f filled) map[string]any {
	candidates := map[string][]any{}
	given, _ := d.others[f.name].([]any)
	switch v := f.value.(type) {
	case bool:
		candidates["something else"] = []any{!v}
	case json.Number:
		n, _ := v.Int64()
		candidates["more"] = []any{json.Number(fmt.Sprint(n + 1)), json.Number(fmt.Sprint(n*2 + 7))}
		if n > 0 {
			candidates["less"] = []any{json.Number(fmt.Sprint(n - 1)), json.Number(fmt.Sprint(n / 2))}
		}
	case map[string]any, []any:
		candidates["less"] = lesser(v)
		for _, c := range given {
			to := "something else"
			if has(c, v) {
				to = "more"
			}
			candidates[to] = append(candidates[to], c)
		}
	default:
		candidates["something else"] = given
	}
	out := map[string]any{}
	o := d.named(m, "other", 1<<15)
	for to, all := range candidates {
		for _, c := range all {
			if _, err := d.serverDry(k, setAt(o, f.path, c).(map[string]any)); err == nil && !merge.Equal(c, f.value, f.field.Type) {
				out[to] = c
				break
			}
		}
	}
	return out
}

// lesser are the value without each of its entries, or fields, and without a field of each
// of these.
func lesser(v any) []any {
	var out []any
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			out = append(out, slices.Delete(slices.Clone(v), i, i+1))
			for _, l := range lesser(e) {
				with := slices.Clone(v)
				with[i] = l
				out = append(out, with)
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			with := maps.Clone(v)
			delete(with, name)
			out = append(out, with)
		}
	}
	return out
}

// create has the program make all objects, in one second or a few.
func (d *defaults) create() {
	d.t.Helper()
	var all []object
	for _, s := range d.all {
		all = append(all, object{value: s.local})
	}
	d.file("all.yaml", string(document(d.t, all...)))
	got := d.tries("kubectl-merge", "-f", "all.yaml", "--preflight=false")
	outcomes := words(got)
	if len(outcomes) < len(d.all)/2 {
		d.t.Fatal(got)
	}
	live := d.liveObjects()
	d.made = slices.Clone(d.all)
	d.t.Cleanup(d.remove)
	d.all = slices.DeleteFunc(d.all, func(s *situation) bool {
		if outcomes[s.ref()] == "" {
			d.t.Errorf("%s: is not created: %s", s, linesAbout(got.stderr, s.ref()))
		}
		s.live = live[s.kind.String()+s.ref()]
		return s.live == nil
	})
}

// liveObjects are all that there are, by kind and reference.
func (d *defaults) liveObjects() map[string]map[string]any {
	d.t.Helper()
	seen := map[*sweptKind]bool{}
	all := map[string]map[string]any{}
	for _, s := range d.all {
		if seen[s.kind] {
			continue
		}
		seen[s.kind] = true
		for _, o := range d.list(s.kind) {
			all[s.kind.String()+drawn(o).ref] = o
		}
	}
	return all
}

// remove takes away what has no namespace: an APIService without a server is in the way
// of everybody's discovery.
func (d *defaults) remove() {
	each(d.made, func(s *situation) {
		if s.kind.namespaced {
			return
		}
		name, _ := at(s.local, []any{"metadata", "name"}).(string)
		if _, err := d.ask(context.Background(), "DELETE", s.kind.url(d.ns, name), nil); err != nil && !apierrors.IsNotFound(err) {
			d.t.Errorf("%s: taking it away: %v", s, err)
		}
	})
}

// edit has another client set the fields. It sets the times in managedFields to those of the
// situation, or removes managedFields.
func (d *defaults) edit() {
	each(d.all, func(s *situation) {
		if s.other != nil {
			d.set(s)
		}
		switch {
		case s.live == nil:
		case s.strip:
			d.manage(s, []any{map[string]any{}})
		case s.other != nil:
			all := d.timed(s)
			d.manage(s, []any{map[string]any{}}) // the server ignores an update of nothing but times
			d.manage(s, all)
		}
	})
	d.all = slices.DeleteFunc(d.all, func(s *situation) bool { return s.live == nil })
	for _, s := range d.all {
		switch {
		case s.other == nil || s.strip:
		case s.late == (len(times(s.live)) > 1):
			d.seconds[s.late]++
		case !s.late: // what is late may have changed nothing
			d.t.Errorf("%s: written at %v", s, times(s.live))
		}
	}
}

// manage gives an object other managedFields.
func (d *defaults) manage(s *situation, fields []any) {
	name, _ := at(s.local, []any{"metadata", "name"}).(string)
	text, err := d.ask(d.t.Context(), "PATCH", s.kind.url(d.ns, name), map[string]any{"metadata": map[string]any{"managedFields": fields}})
	if err != nil {
		d.t.Errorf("%s: changing managedFields: %v", s, err)
		return
	}
	v, _ := decodeJSON(text)
	s.live, _ = v.(map[string]any)
}

// timed are an object's managedFields as if all was written in the second in which it was created,
// or, by another client that is late, an hour later.
func (d *defaults) timed(s *situation) []any {
	made, _ := at(s.live, []any{"metadata", "creationTimestamp"}).(string)
	then, err := time.Parse(time.RFC3339, made)
	if err != nil {
		d.t.Errorf("%s: made at %q: %v", s, made, err)
	}
	all, _ := at(s.live, []any{"metadata", "managedFields"}).([]any)
	all = deepCopy(all)
	for _, e := range all {
		entry := e.(map[string]any)
		if entry["time"] = made; s.late && entry["manager"] == "rival" {
			entry["time"] = then.Add(time.Hour).Format(time.RFC3339)
		}
	}
	return all
}

// times are the seconds in which an object was made and written.
func times(live map[string]any) map[any]bool {
	seen := map[any]bool{at(live, []any{"metadata", "creationTimestamp"}): true}
	all, _ := at(live, []any{"metadata", "managedFields"}).([]any)
	for _, e := range all {
		seen[at(e, []any{"time"})] = true
	}
	return seen
}

// set puts the object with the other client's value of the field. A field that cannot
// be changed is left out.
func (d *defaults) set(s *situation) {
	name, _ := at(s.local, []any{"metadata", "name"}).(string)
	text, err := d.ask(d.t.Context(), "PUT", s.kind.url(d.ns, name), setAt(s.live, s.path, s.other), "fieldManager", "rival")
	if err != nil {
		s.live = nil
		return
	}
	v, _ := decodeJSON(text)
	s.live, _ = v.(map[string]any)
}

// each does a job for each situation, some at once.
func each(all []*situation, job func(*situation)) {
	jobs := make(chan *situation)
	done := make(chan bool)
	for range 6 {
		go func() {
			for s := range jobs {
				job(s)
			}
			done <- true
		}()
	}
	for _, s := range all {
		jobs <- s
	}
	close(jobs)
	for range 6 {
		<-done
	}
}

// expect works out what the merge is to do: where local states the field, or
// something that it is a part of, the field becomes what the server makes of local;
// elsewhere live's stays.
func (d *defaults) expect(s *situation) {
	is := at(s.live, s.path)
	s.want = is
	if parent, ok := at(s.local, s.path[:len(s.path)-1]).(map[string]any); ok {
		if _, stated := parent[s.path[len(s.path)-1].(string)]; stated || d.inside(s) {
			served, err := d.serverDry(s.kind, s.dry)
			if err != nil {
				d.t.Errorf("%s: %v", s, err)
			}
			s.want = at(served, s.path)
		}
		if (laws.Merge{Triple: merge.Triple{Local: s.local}, Result: s.live, Type: s.kind.typ}).Added(s.names()) {
			s.want = is // what others have added can no longer be removed
		}
	}
	s.differ = !alikeAt(s, is, s.want)
}

// names is the path up to its first entry of a list.
func (s *situation) names() (p merge.Path) {
	for _, step := range s.path {
		name, ok := step.(string)
		if !ok {
			break
		}
		p = p.Child(merge.Named(name))
	}
	return p
}

// inside says whether the field is part of a value that local states and that is
// merged as one.
func (d *defaults) inside(s *situation) bool {
	t := s.kind.typ
	for i, step := range s.path[:len(s.path)-1] {
		if name, ok := step.(string); ok {
			t = t.Field(name).Type
		} else {
			t = t.EntryType()
		}
		if t != nil && (t.Atomic || t.Kind == merge.List) && at(s.local, s.path[:i+1]) != nil {
			return true
		}
	}
	return false
}

func alikeAt(s *situation, a, b any) bool {
	t := s.kind.typ
	var f merge.Field
	for _, step := range s.path {
		if name, ok := step.(string); ok {
			f = t.Field(name)
		} else {
			f = merge.Field{Type: t.EntryType()}
		}
		t = f.Type
	}
	return laws.Alike(merge.Opt{Value: a, Set: a != nil}, merge.Opt{Value: b, Set: b != nil}, f)
}

// judge merges everything again and holds each outcome against what is expected.
func (d *defaults) judge() {
	d.t.Helper()
	each(d.all, d.expect)
	var all []object
	for _, s := range d.all {
		all = append(all, object{value: s.local})
	}
	d.file("all.yaml", string(document(d.t, all...)))
	before := words(said{stdout: d.tries("kubectl-merge", "-f", "all.yaml", "--dry-run=client", "-q", "-o", "name").stderr})
	first := d.tries("kubectl-merge", "-f", "all.yaml", "--preflight=false", "--notes=json")
	outcomes, notes := words(first), notesOf(d.t, first.stderr)
	live := d.liveObjects()
	second := words(d.tries("kubectl-merge", "-f", "all.yaml", "--preflight=false"))
	failed := map[string]int{}
	for _, s := range d.all {
		what := s.wrong(outcomes, second, before, live)
		if !s.differ && what == "" && slices.ContainsFunc(notes[s.ref()], func(n note) bool { return n.Kind == "overwritten" || n.Kind == "removed" || n.Kind == "conflict" }) {
			what = fmt.Sprintf("nothing differs, and %v is reported", notes[s.ref()])
		}
		if what != "" {
			failed[s.name]++
			d.t.Errorf("%s (late %v, stripped %v): %s: %s", s, s.late, s.strip, what, linesAbout(first.stderr, s.ref()))
		}
	}
}

// wrong says what is wrong with an outcome; "" is nothing.
func (s *situation) wrong(outcomes, second, preview map[string]string, live map[string]map[string]any) string {
	want := "unchanged"
	if s.differ {
		want = "configured"
	}
	is := at(live[s.kind.String()+s.ref()], s.path)
	switch {
	case outcomes[s.ref()] != want:
		return fmt.Sprintf("outcome %q, want %q (live had %s, the server makes %s of local)", outcomes[s.ref()], want, short(at(s.live, s.path)), short(s.want))
	case preview[s.ref()] != "" && preview[s.ref()] != want:
		return fmt.Sprintf("the dry run says %q, want %q", preview[s.ref()], want)
	case !alikeAt(s, is, s.want):
		return fmt.Sprintf("is %s, want %s", short(is), short(s.want))
	case second[s.ref()] != "unchanged":
		return fmt.Sprintf("a second run says %q", second[s.ref()])
	}
	return ""
}

// played is the number of fields that are played.
func (d *defaults) played() (n int) {
	for _, played := range d.seen {
		if played {
			n++
		}
	}
	return n
}

func (d *defaults) types() int {
	types := map[string]bool{}
	for id := range d.seen {
		types[id[:strings.LastIndex(id, ".")]] = true
	}
	return len(types)
}

// compareFixed holds the fields that take no other value against those known, save for those that
// are not played.
func (d *defaults) compareFixed() {
	d.t.Helper()
	const file = "testdata/defaults/fixed.golden"
	var text bytes.Buffer
	for _, id := range slices.Sorted(maps.Keys(d.fixed)) {
		fmt.Fprintln(&text, id)
	}
	if *update {
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			d.t.Error(err)
		}
		return
	}
	golden, err := os.ReadFile(file)
	var want strings.Builder
	for line := range strings.Lines(string(golden)) {
		if played, seen := d.seen[strings.TrimSpace(line)]; played || !seen {
			want.WriteString(line)
		}
	}
	if err != nil || want.String() != text.String() {
		d.t.Errorf("%s has others (%v); -part=all -update writes it again:\n%s", file, err, &text)
	}
}
