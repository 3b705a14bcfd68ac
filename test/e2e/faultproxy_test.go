package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"time"
)

// harm is how a fault handles a request: it answers it, or has the server serve it
// and spoils the answer.
type harm func(w http.ResponseWriter, r *http.Request, server http.Handler)

// fault is a harm that befalls some requests.
type fault struct {
	hits func(request string) bool // "PATCH /api/v1/...?..."
	skip int                       // so many are spared first
	most int                       // and so many hit; 0: all
	do   harm
	seen int
	done int
}

// fails adds a fault to what befalls requests from here on, and gives it back,
// for its count.
func (p *proxy) fails(f fault) *fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, &f)
	return &f
}

// heals ends all faults.
func (p *proxy) heals() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = nil
}

// fault is the first that befalls a request, nil where none does.
func (p *proxy) fault(r *http.Request) *fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.faults {
		if !f.hits(r.Method + " " + r.URL.RequestURI()) {
			continue
		}
		f.seen++
		if f.seen <= f.skip || f.most > 0 && f.done == f.most {
			continue
		}
		f.done++
		return f
	}
	return nil
}

// hit says how many requests the fault befell.
func (p *proxy) hit(f *fault) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return f.done
}

// watches reports whether a request has come that watches objects.
func (p *proxy) watches() bool { return p.came(regexp.MustCompile("watch=true")) > 0 }

// of hits the requests of some classes; see class.
func of(classes ...string) func(string) bool {
	return func(request string) bool {
		for _, c := range classes {
			if class(request) == c {
				return true
			}
		}
		return false
	}
}

// about hits the requests of a class whose URL contains a text.
func about(class, text string) func(string) bool {
	hits := of(class)
	return func(request string) bool { return hits(request) && strings.Contains(request, text) }
}

// refuse answers as the API server does when it refuses.
func refuse(code int, reason, message string, headers ...string) harm {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code)
	}
}

// gateway answers as something before the server does that is no API server.
func gateway(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusBadGateway)
	fmt.Fprint(w, "<html><head><title>502 Bad Gateway</title></head></html>")
}

// cutBefore ends the connection before the server hears of the request.
func cutBefore(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// cutAfter ends the connection when the server has done what was asked.
func cutAfter(_ http.ResponseWriter, r *http.Request, server http.Handler) {
	server.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// truncate lets the first half of the answer through, and calls it the whole.
func truncate(w http.ResponseWriter, r *http.Request, server http.Handler) {
	half(w, r, server)
}

// tear lets the first half of the answer through and ends the connection.
func tear(w http.ResponseWriter, r *http.Request, server http.Handler) {
	half(w, r, server)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func half(w http.ResponseWriter, r *http.Request, server http.Handler) {
	r.Header.Set("Accept-Encoding", "identity")
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, r)
	body := answer.Body.Bytes()
	for name, values := range answer.Header() {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body[:len(body)/2])
}

// slow has the answer wait.
func slow(d time.Duration) harm {
	return func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
		server.ServeHTTP(w, r)
	}
}

// never gives no answer, and the server does not hear of the request.
func never(_ http.ResponseWriter, r *http.Request, _ http.Handler) { <-r.Context().Done() }

// stranger has the server see a token that it does not know, as it does when one
// has expired.
func stranger(w http.ResponseWriter, r *http.Request, server http.Handler) {
	r.Header.Set("Authorization", "Bearer expired")
	server.ServeHTTP(w, r)
}

// lie has the server answer, and another answer reported.
func lie(change func([]byte) []byte) harm {
	return func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		r.Header.Set("Accept-Encoding", "identity")
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, r)
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(change(answer.Body.Bytes()))
	}
}

// replacing makes a lie of a text.
func replacing(old, by string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(old), []byte(by)) }
}
