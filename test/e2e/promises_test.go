package e2e

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/test/part"
)

// TestLawBoundUndone holds two laws on the server, for random objects of every kind that can
// be written, and of custom resources:
//
//   - bound: a run is planned, others edit the objects, and the run is carried out bound to
//     the plan. Whatever is sent is in the plan.
//   - undone: others edit the objects again, and the run is undone from its record. What
//     the run had changed is as it was before, and what others have done stays, where they are
//     not of the same values.
//
// An ordinary run plays a part of the same objects each time (see ../part); with -soak they are
// drawn anew, and more.
func TestLawBoundUndone(t *testing.T) {
	counts := &tally{counts: map[string]int{}}
	t.Cleanup(func() { t.Logf("%s", counts) })
	s := fragile.need(t)
	n := sequenceSeed(t)
	for batch := range *soak {
		t.Run(fmt.Sprint(batch), func(t *testing.T) {
			newPromises(t, s, counts, rand.New(rand.NewPCG(n, uint64(batch)))).play()
		})
	}
	if least := part.Chosen(t).Least(60); counts.counts["objects written as planned"] < least || counts.counts["objects taken back"] < least {
		t.Error("too little was written to hold any law")
	}
}

// The states of an object.
const (
	asPlanned   = iota // as it was when the run was planned
	asFound            // as others have left it before the run
	asWritten          // as the run has left it
	asEdited           // as others have left it before the undo
	asTakenBack        // at the end
	states
)

// promised is an object, and what becomes of it.
type promised struct {
	kind   *sweptKind
	name   string
	v1, v2 map[string]any // nil: the run creates it, or prunes it
	other  func() map[string]any
	result map[string]any // what the run is to make of it
	live   [states]map[string]any
	added  bool // before the run, others have only added a label
	ref    string
	left   bool // nothing more is asked of it
}

func (o *promised) String() string { return o.kind.String() + " " + o.name }

// key identifies the object in all versions of its kind.
func (o *promised) key() string { return o.kind.group + " " + o.kind.kind + " " + o.name }

// promises are objects that are played together.
type promises struct {
	*sweep
	*rand.Rand
	counts *tally
	all    []*promised
	proxy  *proxy
	led    *user  // through the proxy
	said   string // by the undo

	mu   sync.Mutex
	sent map[*promised][]sentRequest
}

// sentRequest is a write that the program has sent.
type sentRequest struct {
	method string
	body   any
	code   int
}

// play is the whole of it.
func (p *promises) play() {
	p.apply1()
	p.read(asPlanned)
	p.others(asPlanned) // what the run overwrites, as planned
	p.read(asPlanned)
	p.plan()
	p.others(asPlanned)
	p.read(asFound)
	p.write()
	p.read(asWritten)
	p.bound()
	p.others(asWritten)
	p.read(asEdited)
	p.takeBack()
	p.read(asTakenBack)
	p.undone()
}

var promisedSet = []string{"--prune", "--applyset=law-set", "--yes"}

// alive are the objects that are still played.
func (p *promises) alive() []*promised {
	return slices.DeleteFunc(slices.Clone(p.all), func(o *promised) bool { return o.left })
}

// input writes the file of a version; nil where an object has none.
func (p *promises) input(name string, version func(*promised) map[string]any) {
	var all []object
	for _, o := range p.alive() {
		if v := version(o); v != nil {
			all = append(all, object{value: v})
		}
	}
	p.file(name, string(document(p.t, all...)))
}

func first(o *promised) map[string]any  { return o.v1 }
func second(o *promised) map[string]any { return o.v2 }

// apply1 applies the first version; what the server refuses is played no more.
func (p *promises) apply1() {
	p.input("v1.yaml", first)
	got := p.tries("kubectl-merge", append([]string{"-f", "v1.yaml", "--preflight=false", "-q"}, promisedSet...)...)
	said := words(got)
	for _, o := range p.all {
		if o.v1 != nil && said[o.ref] != "created" {
			o.left = true
			p.counts.add("objects that the server refuses at first", 1)
			if got.code == 0 {
				p.t.Errorf("%s: %q, and all went well", o, said[o.ref])
			}
		}
	}
}

// read reads all objects.
func (p *promises) read(state int) {
	kinds := map[*sweptKind]map[string]map[string]any{}
	for _, o := range p.all {
		if kinds[o.kind] == nil {
			kinds[o.kind] = map[string]map[string]any{}
			for _, live := range p.list(o.kind) {
				name, _ := live["metadata"].(map[string]any)["name"].(string)
				kinds[o.kind][name] = live
			}
		}
		o.live[state] = kinds[o.kind][o.name]
	}
}

// plan plans the second version, as a document and as objects.
func (p *promises) plan() {
	p.input("v2.yaml", second)
	got := p.tries("kubectl-merge", append([]string{"diff", "-f", "v2.yaml", "-o", "plan", "-q", "--show-secrets"}, promisedSet[:2]...)...)
	if got.code != 1 && got.code != 3 {
		p.t.Fatal(got)
	}
	p.file("plan.yaml", got.stdout)
	v, err := decodeJSON([]byte(p.tries("kubectl-merge", append([]string{"-f", "v2.yaml", "--dry-run=client", "-o", "json", "-q"}, promisedSet...)...).stdout))
	if err != nil {
		p.t.Fatal(err)
	}
	results := map[string]map[string]any{}
	for _, item := range v.(map[string]any)["items"].([]any) {
		o := drawn(item)
		results[keyOf(o)] = o.value
	}
	for _, o := range p.alive() {
		if o.v2 != nil {
			if o.result = results[keyOf(drawn(o.v2))]; o.result == nil {
				p.t.Errorf("%s: is not in the dry run", o)
			}
		}
	}
}

