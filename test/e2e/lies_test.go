package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// falsehood is one way in which a server, or what stands before it, lies.
type falsehood struct {
	what, why string
	fault     fault
	args      []string // nil: the second version is merged
	code      int
	says      string // a pattern for stderr, "" for nothing in particular
	hides     string // what is not on stdout, "" for nothing in particular
	wrote     string // which of the objects were written
}

// answer gives a body in the server's place.
func answer(code int, headers map[string]string, body string) harm {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

// endless begins an answer, and goes on for as long as anybody listens.
func endless(begin, again string) harm {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		_, err := w.Write([]byte(begin))
		for more := []byte(strings.Repeat(again, 1+(1<<20)/len(again))); err == nil; {
			_, err = w.Write(more)
		}
	}
}

// warns adds a warning to the server's answer. The client itself drops one with
// control characters; not so one that turns the order of reading round.
func warns(w http.ResponseWriter, r *http.Request, server http.Handler) {
	w.Header().Set("Warning", `299 - "=?utf-8?b?`+base64.StdEncoding.EncodeToString([]byte("mind \u202ee"))+`?="`)
	server.ServeHTTP(w, r)
}

// lastPageNever gives pages of a list without end: nothing on them, and always more.
func lastPageNever(items string) harm {
	page := 0
	return func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		page++
		body := fmt.Sprintf(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":"t%d"},"items":[%s]}`, page, items)
		answer(200, nil, body)(w, r, server)
	}
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(text)
}

