package e2e

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	partOf     = "applyset.kubernetes.io/part-of"
	keepMarker = "helm.sh/resource-policy"
)

// pruned is a namespace with one set in it, and objects that belong to no set.
type pruned struct {
	*user
	sick   *user // the same, led through the proxy
	proxy  *proxy
	counts *tally
}

func newPruned(t *testing.T, s *apiServer, counts *tally) *pruned {
	t.Helper()
	p := &pruned{user: s.user(t, "pruned"), counts: counts}
	proxy, err := newProxy(s.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.http.Close)
	p.proxy, p.sick = proxy, p.proxied(proxy)
	return p
}

// objects are all objects of the kinds that the tests use, by what outcome lines call
// them.
func (p *pruned) objects() map[string]metav1.ObjectMeta {
	p.t.Helper()
	out := map[string]metav1.ObjectMeta{}
	ctx, core := p.t.Context(), p.server.client.CoreV1()
	add := func(kind string, o metav1.ObjectMeta) {
		if o.Name != "kube-root-ca.crt" && o.Name != "default" {
			out[kind+"/"+o.Name] = o
		}
	}
	maps1, err := core.ConfigMaps(p.ns).List(ctx, metav1.ListOptions{})
	p.must(err)
	for _, o := range maps1.Items {
		add("configmap", o.ObjectMeta)
	}
	accounts, err := core.ServiceAccounts(p.ns).List(ctx, metav1.ListOptions{})
	p.must(err)
	for _, o := range accounts.Items {
		add("serviceaccount", o.ObjectMeta)
	}
	roles, err := p.server.client.RbacV1().Roles(p.ns).List(ctx, metav1.ListOptions{})
	p.must(err)
	for _, o := range roles.Items {
		add("role.rbac.authorization.k8s.io", o.ObjectMeta)
	}
	return out
}

func (p *pruned) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// foreign are the objects that carry no set's label.
func foreign(all map[string]metav1.ObjectMeta) map[string]types.UID {
	out := map[string]types.UID{}
	for ref, o := range all {
		if o.Labels[partOf] == "" {
			out[ref] = o.UID
		}
	}
	return out
}

// untouched: objects of no set are still there, unless the input has them by now.
func (p *pruned) untouched(where string, before map[string]types.UID, input []string) {
	p.t.Helper()
	is := p.objects()
	for ref, uid := range before {
		if is[ref].UID != uid && !slices.Contains(input, ref) {
			p.t.Errorf("%s: %s was in no set, and is deleted", where, ref)
		}
	}
	p.counts.add("foreign objects looked after", len(before))
}

// exact: the set holds the input, and what carries a marker, and no more; its parent says
// just that.
func (p *pruned) exact(where string, input []string) {
	p.t.Helper()
	want := map[string]bool{}
	for _, ref := range input {
		want[ref] = true
	}
	kinds := map[string]bool{}
	for ref, o := range p.objects() {
		member := o.Labels[partOf] != ""
		if want[ref] && !member || member && !want[ref] && o.Annotations[keepMarker] == "" {
			p.t.Errorf("%s: %s is a member: %t, in the input: %t", where, ref, member, want[ref])
		}
		if member {
			kinds[map[string]string{"configmap": "ConfigMap", "serviceaccount": "ServiceAccount"}[strings.Split(ref, "/")[0]]] = true
			if strings.HasPrefix(ref, "role.") {
				kinds["Role.rbac.authorization.k8s.io"] = true
			}
		}
		delete(want, ref)
	}
	for ref := range want {
		p.t.Errorf("%s: %s is in the input, and not there", where, ref)
	}
	delete(kinds, "")
	parent, err := p.server.client.CoreV1().Secrets(p.ns).Get(p.t.Context(), "shop", metav1.GetOptions{})
	p.must(err)
	if is, want := parent.Annotations["applyset.kubernetes.io/contains-group-kinds"], strings.Join(slices.Sorted(maps.Keys(kinds)), ","); is != want {
		p.t.Errorf("%s: the parent lists %s, want %s", where, is, want)
	}
	p.counts.add("sets found exact", 1)
}

