package e2e

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// trouble is one fault, and what has to come of it.
type trouble struct {
	what  string
	why   string
	fault fault
	args  []string
	code  int
	says  string // a pattern for stderr, "" for nothing
	wrote string // which of the objects were written: "abc", "ab", …
}

// The objects of a trouble: two ConfigMaps and a Deployment, which another manager
// has labelled.
const (
	beforeTrouble = `
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1","gone":"x"}}
---
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"k":"1"}}
---
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"c"},"spec":{"selector":{"matchLabels":{"app":"c"}},
"template":{"metadata":{"labels":{"app":"c"}},"spec":{"containers":[{"name":"c","image":"one"}]}}}}
`
)

var afterTrouble = strings.NewReplacer(`"k":"1","gone":"x"`, `"k":"2"`, `"k":"1"`, `"k":"2"`, `"one"`, `"two"`).Replace(beforeTrouble)

var troubleRefs = map[string]string{"a": "configmap/a", "b": "configmap/b", "c": "deployment.apps/c"}

// TestFaults has the server, or what is on the way to it, fail in one way at a
// time while the second version of three objects is merged. Whatever happens,
//
//   - what is reported is true of every object;
//   - nothing of what others set is lost;
//   - the next run, without the fault, finishes the work, and the one after that
//     has nothing to do.
func TestFaults(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	for _, tt := range troubles {
		t.Run(strings.ReplaceAll(tt.what, " ", "-"), func(t *testing.T) {
			t.Parallel()
			tt.play(t, s)
		})
	}
}

