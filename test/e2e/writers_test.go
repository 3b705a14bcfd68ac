package e2e

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// TestWriters has sixteen writers at one object: four of the program's processes,
// kubectl's scale, patch, annotate and label, server-side appliers, others who read
// and put back, and two who write status without a pause. Each has a counter of its
// own in the object, and a watch sees every version of it:
//
//   - no update is lost: every counter that a writer reported as written has been
//     there, none ever goes back or vanishes, and each version differs from the one
//     before in one writer's counter only;
//   - no writer starves: each run of the program ends, and well, or after some thirty
//     attempts with the advice to merge again, nothing written; such runs are counted,
//     and are the fewer;
//   - nothing is written over that was not read: every write of the program is
//     bound to a version or to the values that it replaces, and each value of
//     another writer that one of them overwrote is a value that it reported.
//
// In "own files" each of the four has manifests of its own and names the one before
// as its original; in "one file" all four apply the same manifest at the same time.
func TestWriters(t *testing.T) {
	s := server.need(t)
	for name, crowd := range map[string]func(*contest) []*writer{"own files": ownFiles, "one file": oneFile} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			c := newContest(t, s)
			all := append(crowd(c), c.others()...)
			hands := 0
			for _, w := range all {
				hands += max(w.hands, 1)
			}
			if hands != 16 {
				t.Fatalf("%d writers", hands)
			}
			c.play(all, time.Duration(*soak)*8*time.Second)
		})
	}
}

// writer writes its counter, again and again.
type writer struct {
	name  string
	hands int // processes; 0 is one
	pause time.Duration
	write func(n int) (ok bool) // one write of n, reported as done
	count func(d *appsv1.Deployment) int

	acked []int // by write, in order
}

// contest is one object and who writes it.
type contest struct {
	*testing.T
	user    *user
	through *user // leads the program through the proxy
	proxy   *proxy

	mu       sync.Mutex
	seen     map[string]map[int]bool // counters, by writer
	over     []string                // what the program overwrote of the rival's
	reported []string                // what it said it did
	versions int

	runs, overtaken, pinned int
	gaveUp                  int // runs of the program
	slowest                 time.Duration
	unbound                 []string
}

const contested = "contested"