// manifest are objects of those names.
func (p *pruned) manifest(file string, refs []string, version int) string {
	var b strings.Builder
	for _, ref := range refs {
		kind, name, _ := strings.Cut(ref, "/")
		switch kind {
		case "configmap":
			fmt.Fprintf(&b, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {v: \"%d\"}}\n", name, version)
		case "serviceaccount":
			fmt.Fprintf(&b, "---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: %s}}\n", name)
		default:
			fmt.Fprintf(&b, "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: %s}}\n", name)
		}
	}
	return p.file(file, b.String())
}

var prunedArgs = []string{"--prune", "--applyset=shop", "--yes"}

// runs plays the program to its end: all done, or something kept.
func (p *pruned) runs(file string) said {
	p.t.Helper()
	got := p.tries("kubectl-merge", append([]string{"-f", file}, prunedArgs...)...)
	if got.code != 0 && got.code != 3 {
		p.t.Fatal(got)
	}
	return got
}

// killedAt plays the program and kills it at one of its requests, before or after the server
// has heard of it. It says whether it came that far.
func (p *pruned) killedAt(at fault, after bool, args ...string) bool {
	p.t.Helper()
	ctx, kill := context.WithCancel(p.t.Context())
	defer kill()
	at.most, at.do = 1, func(_ http.ResponseWriter, r *http.Request, server http.Handler) {
		if after {
			server.ServeHTTP(httptest.NewRecorder(), r)
		}
		kill()
		panic(http.ErrAbortHandler)
	}
	f := p.proxy.fails(at)
	p.sick.ends(p.quiet(ctx, args...))
	hit := p.proxy.hit(f)
	p.proxy.heals()
	return hit > 0
}

// faultedAt plays the program with one fault at its nth request.
func (p *pruned) faultedAt(n int, h faultyHarm, args ...string) bool {
	p.t.Helper()
	f := p.proxy.fails(faultAt(n, h.do))
	p.sick.ends(p.quiet(p.t.Context(), append(args, h.args...)...))
	hit := p.proxy.hit(f)
	p.proxy.heals()
	return hit > 0
}

func (p *pruned) quiet(ctx context.Context, args ...string) *exec.Cmd {
	return p.sick.command(ctx, "kubectl-merge", args...)
}

// TestPrunedLies has the server lie about the set's members. Whatever it answers, the next run finds
// what is left, and what is reported as pruned is gone.
func TestPrunedLies(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	lists := func(kind string) func(string) bool {
		return func(request string) bool {
			return strings.HasPrefix(request, "GET ") && strings.Contains(request, kind+"?") && strings.Contains(request, "labelSelector=")
		}
	}
	none := lie(func([]byte) []byte {
		return []byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[]}`)
	})
	deletes := func(request string) bool { return strings.HasPrefix(request, "DELETE ") }
	gone := refuse(404, "NotFound", "there is none")
	for _, tt := range []struct {
		what  string
		fault fault
		code  int
		says  string
	}{
		{"an empty list, once", fault{hits: lists("roles"), most: 1, do: none}, 0, ""},
		{"empty lists, once each", fault{hits: lists(""), most: 3, do: none}, 3, "the server's list lacks configmap/a, which is there"},
		{"empty lists for ever", fault{hits: lists(""), do: none}, 3, "the server's list lacks configmap/a, which is there"},
		{"404 to a deletion, once", fault{hits: deletes, most: 1, do: gone}, 0, ""},
		{"404 to a deletion for ever", fault{hits: deletes, do: gone}, 1, "was not pruned"},
	} {
		t.Run(strings.ReplaceAll(tt.what, " ", "-"), func(t *testing.T) {
			t.Parallel()
			p := newPruned(t, s, &tally{counts: map[string]int{}})
			v2 := []string{"configmap/a"}
			p.manifest("v1.yaml", []string{"configmap/a", "configmap/b", "serviceaccount/r", "role.rbac.authorization.k8s.io/x"}, 1)
			p.manifest("v2.yaml", v2, 2)
			p.runs("v1.yaml")
			f := p.proxy.fails(tt.fault)
			got := p.sick.tries("kubectl-merge", append([]string{"-f", "v2.yaml"}, prunedArgs...)...)
			if p.proxy.hit(f) == 0 || got.code != tt.code || !strings.Contains(got.stderr, tt.says) {
				t.Errorf("%d lies: want exit %d and %q on stderr\n%s", p.proxy.hit(f), tt.code, tt.says, got)
			}
			is := p.objects()
			for line := range strings.Lines(got.stdout) {
				if ref, pruned := strings.CutSuffix(strings.TrimSpace(line), " pruned"); pruned && is[ref].UID != "" {
					t.Errorf("%s is reported as pruned, and there\n%s", ref, got)
				}
			}
			p.proxy.heals()
			p.runs("v2.yaml")
			p.exact("after an honest run", v2)
		})
	}
}

// TestPruned plays random sequences of runs of the program and of kubectl on one set, of
// what others do to its members and beside it, and of kills and faults at random requests.
// After each run that ends, the set holds just the input, and what was kept for a reason;
// nothing outside it is ever deleted.
func TestPruned(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	n := seed(t)
	counts := &tally{counts: map[string]int{}}
	t.Cleanup(func() { t.Logf("%s", counts) })
	for i := range uint64(3 * *soak) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			q := &prunedSequence{pruned: newPruned(t, s, counts), rand: rand.New(rand.NewPCG(n, i))}
			q.runs(q.manifest("input.yaml", q.input(), 0))
			for step := range 10 {
				q.step(step)
			}
		})
	}
}

// prunedSequence is one random sequence.
type prunedSequence struct {
	*pruned
	rand *rand.Rand
}

// input is a random choice of objects.
func (q *prunedSequence) input() []string {
	out := []string{"configmap/always"}
	for _, kind := range []string{"configmap", "serviceaccount", "role.rbac.authorization.k8s.io"} {
		for _, name := range []string{"a", "b", "c"} {
			if q.rand.IntN(2) == 0 {
				out = append(out, kind+"/"+name)
			}
		}
	}
	return out
}

func (q *prunedSequence) step(n int) {
	q.others(n)
	input := q.input()
	file := q.manifest("input.yaml", input, n)
	before := foreign(q.objects())
	args := append([]string{"-f", file}, prunedArgs...)
	where := fmt.Sprintf("step %d", n)
	switch q.rand.IntN(4) {
	case 0:
		if q.killedAt(faultAt(q.rand.IntN(40), nil), q.rand.IntN(2) == 0, args...) {
			q.counts.add("kills", 1)
		}
		where += ", after a kill"
	case 1:
		harms := slices.DeleteFunc(faultyHarms(), func(h faultyHarm) bool { return h.slow })
		h := harms[q.rand.IntN(len(harms))]
		if q.faultedAt(q.rand.IntN(40), h, args...) {
			q.counts.add("faults", 1)
		}
		where += ", after " + h.name
	case 2:
		q.kubectl(file, before, input)
		return
	}
	q.untouched(where, before, input)
	q.counts.add("runs of the program", 1)
	q.runs(file)
	q.exact(where, input)
	q.untouched(where, before, input)
}

// kubectl applies the input: it deletes what is kept, too.
func (q *prunedSequence) kubectl(file string, before map[string]types.UID, input []string) {
	q.t.Helper()
	q.appliesTheirs(file)
	q.counts.add("runs of kubectl", 1)
	q.exact("after kubectl", input)
	q.untouched("after kubectl", before, input)
}

// appliesTheirs has kubectl apply the input to the set.
func (p *pruned) appliesTheirs(file string) said {
	p.t.Helper()
	cmd := p.command(p.t.Context(), "kubectl", "apply", "-f", file, "--prune", "--applyset=shop", "-n", p.ns)
	cmd.Env = append(cmd.Env, "KUBECTL_APPLYSET=true")
	got := p.ends(cmd)
	if got.code != 0 {
		p.t.Fatal(got)
	}
	return got
}

// others do something to the members, or beside them.
func (q *prunedSequence) others(n int) {
	var members []string
	for ref, o := range q.objects() {
		if o.Labels[partOf] != "" {
			members = append(members, ref)
		}
	}
	slices.Sort(members)
	ref := members[q.rand.IntN(len(members))]
	switch q.rand.IntN(5) {
	case 0:
		q.does("kubectl", "create", "configmap", fmt.Sprintf("theirs-%d", n))
	case 1:
		q.does("kubectl", "annotate", ref, "--overwrite", keepMarker+"=keep")
	case 2:
		q.does("kubectl", "delete", ref)
	case 3:
		q.does("kubectl", "label", ref, partOf+"-") // it is in no set now
	case 4:
		q.does("kubectl", "annotate", ref, "--overwrite", fmt.Sprintf("note=%d", n))
	}
	q.counts.add("edits of others", 1)
}