func (tt trouble) play(t *testing.T, s *apiServer) {
	u := s.user(t, "fault")
	u.file("v1.yaml", beforeTrouble)
	u.file("v2.yaml", afterTrouble)
	u.merges("-f", "v1.yaml")
	u.does("kubectl", "label", "--field-manager=other", "configmap/a", "configmap/b", "deployment/c", "theirs=kept")
	was := u.versions("v2.yaml")

	p, err := newProxy(s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer p.http.Close()
	sick := u.proxied(p)
	f := p.fails(tt.fault)
	got := sick.tries("kubectl-merge", append([]string{"-f", "v2.yaml"}, tt.args...)...)
	if p.hit(f) == 0 {
		t.Fatalf("the fault befell no request:\n%s", strings.Join(p.requests, "\n"))
	}
	if ok, err := regexp.MatchString(tt.says, got.stderr); err != nil || !ok || got.code != tt.code || tt.says == "" && got.stderr != "" && got.code != 0 {
		t.Errorf("%s: want exit %d and %q on stderr\n%s", tt.why, tt.code, tt.says, got)
	}
	is := u.versions("v2.yaml")
	if wrote := written(was, is); wrote != tt.wrote {
		t.Errorf("%s: %q were written, want %q\n%s", tt.why, wrote, tt.wrote, got)
	}
	truthful(t, got, was, is)

	p.heals()
	sick.merges("-f", "v2.yaml")
	u.wantAfterTrouble()
	notUnchanged(t, "the run after that", words(sick.merges("-f", "v2.yaml")), 3)
}

func (u *user) wantAfterTrouble() {
	u.t.Helper()
	for name, ref := range troubleRefs {
		want := `{metadata: {labels: {theirs: kept}}, data: {k: "2", gone: $absent}}`
		if name == "c" {
			want = `{metadata: {labels: {theirs: kept}}, spec: {template: {spec: {containers: [{name: c, image: two}]}}}}`
		}
		v, err := decode([]byte(want))
		if err != nil {
			u.t.Fatal(err)
		}
		if why := mismatch(v, any(u.lives(ref)), ""); why != "" {
			u.t.Errorf("%s%s", ref, why)
		}
	}
}

// written are the objects, each by its letter, that have another version now.
func written(was, is map[string]string) string {
	var out string
	for _, name := range []string{"a", "b", "c"} {
		if ref := troubleRefs[name]; was[ref] != is[ref] {
			out += name
		}
	}
	return out
}

// truthful compares what a run said with what it did: created and configured are
// objects that were written, all others were not, save those of which it says that
// it cannot know.
func truthful(t *testing.T, got said, was, is map[string]string) {
	t.Helper()
	reported := words(got)
	for ref := range is {
		wrote := was[ref] != is[ref]
		unknown := regexp.MustCompile(regexp.QuoteMeta(ref) + `: .*whether it was written cannot be known`).MatchString(got.stderr)
		switch said := reported[ref] == "created" || reported[ref] == "configured"; {
		case said && !wrote:
			t.Errorf("%s is reported as %s, and was not written\n%s", ref, reported[ref], got)
		case !said && wrote && !unknown:
			t.Errorf("%s was written, and that is not reported\n%s", ref, got)
		}
	}
}

const busy = "the server is busy"

var troubles = []trouble{
	{
		what: "a conflict that was none", why: "a 409 is read and merged again",
		fault: fault{hits: about("WRITE", "/a?"), most: 2, do: refuse(409, "Conflict", "the object has been modified")},
		wrote: "abc",
	},
	{
		what: "404 to a write for ever", why: "no client changed the object, so no change is reported",
		fault: fault{hits: about("WRITE", "/b?"), do: refuse(404, "NotFound", `configmaps "b" not found`)},
		code:  1, says: `configmap/b: configmaps "b" not found: the server answered this to 5 writes, though the object is as it was read before each`, wrote: "ac",
	},
	{
		what: "429 with Retry-After", why: "the server says when to come again",
		fault: fault{hits: of("READ", "WRITE", "DRYRUN"), most: 4, do: refuse(429, "TooManyRequests", busy, "Retry-After", "1")},
		wrote: "abc",
	},
	{
		what: "429 for ever", why: "patience ends, and what was not written is reported",
		fault: fault{hits: of("WRITE"), do: refuse(429, "TooManyRequests", busy)},
		code:  1, says: `configmap/a: .*busy.*try again`,
	},
	{
		what: "500 on reading", why: "an object that cannot be read is not written, nor is any other",
		fault: fault{hits: about("READ", "/b"), do: refuse(500, "InternalError", "etcd is away")},
		code:  1, says: `configmap/b: .*etcd is away.*try again`,
	},
	{
		what: "500 on writing", why: "the others are written",
		fault: fault{hits: about("WRITE", "/b?"), do: refuse(500, "InternalError", "etcd is away")},
		code:  1, says: `configmap/b: .*etcd is away.*try again`, wrote: "ac",
	},
	{
		what: "503 with Retry-After", why: "the server says when to come again",
		fault: fault{hits: of("WRITE"), most: 2, do: refuse(503, "ServiceUnavailable", busy, "Retry-After", "1")},
		wrote: "abc",
	},
	{
		what: "503 in the dry run", why: "what could not be tried is not written",
		fault: fault{hits: about("DRYRUN", "/c?"), do: refuse(503, "ServiceUnavailable", busy)},
		code:  1, says: `deployment.apps/c: .*busy.*try again`,
	},
	{
		what: "a gateway in between", why: "its page is no answer of the API server",
		fault: fault{hits: about("WRITE", "/b?"), do: gateway},
		code:  1, says: `configmap/b: `, wrote: "ac",
	},
	{
		what: "a slow server", why: "slow is not broken",
		fault: fault{hits: of("READ", "WRITE"), most: 4, do: slow(1500 * time.Millisecond)},
		wrote: "abc",
	},
	{
		what: "too slow on reading", why: "--request-timeout ends it, nothing is written",
		fault: fault{hits: about("READ", "/b"), do: never}, args: []string{"--request-timeout=5s"},
		code: 1, says: `configmap/b: .*does not answer`,
	},
	{
		what: "too slow on writing", why: "it is read again, and what is found is reported",
		fault: fault{hits: about("WRITE", "/b?"), do: never}, args: []string{"--request-timeout=5s"},
		code: 1, says: `configmap/b: .*does not answer.*when it was read again it was not written`, wrote: "ac",
	},
	{
		what: "dripping", why: "--request-timeout is for the whole answer, to its last byte",
		fault: fault{hits: about("READ", "/b"), do: drips}, args: []string{"--request-timeout=5s"},
		code: 1, says: `configmap/b: .*does not answer`,
	},
	{
		what: "a stalled answer to a write", why: "it is read again, and what was sent is reported",
		fault: fault{hits: about("WRITE", "/b?"), most: 1, do: stalls}, args: []string{"--request-timeout=5s"},
		wrote: "abc",
	},
	{
		what: "a dripping discovery", why: "every request has its bound",
		fault: fault{hits: of("DISCOVERY"), do: drips}, args: []string{"--request-timeout=5s"},
		code: 1, says: `does not answer`,
	},
	{
		what: "come again for ever on reading", why: "Retry-After counts in sum",
		fault: fault{hits: about("READ", "/b"), do: refuse(429, "TooManyRequests", busy, "Retry-After", "1")}, args: []string{"--request-timeout=5s"},
		code: 1, says: `configmap/b: .*(busy|does not answer)`,
	},
	{
		what: "come again for ever on writing", why: "Retry-After counts in sum",
		fault: fault{hits: about("WRITE", "/b?"), do: refuse(503, "ServiceUnavailable", busy, "Retry-After", "1")}, args: []string{"--request-timeout=5s"},
		code: 1, says: `configmap/b: .*busy.*asked to be waited for more than 5s in all`, wrote: "ac",
	},
	{
		what: "reading cut", why: "a read may be sent again",
		fault: fault{hits: of("READ"), most: 2, do: cutBefore},
		wrote: "abc",
	},
	{
		what: "every read of one cut", why: "an object that cannot be read is not written, nor is any other",
		fault: fault{hits: about("READ", "/b"), do: cutBefore},
		code:  1, says: `configmap/b: `,
	},
	{
		what: "cut before the server heard", why: "the object is read again, and written if it still has to be",
		fault: fault{hits: about("WRITE", "/b?"), most: 1, do: cutBefore},
		wrote: "abc",
	},
	{
		what: "cut after the server wrote", why: "the object is read again, which shows that it was written",
		fault: fault{hits: about("WRITE", "/b?"), most: 1, do: cutAfter},
		wrote: "abc",
	},
	{
		what: "every write of one cut", why: "patience ends, and what is found is reported",
		fault: fault{hits: about("WRITE", "/b?"), do: cutBefore},
		code:  1, says: `configmap/b: .*when it was read again it was not written`, wrote: "ac",
	},
	{
		what: "cut for good after the server wrote", why: "whether it was written cannot be known, and is reported as such",
		fault: fault{hits: func(r string) bool { return about("READ", "/b")(r) || about("WRITE", "/b?")(r) }, skip: 1, do: cutAfter},
		code:  1, says: `configmap/b: .*whether it was written cannot be known`, wrote: "abc",
	},
	{
		what: "answer to a read torn", why: "half an object is none",
		fault: fault{hits: about("READ", "/b"), most: 1, do: tear},
		code:  0, wrote: "abc",
	},
	{
		what: "answer to a read truncated", why: "half an object is none",
		fault: fault{hits: about("READ", "/b"), do: truncate},
		code:  1, says: `configmap/b: .*answer`,
	},
	{
		what: "answer to a write torn", why: "the object is read again, which shows that it was written",
		fault: fault{hits: about("WRITE", "/b?"), most: 1, do: tear},
		wrote: "abc",
	},
	{
		what: "answer to a write truncated", why: "the object is read again, which shows that it was written",
		fault: fault{hits: about("WRITE", "/b?"), most: 1, do: truncate},
		wrote: "abc",
	},
	{
		what: "expired token", why: "nothing is written with half of the objects read",
		fault: fault{hits: of("READ"), skip: 1, do: stranger},
		code:  1, says: `the server does not know you: log in again`,
	},
	{
		what: "token expires in mid-run", why: "what was written is reported, and what was not",
		fault: fault{hits: of("WRITE"), skip: 1, do: stranger}, args: []string{"--concurrency=1"},
		code: 1, says: `configmap/b: the server does not know you: log in again`, wrote: "a",
	},
	{
		what: "discovery down", why: "what the kinds are cannot be known",
		fault: fault{hits: of("DISCOVERY"), do: refuse(http.StatusServiceUnavailable, "ServiceUnavailable", busy)},
		code:  1, says: `ConfigMap v1: cannot be looked up: .*try again`,
	},
	{
		what: "discovery forbidden", why: "what is missing is named, and who has it",
		fault: fault{hits: of("DISCOVERY"), do: refuse(403, "Forbidden", `forbidden: User "u" cannot get path "/api"`)},
		code:  1, says: `ConfigMap v1: cannot be looked up: .*cannot get path "/api": ask an administrator of the cluster for this permission, which the cluster role system:discovery has`,
	},
	{
		what: "discovery of the other groups forbidden", why: "the path that is refused is named, not the one of the kind",
		fault: fault{hits: about("DISCOVERY", "/apis"), do: refuse(403, "Forbidden", `forbidden: User "u" cannot get path "/apis"`)},
		code:  1, says: `ConfigMap v1: cannot be looked up: .*cannot get path "/apis": ask an administrator of the cluster for this permission`,
	},
	{
		what: "lies about the kind", why: "an object of another kind is not what was asked for",
		fault: fault{hits: about("READ", "/b"), do: lie(replacing(`"kind":"ConfigMap"`, `"kind":"Secret"`))},
		code:  1, says: `configmap/b: .*(another|Secret)`,
	},
	{
		what: "lies about the name", why: "another object is not what was asked for",
		fault: fault{hits: about("READ", "/b"), do: lie(replacing(`"name":"b"`, `"name":"other"`))},
		code:  1, says: `configmap/b: .*other`,
	},
	{
		what: "answers with a list", why: "is no object",
		fault: fault{hits: about("READ", "/b"), do: lie(func([]byte) []byte { return []byte(`[1, 2]`) })},
		code:  1, says: `configmap/b: .*no object`,
	},
	{
		what: "answers without a resourceVersion", why: "no write may go unbound",
		fault: fault{hits: about("READ", "/b"), do: lie(func(b []byte) []byte {
			return regexp.MustCompile(`"resourceVersion":"\d+",?`).ReplaceAll(b, nil)
		})},
		code: 1, says: `configmap/b: .*resourceVersion`,
	},
}