func newContest(t *testing.T, s *apiServer) *contest {
	c := &contest{T: t, user: s.user(t, "writers"), seen: map[string]map[int]bool{}}
	c.user.file("hot.yaml", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: hot}, spec: {replicas: 0, selector: {matchLabels: {app: hot}},
  template: {metadata: {labels: {app: hot}}, spec: {containers: [{name: main, image: x}]}}}}`)
	c.user.does("kubectl", "create", "-f", "hot.yaml")
	p, err := newProxy(s.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.http.Close)
	p.answered = c.answered
	c.proxy, c.through = p, c.user.proxied(p)
	return c
}

// answered looks at what the program sends: each write is to be bound.
func (c *contest) answered(method, contentType string, body []byte, code int) {
	if method != "PATCH" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if code == 409 || code == 422 {
		c.overtaken++
	}
	if !strings.Contains(contentType, "json-patch") {
		if !regexp.MustCompile(`"resourceVersion":"\d+"`).Match(body) {
			c.unbound = append(c.unbound, string(body))
		}
		return
	}
	c.pinned++
	var ops []struct{ Op, Path string }
	if err := json.Unmarshal(body, &ops); err != nil {
		c.unbound = append(c.unbound, err.Error())
	}
	tested := map[string]bool{}
	for _, op := range ops {
		if tested[op.Path] = tested[op.Path] || op.Op == "test"; !tested[op.Path] {
			c.unbound = append(c.unbound, op.Op+" "+op.Path)
		}
	}
}

// play lets all write for a while, and then looks at what became of it.
func (c *contest) play(all []*writer, d time.Duration) {
	deployments := c.user.server.client.AppsV1().Deployments(c.user.ns)
	first, err := deployments.Get(c.Context(), "hot", metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	ctx, stop := context.WithCancel(c.Context())
	defer stop()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for was := first; ctx.Err() == nil; {
			w, err := deployments.Watch(ctx, metav1.ListOptions{ResourceVersion: was.ResourceVersion})
			if err != nil {
				continue // a busy server may end a watch; the next one goes on where it ended
			}
			was = c.watch(was, w, all)
			w.Stop()
		}
	}()
	end := time.Now().Add(d)
	goesOn := func(one *writer) bool { // longer on a busy machine, until all have met
		return time.Now().Before(end) || (len(one.acked) == 0 || !c.met()) && time.Now().Before(end.Add(patience))
	}
	var wait sync.WaitGroup
	for _, one := range all {
		wait.Go(func() {
			for n := 1; goesOn(one); n++ {
				if one.write(n) {
					one.acked = append(one.acked, n)
				}
				time.Sleep(one.pause)
			}
		})
	}
	wait.Wait()
	final, err := deployments.Get(c.Context(), "hot", metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	c.user.awaits(func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.seen["version"][number(final.ResourceVersion)]
	})
	stop()
	<-watched
	c.verdict(all, final)
}

// met: the program was overtaken, and has overwritten what the rival wrote.
func (c *contest) met() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.over) > 0 && c.overtaken > 0
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// watch compares each version with the one before, as long as the watch lasts, and
// gives the last one.
func (c *contest) watch(was *appsv1.Deployment, w watch.Interface, all []*writer) *appsv1.Deployment {
	for e := range w.ResultChan() {
		is, ok := e.Object.(*appsv1.Deployment)
		if !ok || e.Type != watch.Modified {
			c.Logf("the watch reports %s: %v", e.Type, e.Object)
			return was
		}
		c.mu.Lock()
		c.versions++
		c.note("version", number(is.ResourceVersion))
		var moved []string
		for _, one := range all {
			before, now := one.count(was), one.count(is)
			if now < before {
				c.Errorf("version %s: %s goes back from %d to %d", is.ResourceVersion, one.name, before, now)
			}
			if now != before {
				moved = append(moved, one.name)
				c.note(one.name, now)
			}
		}
		if len(moved) > 1 {
			c.Errorf("version %s: one write moved %v", is.ResourceVersion, moved)
		}
		if old, now := was.Annotations[contested], is.Annotations[contested]; old != now && strings.HasPrefix(now, "ours") && !strings.HasPrefix(old, "ours") && old != "" {
			c.over = append(c.over, old)
		}
		c.mu.Unlock()
		was = is
	}
	return was
}

func (c *contest) note(what string, n int) {
	if c.seen[what] == nil {
		c.seen[what] = map[int]bool{}
	}
	c.seen[what][n] = true
}

func (c *contest) verdict(all []*writer, final *appsv1.Deployment) {
	writes := 0
	for _, one := range all {
		writes += len(one.acked)
		if len(one.acked) == 0 {
			c.Errorf("%s never got to write", one.name)
			continue
		}
		for _, n := range one.acked {
			if !c.seen[one.name][n] {
				c.Errorf("%s reported that %d is written, and no version has it", one.name, n)
			}
		}
		if n := one.acked[len(one.acked)-1]; one.count(final) < n {
			c.Errorf("%s is at %d in the end, and reported that %d is written", one.name, one.count(final), n)
		}
		c.Logf("%-12s %5d writes", one.name, len(one.acked))
	}
	for _, value := range c.over {
		if !slices.Contains(c.reported, value) {
			c.Errorf("the rival's %s was overwritten, and no run reported it", value)
		}
	}
	for _, what := range c.unbound {
		c.Errorf("the program sent a write that is not bound to what it read: %s", what)
	}
	if c.runs >= 8 && c.gaveUp*2 > c.runs {
		c.Errorf("%d of %d runs of the program gave up: it starves", c.gaveUp, c.runs)
	}
	if len(c.over) == 0 || c.overtaken == 0 {
		c.Errorf("the contest was none: %d values overwritten, %d writes overtaken", len(c.over), c.overtaken)
	}
	c.Logf("%d versions, %d writes reported; the program: %d runs, of which %d gave up, %d writes overtaken, %d pinned JSON patches, %d values of the rival's overwritten, all reported; the slowest run took %s",
		c.versions, writes, c.runs, c.gaveUp, c.overtaken, c.pinned, len(c.over), c.slowest.Round(time.Millisecond))
}

// merges runs the program, and says whether it has merged. Where it has not, others
// were faster time after time, and it says so.
func (c *contest) merges(args ...string) bool {
	got := c.through.tries("kubectl-merge", args...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs++
	c.slowest = max(c.slowest, got.took)
	switch {
	case got.code == 0:
	case got.code == 1 && regexp.MustCompile(`was changed by others \d+ times while it was being merged: .*merge again`).MatchString(got.stderr):
		c.gaveUp++
	default:
		c.Errorf("a run of the program does not end well: %s", got)
	}
	for _, m := range regexp.MustCompile(contested+`: "(\d+)" .*overwritten`).FindAllStringSubmatch(got.stderr, -1) {
		c.reported = append(c.reported, m[1])
	}
	return got.code == 0
}
