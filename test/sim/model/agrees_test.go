package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-merge/kubectl-merge/test/part"
)

var (
	seed  = flag.Uint64("sim.seed", 1, "of the requests")
	count = flag.Int("sim.n", 20000, "requests of which a part is played")
)

// TestModelAgrees: random requests have the same answers of the model and of the real API server,
// up to uids, times and the numbering of versions.
func TestModelAgrees(t *testing.T) {
	const namespace = "sim"
	real := &server{namespace: namespace}
	real.start(t)
	m, err := New(namespace)
	if err != nil {
		t.Fatal(err)
	}
	from, to := part.Chosen(t).Of(*count)
	draw := &drawer{Rand: rand.New(rand.NewPCG(*seed, uint64(from))), m: m}
	ours, theirs := newNames(), newNames()
	codes, refused := map[string]int{}, 0
	var trace []string
	for n := 0; n < to-from; {
		r, late := draw.request(), draw.IntN(4) == 0
		sent := filled(r, ours, late)
		res, err := m.Serve(sent.over(t, "http://model", namespace), sent.body, "")
		if not := Uncovered(""); errors.As(err, &not) {
			refused++
			continue
		}
		code, out := read(t, res, err)
		n++
		trace = append(trace, fmt.Sprintf("%s %s/%s %s %s dryRun=%t late=%t limit=%d selector=%s token=%s: %d", r.verb, r.resource, r.name, r.patch, r.body, r.dryRun, late, r.limit, r.selector, r.token, code))
		realCode, realOut := real.answer(t, filled(r, theirs, late))
		is, was := ours.plain(t, r, code, out), theirs.plain(t, r, realCode, realOut)
		if code != realCode || !reflect.DeepEqual(is, was) {
			t.Fatalf("-sim.seed=%d: request %d:\n%s\nthe model  %d %s\nthe server %d %s", *seed, n, strings.Join(tail(trace, r), "\n"), code, text(is), realCode, text(was))
		}
		codes[fmt.Sprint(r.verb, " ", code)]++
		draw.next(r, ours, theirs)
	}
	t.Logf("%d requests agreed, %d more were drawn that the model does not cover: %v", to-from, refused, codes)
}

func text(v any) string {
	out, _ := json.Marshal(v) // of JSON
	return string(out)
}

// names are what one side calls uids and versions, numbered as they are first seen, and what the
// last objects and lists had of them.
type names struct {
	seen      map[string]string
	count     map[string]int // by kind of name
	uid, rv   string         // of the object answered last
	old, past string         // of an earlier one
	token     string
}

func newNames() *names { return &names{seen: map[string]string{}, count: map[string]int{}} }

var inMessage = regexp.MustCompile(`((?:UID|ResourceVersion) in (?:the precondition|record) \(|specified uid )([^),]*)`)

func (n *names) number(kind, v string) string {
	if v == "" {
		return ""
	}
	if n.seen[kind+v] == "" {
		n.count[kind]++
		n.seen[kind+v] = kind + strconv.Itoa(n.count[kind])
	}
	return n.seen[kind+v]
}

// plain is an answer with numbers for uids and versions, and without times.
func (n *names) plain(t *testing.T, r request, code int, doc []byte) any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	meta, _ := v["metadata"].(map[string]any)
	if r.verb == "list" && v["kind"] != "Status" {
		n.token, _ = meta["continue"].(string)
		meta["continue"] = n.token != ""
		delete(meta, "resourceVersion") // other writers count, too
	} else if uid, ok := meta["uid"].(string); ok && !r.dryRun {
		n.uid, n.rv = uid, fmt.Sprint(meta["resourceVersion"])
	}
	return n.walk(v, r.dryRun && code == 201)
}

func (n *names) walk(v any, fresh bool) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			s, _ := e.(string)
			switch k {
			case "uid":
				if v[k] = n.number("uid", s); fresh {
					v[k] = "tried"
				}
			case "resourceVersion":
				v[k] = n.number("version", s)
			case "creationTimestamp", "deletionTimestamp", "time":
				v[k] = e != nil
			case "message":
				v[k] = inMessage.ReplaceAllStringFunc(s, func(found string) string {
					at := inMessage.FindStringSubmatch(found)
					kind := "version"
					if !strings.HasPrefix(found, "ResourceVersion") {
						kind = "uid"
					}
					return at[1] + n.number(kind, at[2])
				})
			default:
				v[k] = n.walk(e, fresh)
			}
			if entries, ok := e.([]any); ok && (k == "managedFields" || k == "causes") { // in the order of seconds, and of a Go map
				slices.SortFunc(entries, func(a, b any) int { return strings.Compare(text(a), text(b)) })
			}
		}
		return v
	case []any:
		for i, e := range v {
			v[i] = n.walk(e, fresh)
		}
	}
	return v
}

// filled has a side's own names in place of a request's UID and VERSION: of the object answered
// last, or of an earlier one.
func filled(r request, n *names, late bool) request {
	uid, rv := n.uid, n.rv
	if late {
		uid, rv = n.old, n.past
	}
	r.body = bytes.ReplaceAll(bytes.ReplaceAll(r.body, []byte("UID"), []byte(uid)), []byte("VERSION"), []byte(rv))
	if r.token != "" {
		r.token = n.token
	}
	return r
}

// drawer draws requests.
type drawer struct {
	*rand.Rand
	m     *Model
	pages *request // a list to go on with
}

