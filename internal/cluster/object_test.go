package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
)

// TestGet: numbers are exact, what is lost is read again, and an answer about something
// else is none.
func TestGet(t *testing.T) {
	for _, tt := range []struct {
		reason   string
		replies  []reply
		requests int
		value    any // of spec.n
		err      string
	}{
		{"an object", []reply{{body: podJSON("web", `,"spec":{"n":9007199254740993}`)}}, 1, json.Number("9007199254740993"), ""},
		{"an answer that breaks off is read again", []reply{{body: `{"kind`, torn: true}, {body: podJSON("web", `,"spec":{"n":1}`)}}, 2, json.Number("1"), ""},
		{"but not for ever", []reply{{body: `{"kind`, torn: true}}, 3, nil, "its answer broke off: try again"},
		{"not there", []reply{status(404, "NotFound", `pods "web" not found`)}, 1, nil, "not found"},
		{"not allowed", []reply{status(403, "Forbidden", `pods "web" is forbidden: User "u" cannot get resource "pods" in API group "" in the namespace "prod"`)}, 1, nil, "cannot get resource"},
		{"another object", []reply{{body: podJSON("other", "")}}, 1, nil, "is about another object, Pod/other"},
		{"an object of another namespace", []reply{{body: strings.ReplaceAll(podJSON("web", ""), "prod", "test")}}, 1, nil, "is about an object of another namespace, test"},
		{"a page of something in between", []reply{{body: "<html>log in</html>"}}, 3, nil, "is not JSON"},
		{"a list", []reply{{body: "[]"}}, 3, nil, "is no object"},
		{"a redirection to another host", []reply{{code: 302, header: map[string]string{"Location": "https://elsewhere.example.com/x"}}}, 3, nil, "sends the request on to another host, elsewhere.example.com, which would be given your credentials"},
	} {
		c, a := serve(t, map[string][]reply{podPath: tt.replies})
		obj, err := c.Get(t.Context(), pod)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v, want %s", tt.reason, err, tt.err)
		}
		spec, _ := obj["spec"].(map[string]any)
		if spec["n"] != tt.value {
			t.Errorf("%s: %v", tt.reason, obj)
		}
		if n := len(a.seen()); n != tt.requests {
			t.Errorf("%s: %d requests, want %d: %q", tt.reason, n, tt.requests, a.seen())
		}
	}
}

