package play

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/test/sim/model"
)

// fault is a failure of a request.
type fault struct {
	name string
	fits func(x *exchange) bool
	do   func(w *world, x *exchange, ask func() answer) answer
	form func(n int) *fault // of the event's number; nil: there is one form
}

func (f *fault) of(e Event) *fault {
	if f.form == nil {
		return f
	}
	return f.form(e.N)
}

var errReset = fmt.Errorf("read: %w", syscall.ECONNRESET)

func whatever(x *exchange) bool { return x.Verb != "watch" }

func of(verbs ...string) func(*exchange) bool {
	return func(x *exchange) bool { return slices.Contains(verbs, x.Verb) }
}

// faults are the rows of what goes wrong with a request that is no watch.
var faults = map[string]*fault{
	"lost-before": {fits: whatever, do: func(*world, *exchange, func() answer) answer { return answer{err: errReset} }},
	"lost-after": {fits: whatever, do: func(_ *world, x *exchange, ask func() answer) answer {
		ask()
		x.code = 0
		return answer{err: errReset}
	}},
	"twice": {fits: whatever, do: func(_ *world, _ *exchange, ask func() answer) answer { ask(); return ask() }},
	"slow": {fits: whatever, form: func(n int) *fault {
		return &fault{name: "slow", do: func(_ *world, x *exchange, ask func() answer) answer {
			x.late = []time.Duration{2 * time.Second, 40 * time.Second, 150 * time.Second}[n%3]
			return ask()
		}}
	}},
	"cut": {fits: whatever, do: func(_ *world, _ *exchange, ask func() answer) answer {
		return rewritten(ask(), func(text []byte) []byte { return text[:len(text)/2] })
	}},
	"garbage": {fits: whatever, do: func(_ *world, _ *exchange, ask func() answer) answer {
		return rewritten(ask(), func([]byte) []byte { return []byte("<html>busy</html>") })
	}},
	"stranger": {fits: of("get", "patch", "create"), do: func(_ *world, _ *exchange, ask func() answer) answer {
		return rewritten(ask(), func(text []byte) []byte {
			return bytes.Replace(text, []byte(`"metadata":{"name":"`), []byte(`"metadata":{"name":"not-`), 1)
		})
	}},
	"conflict": {fits: of("patch", "delete", "update"), do: refuses(409, metav1.StatusReasonConflict, 0)},
	"gone":     {fits: of("list"), do: refuses(410, metav1.StatusReasonExpired, 0)},
	"busy": {fits: whatever, form: func(n int) *fault {
		return &fault{name: "busy", do: refuses(429, metav1.StatusReasonTooManyRequests, 1+n%9)}
	}},
	"down": {fits: whatever, form: func(n int) *fault {
		return &fault{name: "down", do: refuses([]int{500, 502, 503, 504}[n%4], "", n/4%3)}
	}},
	"late-504": {fits: whatever, do: func(w *world, x *exchange, ask func() answer) answer {
		ask()
		return refuses(504, metav1.StatusReasonTimeout, 0)(w, x, ask)
	}},
	"denied": {fits: of("create", "patch", "update", "delete"), form: func(n int) *fault {
		return &fault{name: "denied", do: refuses([]int{403, 400, 422}[n%3], []metav1.StatusReason{metav1.StatusReasonForbidden, metav1.StatusReasonBadRequest, metav1.StatusReasonInvalid}[n%3], 0)}
	}},
	"stale-list": {fits: func(x *exchange) bool {
		return x.Verb == "list" && !strings.Contains(x.req.URL.RawQuery, "continue")
	}, do: func(_ *world, x *exchange, _ func() answer) answer {
		res, err := x.run.begun.Serve(x.req, x.body, x.run.id)
		x.code = http.StatusOK
		return answer{res, err}
	}},
	"not-found": {fits: of("delete"), do: refuses(404, metav1.StatusReasonNotFound, 0)},
	"empty-list": {fits: func(x *exchange) bool {
		return x.Verb == "list" && strings.Contains(x.req.URL.RawQuery, "labelSelector")
	}, do: func(_ *world, _ *exchange, ask func() answer) answer {
		return rewritten(ask(), func(text []byte) []byte {
			var list map[string]any
			if json.Unmarshal(text, &list) != nil {
				return text
			}
			list["items"] = []any{}
			out, _ := json.Marshal(list) // of JSON
			return out
		})
	}},
	"killed-before": {fits: func(*exchange) bool { return true }, do: func(_ *world, x *exchange, _ func() answer) answer { x.run.dies(); return answer{err: errDead} }},
	"killed-after": {fits: func(*exchange) bool { return true }, do: func(_ *world, x *exchange, ask func() answer) answer {
		ask()
		x.run.dies()
		return answer{err: errDead}
	}},
}

// faultNames are the kinds of events of faults and signals, in an order that a seed can choose by.
var faultNames = slices.Concat(slices.Sorted(maps.Keys(faults)), []string{"discovery", "pages"}, slices.Sorted(maps.Keys(watchFaults)), slices.Sorted(maps.Keys(signals)))

