package model

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Asked is an HTTP request, read.
type Asked struct {
	Verb     string // get, list, watch, create, update, patch, delete
	Resource string
	Name     string // "" of a list and of what is created
	DryRun   bool
	Group    string
	Body     []byte
}

// Read reads what a request asks for. It is not ok for discovery.
func Read(req *http.Request, body []byte) (a Asked, ok bool) {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		a.Group, parts = parts[1], parts[3:]
	default:
		return Asked{}, false
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	a.Resource, a.Body = parts[0], body
	if len(parts) > 1 {
		a.Name = strings.Join(parts[1:], "/") // a subresource is in no table
	}
	q := req.URL.Query()
	a.DryRun = q.Get("dryRun") != ""
	switch req.Method {
	case http.MethodGet:
		switch a.Verb = "get"; {
		case q.Get("watch") == "true":
			a.Verb = "watch"
		case a.Name == "":
			a.Verb = "list"
		}
	case http.MethodPost:
		a.Verb = "create"
	case http.MethodPut:
		a.Verb = "update"
	case http.MethodPatch:
		a.Verb = "patch"
	case http.MethodDelete:
		var o metav1.DeleteOptions
		_ = json.Unmarshal(body, &o) // the request's own answer reports it
		a.Verb, a.DryRun = "delete", len(o.DryRun) > 0
	}
	return a, true
}

// Serve answers a request, sent by by. The error is Uncovered, or one of the model itself.
func (m *Model) Serve(req *http.Request, body []byte, by string) (*http.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := Read(req, body)
	switch {
	case !ok:
		return discovered(req)
	case a.Verb == "watch":
		return m.watch(req, a)
	}
	if a.Verb == "get" && a.Resource == "namespaces" {
		return m.aNamespace(req, a)
	}
	if _, stored := kinds[a.Resource]; !stored {
		return m.nothing(req, a)
	}
	q := req.URL.Query()
	limit, _ := strconv.Atoi(q.Get("limit"))
	r := request{
		verb: a.Verb, resource: a.Resource, name: a.Name, manager: q.Get("fieldManager"), body: body, dryRun: a.DryRun, force: q.Get("force") == "true",
		limit: limit, token: q.Get("continue"), selector: q.Get("labelSelector"), only: strings.TrimPrefix(q.Get("fieldSelector"), "metadata.name="),
		metadata: strings.Contains(req.Header.Get("Accept"), "as=PartialObjectMetadata"), By: by,
	}
	if strings.Contains(a.Name, "/") || q.Get("resourceVersion") != "" {
		return nil, Uncovered("subresources, and lists of a version: " + req.URL.String())
	}
	if a.Verb == "patch" {
		r.patch = types.PatchType(req.Header.Get("Content-Type"))
	}
	code, out, err := m.answer(r)
	if err != nil {
		return nil, err
	}
	return Response(req, code, out), nil
}

// Response is an answer of JSON. Its server has priority and fairness.
func Response(req *http.Request, code int, out any) *http.Response {
	text, ok := out.(json.RawMessage)
	if !ok {
		var err error
		if text, err = json.Marshal(out); err != nil {
			panic(err) // what a server answers is JSON
		}
	}
	return &http.Response{
		StatusCode: code, Status: strconv.Itoa(code) + " " + http.StatusText(code), Proto: "HTTP/2.0", ProtoMajor: 2, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}, "X-Kubernetes-Pf-Flowschema-Uid": {"sim"}},
		Body:   io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)),
	}
}

// text is an object as JSON. Of one that is stored, which never changes, it is kept.
func (m *Model) text(o runtime.Object) ([]byte, error) {
	if found := m.texts[o]; found != nil {
		return found, nil
	}
	out, err := json.Marshal(o)
	if resource := strings.ToLower(o.GetObjectKind().GroupVersionKind().Kind) + "s"; err == nil && m.objects[resource][of(o).GetName()] == o {
		m.texts[o] = out
	}
	return out, err
}