// TestWrites: each write is one request, with all that the server is to know of it.
func TestWrites(t *testing.T) {
	done := []reply{{body: podJSON("web", "")}}
	w := Write{FieldManager: "me", FieldValidation: "Strict", DryRun: true}
	const query = "?dryRun=All&fieldManager=me&fieldValidation=Strict "
	c, a := serve(t, map[string][]reply{podPath: done, "/api/v1/namespaces/prod/pods": done})
	for _, write := range []func() (map[string]any, error){
		func() (map[string]any, error) { return c.Send(t.Context(), pod, Create, map[string]any{"a": "<"}, w) },
		func() (map[string]any, error) {
			return c.Send(t.Context(), pod, MergePatch, map[string]any{"a": nil}, w)
		},
		func() (map[string]any, error) { return c.Send(t.Context(), pod, JSONPatch, []any{}, w) },
		func() (map[string]any, error) {
			return c.Send(t.Context(), pod, Replace, json.RawMessage(`{"a":1.0}`), w)
		},
		func() (map[string]any, error) {
			return c.Send(t.Context(), pod, Apply, map[string]any{"a": "b"}, Write{FieldManager: "me", Force: true})
		},
	} {
		if obj, err := write(); err != nil || obj["kind"] != "Pod" {
			t.Errorf("%v, %v", obj, err)
		}
	}
	want := []string{
		"POST /api/v1/namespaces/prod/pods" + query + `application/json {"a":"<"}`,
		"PATCH " + podPath + query + `application/merge-patch+json {"a":null}`,
		"PATCH " + podPath + query + `application/json-patch+json []`,
		"PUT " + podPath + query + `application/json {"a":1.0}`,
		"PATCH " + podPath + `?fieldManager=me&force=true application/apply-patch+yaml {"a":"b"}`,
	}
	if got := a.seen(); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRefusedWrites: no write is sent twice, and what its error is can be asked.
func TestRefusedWrites(t *testing.T) {
	for _, tt := range []struct {
		reason string
		reply  reply
		is     func(error) bool
	}{
		{"overtaken", status(409, "Conflict", "modified"), IsConflict},
		{"created by another client", status(409, "AlreadyExists", "exists"), IsAlreadyExists},
		{"gone", status(404, "NotFound", "gone"), IsNotFound},
		{"no patches", status(415, "UnsupportedMediaType", "no"), IsUnsupported},
		{"invalid", status(422, "Invalid", "spec.x: Invalid value"), IsTestFailed},
		{"forbidden", status(403, "Forbidden", "no"), IsForbidden},
		{"an answer that breaks off", reply{body: "{", torn: true}, func(err error) bool { return Unanswered(err) && Uncertain(err) && !TooSlow(err) }},
		{"an answer about another object", reply{body: podJSON("other", "")}, Uncertain},
		{"trouble behind the server", status(500, "InternalError", "etcd"), Uncertain},
		{"too many requests", reply{code: 429, header: map[string]string{"Retry-After": "3"}, body: status(429, "TooManyRequests", "later").body}, func(err error) bool {
			pause, asked := RetryAfter(err)
			return asked && pause == 3*time.Second && Uncertain(err)
		}},
		{"at once is a second", reply{code: 503, header: map[string]string{"Retry-After": "0"}, body: status(503, "ServiceUnavailable", "later").body}, func(err error) bool {
			pause, asked := RetryAfter(err)
			return asked && pause == time.Second
		}},
		{"an hour is not waited for", reply{code: 503, header: map[string]string{"Retry-After": "3600"}, body: status(503, "ServiceUnavailable", "later").body}, func(err error) bool {
			_, asked := RetryAfter(err)
			return !asked
		}},
	} {
		c, a := serve(t, map[string][]reply{podPath: {tt.reply}})
		if _, err := c.Send(t.Context(), pod, JSONPatch, []any{}, Write{}); err == nil || !tt.is(err) {
			t.Errorf("%s: %v", tt.reason, err)
		}
		if n := len(a.seen()); n != 1 {
			t.Errorf("%s: %d requests", tt.reason, n)
		}
	}
}

// TestDelete: a deletion is bound to what it was decided about.
func TestDelete(t *testing.T) {
	c, a := serve(t, map[string][]reply{podPath: {
		{body: `{"kind":"Status","status":"Success"}`},
		{body: strings.Replace(podJSON("web", ""), `"namespace"`, `"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["a/b"],"namespace"`, 1)},
	}})
	if left, err := c.Delete(t.Context(), pod, Deletion{UID: "u", ResourceVersion: "7", Propagation: Orphan, DryRun: true}); left != nil || err != nil {
		t.Errorf("%v, %v", left, err)
	}
	if left, err := c.Delete(t.Context(), pod, Deletion{UID: "u"}); left == nil || err != nil {
		t.Errorf("what waits for its finalizers is still there: %v, %v", left, err)
	}
	want := `DELETE ` + podPath + `?dryRun=All application/json {"apiVersion":"v1","dryRun":["All"],"kind":"DeleteOptions","preconditions":{"resourceVersion":"7","uid":"u"},"propagationPolicy":"Orphan"}`
	if got := a.seen()[0]; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestDeleteObeys: a server that asks to wait is asked again afterwards, and not before.
func TestDeleteObeys(t *testing.T) {
	busy := reply{code: 429, header: map[string]string{"Retry-After": "1"}, body: status(429, "TooManyRequests", "later").body}
	c, a := serve(t, map[string][]reply{podPath: {busy, {body: `{"kind":"Status","status":"Success"}`}}})
	begun := time.Now()
	if _, err := c.Delete(t.Context(), pod, Deletion{UID: "u"}); err != nil || time.Since(begun) < time.Second || len(a.seen()) != 2 {
		t.Errorf("%v after %s; sent %q", err, time.Since(begun), a.seen())
	}
}

// TestPauses: a server is obeyed up to what is the most, and as long as the context lasts.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later, begun := &Refusal{Code: 503, Text: "later", Pause: time.Minute}, time.Now()
		p := Pauses{Most: 150 * time.Second}
		for range 2 {
			if asked, err := p.Obey(t.Context(), later); !asked || err != nil {
				t.Error(asked, err)
			}
		}
		if asked, err := p.Obey(t.Context(), &Refusal{Code: 503}); asked || err != nil || time.Since(begun) != 2*time.Minute {
			t.Error(asked, err, time.Since(begun))
		}
		if _, err := p.Obey(t.Context(), later); !errors.Is(err, later) || !strings.Contains(err.Error(), "more than 2m30s in all") {
			t.Error(err)
		}
	})
}