func init() {
	for name, f := range faults {
		f.name = name
	}
	for name, f := range watchFaults {
		f.name = name
	}
}

// refuses answers with a Status, and does nothing.
func refuses(code int, reason metav1.StatusReason, after int) func(*world, *exchange, func() answer) answer {
	return func(_ *world, x *exchange, _ func() answer) answer {
		x.code = code
		res := model.Response(x.req, code, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "simulated"})
		if after > 0 {
			x.pause = time.Duration(after) * time.Second
			res.Header.Set("Retry-After", strconv.Itoa(after))
		}
		return answer{res: res}
	}
}

func rewritten(a answer, as func([]byte) []byte) answer {
	if a.err != nil {
		return a
	}
	text, err := io.ReadAll(a.res.Body)
	if err != nil {
		return answer{err: err}
	}
	text = as(text)
	a.res.Body, a.res.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return a
}

// watchFaults are what goes wrong with all watches of a run, since what stands in the way of one
// stands in the way of each.
var watchFaults = map[string]*fault{
	"watch-silent":   {do: streams("", true)},
	"watch-empty":    {do: streams("", false)},
	"watch-garbage":  {do: streams("<html>\n", true)},
	"watch-unknown":  {do: streams(`{"type":"NEWS","object":{"metadata":{"name":"x","resourceVersion":"1"}}}`+"\n", true)},
	"watch-bookmark": {do: streams(`{"type":"BOOKMARK","object":{}}`+"\n", true)},
	"watch-stranger": {do: streams(`{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"other","resourceVersion":"1"}}}`+"\n", true)},
	"watch-busy":     {do: refuses(429, metav1.StatusReasonTooManyRequests, 2)},
	"watch-gone":     {do: refuses(410, metav1.StatusReasonExpired, 0)},
	"watch-refused":  {do: refuses(403, metav1.StatusReasonForbidden, 0)},
	"watch-reset":    {do: func(*world, *exchange, func() answer) answer { return answer{err: errReset} }},
}

// habits are how a server, or what is before it, treats all of a run.
var habits = map[string]func(r *run, e Event){
	"pages":     func(r *run, _ Event) { r.paged = true },
	"discovery": func(r *run, e Event) { r.blind, r.blindness = 1+e.At%4, e.N%3 },
	unfit:       func(r *run, e Event) { r.sighted, r.blind, r.blindness = e.At%4, 1+e.At/4%4, e.N%len(blindnesses) },
}

// unfit is the habit that is in no list by which a seed draws its other events (see Draw).
const unfit = "discovery-answers"

// blindnesses are how discovery fails: the first three from the first request on, and all of them in the
// middle of what is read, too. None of them may wait, since the program holds locks meanwhile.
var blindnesses = []func(*world, *exchange, func() answer) answer{
	refuses(http.StatusForbidden, metav1.StatusReasonForbidden, 0), refuses(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, 0), faults["garbage"].do,
	faults["cut"].do, faults["lost-before"].do, faults["lost-after"].do, refuses(http.StatusInternalServerError, metav1.StatusReasonInternalError, 0),
	refuses(http.StatusBadGateway, "", 0), refuses(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, 0), refuses(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 0),
}

// paged has a list come one object at a time.
func paged(req *http.Request) *http.Request {
	q := req.URL.Query()
	if q.Get("fieldSelector") != "" {
		return req
	}
	q.Set("limit", "1")
	req = req.Clone(req.Context())
	req.URL.RawQuery = q.Encode()
	return req
}

// discover answers discovery: some of the first requests with an error.
func (r *run) discover(req *http.Request) (*http.Response, error) {
	if r.sighted > 0 || r.blind == 0 {
		r.sighted--
		return r.world.model.Serve(req, nil, r.id)
	}
	r.blind--
	x := &exchange{turn: &turn{run: r, req: req}}
	a := blindnesses[r.blindness](r.world, x, func() answer {
		res, err := r.world.model.Serve(req, nil, r.id)
		return answer{res, err}
	})
	r.world.say("%s  %s: discovery fails", r.id, req.URL.Path)
	return a.res, a.err
}

// streams answers a watch with a text, and then with nothing, until the client is tired of it or at
// once.
func streams(text string, stays bool) func(*world, *exchange, func() answer) answer {
	return func(_ *world, x *exchange, _ func() answer) answer {
		x.code = 200
		res := model.Response(x.req, http.StatusOK, nil)
		res.Body, res.ContentLength = &stream{Reader: strings.NewReader(text), ends: x.req.Context().Done(), stays: stays}, -1
		return answer{res: res}
	}
}

type stream struct {
	io.Reader
	ends  <-chan struct{}
	stays bool
}

// Read blocks behind the text.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if errors.Is(err, io.EOF) && s.stays {
		<-s.ends
		return n, errors.New("canceled")
	}
	return n, err
}

// Close ends it.
func (s *stream) Close() error { return nil }