// write carries out the run. What the plan does not have, and what the server refuses, keeps
// all of it from being written: it is left out, and the run is tried again.
func (p *promises) write() {
	for try := 0; ; try++ {
		p.input("v2.yaml", second)
		p.listen()
		got := p.led.tries("kubectl-merge", append([]string{"-f", "v2.yaml", "--plan", "plan.yaml", "--record", "run.yaml", "--show-secrets"}, promisedSet...)...)
		p.proxy.heals()
		if got.code == 0 || got.code == 3 && !strings.Contains(got.stderr, "does not have what is listed") {
			p.counts.add("runs that are bound to a plan", 1)
			return
		}
		if _, err := os.Stat(filepath.Join(p.dir, "run.yaml")); err == nil || len(p.sent) > 0 || try == 9 || p.leaves(got) == 0 {
			p.t.Fatalf("%d requests: %s", len(p.sent), got)
		}
	}
}

// leaves leaves out the objects that errors are about.
func (p *promises) leaves(got said) (n int) {
	for _, o := range p.alive() {
		about := errorsAbout(got.stderr, o.ref)
		if about == "" {
			continue
		}
		n++
		p.leave(o)
		if strings.Contains(about, "plan") && o.added && o.v2 != nil { // a deletion is bound to what the object contains
			p.t.Errorf("%s: others have added a label, and no more: %s", o, about)
		}
		what := "objects that the server refuses"
		if strings.Contains(about, "plan") {
			what = "objects that would be written beyond the plan"
		}
		p.counts.add(what, 1)
	}
	return n
}

// leave leaves an object out, and takes it out of the set, which would have it pruned.
func (p *promises) leave(o *promised) {
	o.left = true
	if o.live[asFound] != nil {
		_, _ = p.ask(p.t.Context(), "PATCH", o.kind.url(p.ns, o.name), map[string]any{"metadata": map[string]any{"labels": map[string]any{partOf: nil}}}) // it may be gone
	}
}

// errorsAbout are the lines of stderr about an object, without its notes.
func errorsAbout(stderr, ref string) string {
	var b strings.Builder
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "note: ") && !strings.HasPrefix(line, "warning: ") && regexp.MustCompile(`(^|[ ,])`+regexp.QuoteMeta(ref)+`([: ,]|$)`).MatchString(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// listen notes the writes that pass by.
func (p *promises) listen() {
	p.sent = map[*promised][]sentRequest{}
	p.proxy.fails(fault{hits: func(request string) bool { return class(request) == "WRITE" }, do: func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		noted := &notedCode{ResponseWriter: w}
		server.ServeHTTP(noted, r)
		p.note(r, text, noted.code)
	}})
}

func (p *promises) note(r *http.Request, text []byte, code int) {
	body, err := decodeJSON(text)
	if err != nil {
		p.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	path := r.URL.Path
	if r.Method == http.MethodPost {
		path += "/" + fmt.Sprint(at(body, []any{"metadata", "name"}))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.all, func(o *promised) bool { return strings.HasSuffix(path, "/"+o.kind.resource+"/"+o.name) })
	if i >= 0 {
		p.sent[p.all[i]] = append(p.sent[p.all[i]], sentRequest{r.Method, body, code})
	} else if !strings.HasSuffix(path, "/secrets/law-set") {
		p.t.Errorf("%s %s: is none of the objects", r.Method, r.URL)
	}
}

// takeBack undoes the record. What the server refuses keeps all of it from being
// written: it is taken out of the record.
func (p *promises) takeBack() {
	for try := 0; ; try++ {
		got := p.tries("kubectl-merge", "undo", "run.yaml", "--policy=live")
		if got.code == 0 {
			p.counts.add("records that are taken back", 1)
			p.said = got.stderr
			return
		}
		if try == 9 || p.leaves(got) == 0 {
			p.t.Fatal(got)
		}
		text, err := os.ReadFile(filepath.Join(p.dir, "run.yaml"))
		if err != nil {
			p.t.Fatal(err)
		}
		p.file("run.yaml", p.only(string(text)))
	}
}

// only is a record of the objects that are still played.
func (p *promises) only(record string) string {
	record, end, _ := strings.Cut(record, "\nsummary:\n")
	blocks := strings.Split(record, "\n- action: ")
	kept := blocks[:1]
	for _, block := range blocks[1:] {
		if !slices.ContainsFunc(p.all, func(o *promised) bool {
			return o.left && strings.Contains(block, "\n  kind: "+o.kind.kind+"\n") && strings.Contains(block, "\n  name: "+o.name+"\n")
		}) {
			kept = append(kept, block)
		}
	}
	return strings.Join(kept, "\n- action: ") + "\nsummary:\n" + end
}