// TestSecretsAreRemembered: what was read of a Secret is not to leave in any message.
func TestSecretsAreRemembered(t *testing.T) {
	c, _ := serve(t, map[string][]reply{"/api/v1/namespaces/prod/secrets/s": {{body: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"prod"},"data":{"a":"aHVudGVyMjIy"}}`}}})
	c.Values = &redact.Values{}
	if _, err := c.Get(t.Context(), Target{Resource: secrets, Namespace: "prod", Name: "s"}); err != nil {
		t.Fatal(err)
	}
	if got := c.Values.Blank("hunter222 and aHVudGVyMjIy"); strings.Contains(got, "hunter222") || strings.Contains(got, "aHVudGVyMjIy") {
		t.Errorf("%q", got)
	}
}

// warned collects warnings.
type warned []string

func (w *warned) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	*w = append(*w, text)
}

// TestSecretQuoted: what a policy says about a Secret that is written without having been read has
// none of its values, as they are read then; where they cannot be, its words are not passed on.
func TestSecretQuoted(t *testing.T) {
	denied := status(403, "Forbidden", `secrets "s" is forbidden: a policy denied request: bad value aHVudGVyMjIy`)
	unread := status(403, "Forbidden", `secrets "s" is forbidden: User "u" cannot get resource "secrets" in API group ""`)
	stored := reply{body: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"prod"},"data":{"a":"aHVudGVyMjIy"}}`}
	deleted := reply{body: `{"kind":"Status","status":"Success"}`, header: map[string]string{"Warning": `299 - "bad value aHVudGVyMjIy"`}}
	for _, tt := range []struct {
		replies   []reply
		err, warn string
		requests  int
	}{
		{[]reply{denied, stored}, "bad value ***", "", 2},
		{[]reply{denied, unread}, unshown, "", 2},
		{[]reply{deleted, status(404, "NotFound", `secrets "s" not found`)}, "", unshown, 2},
		{[]reply{deleted, stored}, "", "bad value ***", 2},
		{[]reply{unread}, `User "u" cannot`, "", 1},
		{[]reply{status(409, "Conflict", "Operation cannot be fulfilled")}, "cannot be fulfilled", "", 1},
	} {
		c, a := serve(t, map[string][]reply{"/api/v1/namespaces/prod/secrets/s": tt.replies})
		var said warned
		c.warnings = &said
		_, err := c.Delete(t.Context(), Target{Resource: secrets, Namespace: "prod", Name: "s"}, Deletion{UID: "u"})
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%v, want %s", err, tt.err)
		}
		if got := c.Values.BlankOthers(strings.Join(said, "")); got != tt.warn {
			t.Errorf("warned of %q, want %q", got, tt.warn)
		}
		if len(a.seen()) != tt.requests {
			t.Errorf("%s: %q", tt.err, a.seen())
		}
	}
}

// TestSubject: a warning names the object that its request is about.
func TestSubject(t *testing.T) {
	if _, ok := Subject(t.Context()); ok {
		t.Error("a context of no request is about nothing")
	}
	if got, ok := Subject(context.WithValue(t.Context(), subjectKey{}, pod)); !ok || got != pod {
		t.Errorf("%v, %t", got, ok)
	}
}

// TestUnreachable: one line says what to look at.
func TestUnreachable(t *testing.T) {
	c, a := serve(t, nil)
	a.Close()
	_, err := c.Get(t.Context(), pod)
	var down *Unreachable
	if !errors.As(err, &down) || !strings.Contains(err.Error(), "was refused - did you specify the right host or port?") || Unanswered(err) {
		t.Errorf("%v", err)
	}
	if c.Patience() != maxPatience {
		t.Errorf("%s", c.Patience())
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := c.Get(ctx, pod); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestBounded: an answer without end ends.
func TestBounded(t *testing.T) {
	b := &boundedBody{ReadCloser: http.NoBody, left: 0, limit: 3 << 20}
	if _, err := b.Read(make([]byte, 1)); err == nil || err.Error() != "its answer is larger than 3 MiB" {
		t.Errorf("%v", err)
	}
	if err := (&Cluster{host: "https://h:1"}).unreachable(&endlessError{context.Canceled}); !TooSlow(err) || !Unanswered(err) {
		t.Errorf("%v: it is not to be asked for again", err)
	}
}
