package model

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// bookmarks is how often a watch that has nothing to send is sent a version.
const bookmarks = time.Minute

func (m *Model) version() string { return strconv.Itoa(m.revision) }

func (w *watch) version() string {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	return w.m.version()
}

// watch answers with a stream of what changes after a version.
func (m *Model) watch(req *http.Request, a Asked) (*http.Response, error) {
	q := req.URL.Query()
	from, err := strconv.Atoi(q.Get("resourceVersion"))
	lasts, bad := strconv.Atoi(q.Get("timeoutSeconds"))
	if err != nil || bad != nil || from == 0 {
		return nil, Uncovered("a watch without a version, or without an end")
	}
	w := &watch{m: m, ctx: req.Context(), resource: a.Resource, only: strings.TrimPrefix(q.Get("fieldSelector"), "metadata.name="), from: from, end: time.Now().Add(time.Duration(lasts) * time.Second)}
	out := Response(req, 200, nil)
	out.Body, out.ContentLength = w, -1
	return out, nil
}

// watch is the body of an answer to a watch.
type watch struct {
	m              *Model
	ctx            context.Context
	resource, only string
	from           int
	end            time.Time
	ready          bytes.Buffer
}

// Read waits for the next change.
func (w *watch) Read(p []byte) (int, error) {
	for w.ready.Len() == 0 {
		changed := w.fill()
		if w.ready.Len() > 0 {
			break
		}
		mark := time.NewTimer(min(bookmarks, time.Until(w.end)))
		select {
		case <-changed:
		case <-w.ctx.Done():
			mark.Stop()
			return 0, w.ctx.Err()
		case <-mark.C:
			if !time.Now().Before(w.end) {
				return 0, io.EOF
			}
			w.line("BOOKMARK", map[string]any{"metadata": map[string]any{"resourceVersion": w.version()}})
		}
		mark.Stop()
	}
	return w.ready.Read(p)
}

// fill takes the changes since it was called last. The next one closes the channel.
func (w *watch) fill() <-chan struct{} {
	changes, next := w.m.since(w.resource, w.from)
	for _, e := range changes {
		w.from, _ = strconv.Atoi(of(e.Is).GetResourceVersion()) // of a number
		if w.only == "" || w.only == of(e.Is).GetName() {
			w.line(string(e.Type), e.Is)
		}
	}
	return next
}

func (w *watch) line(kind string, object any) {
	text, err := json.Marshal(map[string]any{"type": kind, "object": object})
	if err != nil {
		panic(err) // what is stored is JSON
	}
	w.ready.Write(append(text, '\n'))
}

// Close ends it.
func (w *watch) Close() error { return nil }