func statusOf(code int, reason, details string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%s,"reason":%q,"code":%d%s}`, quoted("no: "+evil), reason, code, details)
}

var falsehoods = []falsehood{
	{
		what: "a refusal that paints", why: "what a server says is spelled out",
		fault: fault{hits: about("WRITE", "/b?"), do: answer(403, nil, statusOf(403, "Forbidden", ""))},
		code:  1, says: `configmap/b: no: a\\x1b\[31mb`, wrote: "ac",
	},
	{
		what: "complaints that paint", why: "fields and reasons are spelled out too",
		fault: fault{hits: about("WRITE", "/b?"), do: answer(422, nil, statusOf(422, "Invalid", `,"details":{"causes":[{"field":`+quoted("data."+evil)+`,"message":`+quoted("Invalid value: "+evil)+`}]}`))},
		code:  1, says: `configmap/b: `, wrote: "ac",
	},
	{
		what: "warnings that paint", why: "a warning is a server's words too",
		fault: fault{hits: of("WRITE"), do: warns},
		says:  `Warning: configmap/.: mind \\u202ee`, wrote: "abc",
	},
	{
		what: "warnings of discovery", why: "also where kubectl's own client asks",
		fault: fault{hits: of("DISCOVERY"), do: warns}, args: []string{"view-last-applied", "configmap/a"},
	},
	{
		what: "an endless object", why: "an answer has its bound",
		fault: fault{hits: about("READ", "/b"), do: endless(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"b"},"data":{"k":"`, "x")},
		code:  1, says: `configmap/b: .*answer is larger than 256 MiB`,
	},
	{
		what: "an endless answer to a write", why: "the object is read again, which shows that it was not written",
		fault: fault{hits: about("WRITE", "/b?"), do: endless(`{"kind":"ConfigMap","data":{"k":"`, "x")},
		code:  1, says: `configmap/b: .*answer is larger than 256 MiB.*not written`, wrote: "ac",
	},
	{
		what: "an object without a bottom", why: "nothing is as deep as that",
		fault: fault{hits: about("READ", "/b"), do: answer(200, nil, `{"kind":"ConfigMap","metadata":{"name":"b"},"x":`+strings.Repeat("[", 1_000_000))},
		code:  1, says: `configmap/b: .*not JSON`,
	},
	{
		what: "garbage", why: "is not JSON",
		fault: fault{hits: about("READ", "/b"), do: answer(200, nil, "\x00\x1b[31m{]")},
		code:  1, says: `configmap/b: .*not JSON`,
	},
	{
		what: "a success that is no object", why: "a Status is another kind",
		fault: fault{hits: about("READ", "/b"), do: answer(200, nil, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)},
		code:  1, says: `configmap/b: .*another object`,
	},
	{
		what: "another namespace", why: "an object is identified by that too",
		fault: fault{hits: about("READ", "/b"), do: lie(func(b []byte) []byte {
			return regexp.MustCompile(`"namespace":"[^"]*"`).ReplaceAll(b, []byte(`"namespace":"x\u001b[31m"`))
		})},
		code: 1, says: `configmap/b: .*another namespace, x\\x1b`,
	},
	{
		what: "another object written", why: "an answer about another object is not an answer; it is read again",
		fault: fault{hits: about("WRITE", "/b?"), most: 1, do: lie(replacing(`"name":"b"`, `"name":"other"`))},
		args:  []string{"-f", "v2.yaml", "-o", "yaml"}, hides: "name: other", wrote: "abc",
	},
	{
		what: "another kind written", why: "the same",
		fault: fault{hits: about("WRITE", "/b?"), most: 1, do: lie(replacing(`"kind":"ConfigMap"`, `"kind":"Secret"`))},
		args:  []string{"-f", "v2.yaml", "-o", "yaml"}, hides: "kind: Secret", wrote: "abc",
	},
	{
		what: "a way to another host", why: "that host would be given the user's token",
		fault: fault{hits: about("READ", "/b"), do: answer(307, map[string]string{"Location": "https://elsewhere.invalid/api"}, "")},
		code:  1, says: `configmap/b: .*on to another host, elsewhere\.invalid, which would be given your credentials`,
	},
	{
		what: "a write to another host", why: "the object goes nowhere else either",
		fault: fault{hits: about("WRITE", "/b?"), do: answer(308, map[string]string{"Location": "https://elsewhere.invalid/api"}, "")},
		code:  1, says: `configmap/b: .*on to another host, elsewhere\.invalid`, wrote: "ac",
	},
	{
		what: "come again in a year", why: "a run does not wait that long",
		fault: fault{hits: of("WRITE"), do: answer(429, map[string]string{"Retry-After": "31536000"}, statusOf(429, "TooManyRequests", ""))},
		code:  1, says: `configmap/a: .*try again`,
	},
	{
		what: "an endless index of schemas", why: "is not needed for built-in kinds, and has its bound",
		fault: fault{hits: of("SCHEMA"), do: endless(`{"paths":{"x":"`, "x")}, args: []string{"-f", "gadget.yaml"},
		code: 1, says: `larger than 32 MiB`,
	},
	{
		what: "an endless discovery", why: "the same",
		fault: fault{hits: of("DISCOVERY"), do: endless(`{"kind":"APIResourceList","groupVersion":"`, "x")},
		code:  1, says: `(?i)larger than 256 MiB`,
	},
	{
		what: "empty pages for ever", why: "a list comes to an end, whatever the server says",
		fault: fault{hits: about("READ", "/configmaps?"), do: lastPageNever("")}, args: []string{"view-last-applied", "configmap", "--all"},
		code: 1, says: `configmaps: the server's list does not end`,
	},
	{
		what: "empty pages for a batch", why: "what the list does not say is read object by object",
		fault: fault{hits: about("READ", "/configmaps?"), do: lastPageNever("")}, args: []string{"-f", "many.yaml"},
	},
	{
		what: "a list of others", why: "an object of another namespace is not what was asked for",
		fault: fault{hits: about("READ", "/configmaps?"), do: answer(200, nil, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"m1","namespace":"kube-system","resourceVersion":"1"}}]}`)}, args: []string{"-f", "many.yaml"},
		code: 1, says: `configmap/m1: .*another namespace, kube-system`,
	},
}

// TestLies has the server, or what stands before it, lie. Whatever it says, the run
// ends after a few hundred requests at most, takes no more memory than an answer may have, drives no terminal, and
// what it reports is true.
func TestLies(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	for _, tt := range falsehoods {
		t.Run(strings.ReplaceAll(tt.what, " ", "-"), func(t *testing.T) { tt.play(t, s) })
	}
}

func (tt falsehood) play(t *testing.T, s *apiServer) {
	u := s.user(t, "lie")
	u.file("v1.yaml", beforeTrouble)
	u.file("v2.yaml", afterTrouble)
	u.file("gadget.yaml", gadgetBefore)
	var many strings.Builder
	for i := range 20 {
		fmt.Fprintf(&many, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: m%d}, data: {k: \"1\"}}\n", i)
	}
	u.file("many.yaml", many.String())
	if strings.Contains(tt.what, "schemas") {
		u.crds()
	}
	u.merges("-f", "v1.yaml")
	was := u.versions("v2.yaml")
	p, err := newProxy(s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer p.http.Close()
	lied := u.proxied(p)
	lied.home = t.TempDir() // with nothing known before
	f := p.fails(tt.fault)
	args := tt.args
	if args == nil {
		args = []string{"-f", "v2.yaml"}
	}
	got := lied.tries("kubectl-merge", args...)
	if p.hit(f) == 0 {
		t.Fatalf("no request was lied to:\n%s", strings.Join(p.requests, "\n"))
	}
	clean(t, got)
	if ok, err := regexp.MatchString(tt.says, got.stderr); err != nil || !ok || got.code != tt.code {
		t.Errorf("%s: want exit %d and %q on stderr (%v)\n%.3000s", tt.why, tt.code, tt.says, err, got)
	}
	if tt.hides != "" && (strings.Contains(got.stdout, tt.hides) || !strings.Contains(got.stdout, "name: b")) {
		t.Errorf("%s: %q is shown, or nothing is:\n%s", tt.why, tt.hides, got)
	}
	if n := len(p.requests); n > 500 {
		t.Errorf("%s: %d requests", tt.why, n)
	}
	is := u.versions("v2.yaml")
	if wrote := written(was, is); wrote != tt.wrote {
		t.Errorf("%s: %q were written, want %q\n%s", tt.why, wrote, tt.wrote, got)
	}
	if tt.args == nil {
		truthful(t, got, was, is)
	}
}