// next remembers what the last answer named.
func (d *drawer) next(r request, both ...*names) {
	keep := d.IntN(3) == 0
	for _, n := range both {
		if keep || n.old == "" {
			n.old, n.past = n.uid, n.rv
		}
	}
	if r.verb == "list" {
		if d.pages = nil; both[0].token != "" {
			r.token = "next"
			d.pages = &r
		}
	}
}

func pick[T any](d *drawer, from ...T) T { return from[d.IntN(len(from))] }

func (d *drawer) request() (r request) {
	if d.pages != nil && d.IntN(4) == 0 {
		return *d.pages
	}
	r = request{resource: pick(d, "configmaps", "configmaps", "secrets", "serviceaccounts", "deployments"), name: pick(d, "a", "b", "c", "d"), manager: pick(d, "kubectl", "helm", "merge"), dryRun: d.IntN(8) == 0}
	defer func() { r.metadata = d.IntN(6) == 0 && (r.verb == "get" || r.verb == "list") }()
	switch r.verb = pick(d, "get", "list", "create", "create", "update", "patch", "patch", "patch", "patch", "delete"); r.verb {
	case "list":
		r.name, r.dryRun, r.limit, r.selector = "", false, d.IntN(3), pick(d, "", "app=x", "app!=x,tier", "tier in (x,y)")
		if d.IntN(6) == 0 {
			r.limit, r.only = 0, "a"
		}
	case "get":
		r.dryRun = false
	case "create", "update":
		r.body = []byte(text(d.object(r, r.verb == "update")))
	case "delete":
		r.body = []byte(pick(d, `{}`, `{"preconditions":{"uid":"UID"}}`, `{"preconditions":{"resourceVersion":"VERSION"}}`, `{"propagationPolicy":"Background"}`))
		if r.dryRun {
			r.body = bytes.Replace(r.body, []byte("{"), []byte(`{"dryRun":["All"],`), 1)
			r.body = bytes.Replace(r.body, []byte(",}"), []byte("}"), 1)
		}
	case "patch":
		if d.IntN(6) == 0 {
			r.patch = types.JSONPatchType
			r.body = []byte(pick(d, `[{"op":"test","path":"/data/x","value":"1"},{"op":"replace","path":"/data/x","value":"2"}]`, `[{"op":"add","path":"/metadata/labels","value":{"app":"y"}}]`,
				`[{"op":"test","path":"/metadata/uid","value":"UID"},{"op":"add","path":"/metadata/annotations","value":{"note":"z"}}]`, `[{"op":"remove","path":"/data"}]`))
			return r
		}
		r.patch = pick(d, types.MergePatchType, types.StrategicMergePatchType, types.ApplyPatchType)
		o := d.object(r, true)
		if r.patch != types.ApplyPatchType {
			delete(o, pick(d, "data", "kind", "apiVersion"))
			if data, ok := o["data"].(map[string]any); ok && d.IntN(2) == 0 {
				data[pick(d, "x", "y", "z")] = nil
			}
		} else {
			r.force = d.IntN(3) == 0
			if meta := o["metadata"].(map[string]any); meta["resourceVersion"] != nil && d.IntN(2) == 0 {
				meta["uid"] = "UID"
			}
		}
		r.body = []byte(text(o))
	}
	return r
}

// object has a few values of few, so that writers meet.
func (d *drawer) object(r request, versioned bool) map[string]any {
	values := pick(d, "1", "2", "3")
	meta := map[string]any{"name": r.name}
	some := func(keys ...string) map[string]any {
		out := map[string]any{}
		for _, k := range keys {
			if d.IntN(2) == 0 {
				out[k] = pick(d, "x", "y", values)
			}
		}
		return out
	}
	if d.IntN(2) == 0 {
		meta["labels"] = some("app", "tier")
	}
	if d.IntN(3) == 0 {
		meta["annotations"] = some("note", "other")
	}
	switch d.IntN(8) {
	case 0:
		meta["finalizers"] = []string{"sim.example.com/hold"}
	case 1:
		meta["finalizers"] = []string{}
	}
	if versioned && d.IntN(3) == 0 {
		meta["resourceVersion"] = "VERSION"
	}
	gvk := kinds[r.resource]
	out := map[string]any{"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind, "metadata": meta}
	switch r.resource {
	case "deployments":
		out["spec"] = d.spec(r.name)
	case "configmaps":
		out["data"] = some("x", "y", "z")
	case "secrets":
		data := some("x", "y", "z")
		for _, k := range slices.Sorted(maps.Keys(data)) { // a map's order is not the seed's
			data[k] = pick(d, "eA==", "eQ==")
		}
		out["data"] = data
	}
	return out
}

// spec is that of a Deployment.
func (d *drawer) spec(app string) map[string]any {
	container := map[string]any{"name": pick(d, "web", "web", "side"), "image": pick(d, "a", "a:1", "reg/a:latest")}
	if d.IntN(2) == 0 {
		container["env"] = []any{map[string]any{"name": "X", "value": pick(d, "1", "2")}, map[string]any{"name": "Y", "value": "1"}}[d.IntN(2):]
	}
	out := map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": app}}, "template": map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": app}}, "spec": map[string]any{"containers": []any{container}}}}
	if d.IntN(2) == 0 {
		out["replicas"] = d.IntN(3)
	}
	return out
}

// tail is the end of what was requested of the object of a request, and its lists.
func tail(trace []string, r request) []string {
	var out []string
	for _, line := range trace {
		if strings.Contains(line, " "+r.resource+"/"+r.name+" ") {
			out = append(out, line)
		}
	}
	return out[max(0, len(out)-12):]
}
