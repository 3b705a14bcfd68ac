package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Write holds the options of a write.
type Write struct {
	FieldManager    string
	FieldValidation string // Strict, Warn or Ignore; "" leaves it to the server
	DryRun          bool   // the server processes the request but stores nothing
	Force           bool   // a server-side apply takes over the fields of other managers
	For             Purpose
}

// Get reads one object, with exact numbers; the error is IsNotFound if there is none. A response about another
// object is an error. An object of a kind that is declared in a version which the server has yet to serve is read
// in one that it serves. Where discovery has a kind that the server does not serve, the error is that of Find.
func (c *Cluster) Get(ctx context.Context, t Target) (map[string]any, error) {
	obj, err := c.get(ctx, t)
	if refusal(err).Text == unserved {
		if r, ok := c.earlier(ctx, t.Resource); !ok {
			err = c.outdated(ctx, t.Resource, err)
		} else if was, failed := c.get(ctx, Target{Resource: r, Namespace: t.Namespace, Name: t.Name}); refusal(failed).Text != unserved {
			if obj, err = was, failed; err == nil {
				obj["apiVersion"] = t.GroupVersion()
			}
		}
	}
	return c.checked(t, obj, err)
}

func (c *Cluster) get(ctx context.Context, t Target) (map[string]any, error) {
	return again(ctx, func() (map[string]any, error) {
		return c.requestObject(ctx, t, "get", c.request("GET", t).Name(t.Name))
	})
}

// checked returns the response to a request about an object, unless it is about another one.
func (c *Cluster) checked(t Target, obj map[string]any, err error) (map[string]any, error) {
	if err != nil {
		return nil, err
	}
	if other := t.about(obj); other != "" {
		return nil, c.garbled(other)
	}
	return obj, nil
}

// readTries is how often a read is sent if its response is lost.
const readTries = 3

// again repeats a read if the response is lost.
func again[T any](ctx context.Context, read func() (T, error)) (T, error) {
	for try := 1; ; try++ {
		got, err := read()
		if try == readTries || !Unanswered(err) || TooSlow(err) || Sleep(ctx, time.Duration(try)*100*time.Millisecond) != nil {
			return got, err
		}
	}
}

// Way is a way to write an object: as a whole, or by a type of patch.
type Way = types.PatchType

// The ways.
const (
	Create     Way = ""        // the body is a new object
	Replace    Way = "replace" // the body is the object; IsConflict if its resourceVersion is outdated
	MergePatch Way = types.MergePatchType
	JSONPatch  Way = types.JSONPatchType
	Apply      Way = types.ApplyYAMLPatchType // server-side apply (KEP-555)
)

// Send writes an object, and returns it as stored. The error is a *Refusal if the server refuses, otherwise that of
// the connection; see IsConflict, IsForbidden and the others for its kinds. Refusal.TestFailed is set if a test of a
// JSON patch failed. By Apply, fields that the manager owned and the body lacks are removed. Fields of another manager
// lead to an error that is IsConflict, unless w.Force is set.
func (c *Cluster) Send(ctx context.Context, t Target, as Way, body any, w Write) (map[string]any, error) {
	data, err := object.Encode(body)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be written as JSON: %w", t, err)
	}
	verb, method, content := "patch", "PATCH", string(as)
	switch as {
	case Create:
		verb, method, content = "create", "POST", "application/json"
	case Replace:
		verb, method, content = "update", "PUT", "application/json"
	}
	req := c.request(method, t).SetHeader("Content-Type", content)
	if as != Create {
		req.Name(t.Name)
	}
	where(req, map[string]string{"fieldManager": w.FieldManager, "fieldValidation": w.FieldValidation})
	if w.DryRun {
		req.Param("dryRun", "All")
	}
	if w.Force && as == Apply {
		req.Param("force", "true")
	}
	// The client would repeat a write on Retry-After, even one that was executed, unnoticed by the
	// caller.
	obj, err := c.requestObject(ctx, t, verb, req.Body(data).MaxRetries(0))
	r := refusal(err)
	r.For, r.TestFailed = w.For, as == JSONPatch && r.ofTest()
	return c.checked(t, obj, err)
}

func (c *Cluster) request(verb string, t Target) *rest.Request {
	req := c.client.Verb(verb).AbsPath(apiPath(t.Group, t.Version))
	return req.NamespaceIfScoped(t.Namespace, t.Namespaced && t.Namespace != "").Resource(t.Plural).SetHeader("Accept", "application/json")
}

// where adds the parameters of a request that have a value.
func where(req *rest.Request, params map[string]string) {
	for name, value := range params {
		if value != "" {
			req.Param(name, value)
		}
	}
}

// requestObject returns the response to a request as a value.
func (c *Cluster) requestObject(ctx context.Context, t Target, verb string, req *rest.Request) (map[string]any, error) {
	data, err := c.answer(ctx, t, verb, req)
	if err != nil {
		return nil, err
	}
	v, err := merge.ReadJSON(data)
	if err != nil {
		return nil, c.garbled("is not JSON")
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, c.garbled("is no object")
	}
	if redact.IsSecretKind(t.Group, t.Kind) {
		c.Values.Add(obj)
		if verb == "get" && obj["kind"] != "PartialObjectMetadata" {
			c.whole.Store([2]string{t.Namespace, t.Name}, true)
		}
	}
	return obj, nil
}

// subjectKey is the context key of the Target of a request.
type subjectKey struct{}

// Subject returns the object that a request is about, from its context; false if there is none.
func Subject(ctx context.Context) (Target, bool) {
	t, ok := ctx.Value(subjectKey{}).(Target)
	return t, ok && t.Name != ""
}

// answer sends a request and returns the body of the response.
func (c *Cluster) answer(ctx context.Context, t Target, verb string, req *rest.Request) ([]byte, error) {
	if redact.IsSecretKind(t.Group, t.Kind) {
		ctx = WithoutBodies(ctx)
	}
	var pause time.Duration
	defer metered(ctx)()
	ctx = context.WithValue(ctx, subjectKey{}, t)
	result, hidden := c.sent(context.WithValue(ctx, pauseKey{}, &pause), t, verb, req)
	err := result.Error() // that of Raw lacks the server's message
	if err == nil {
		return result.Raw()
	}
	if err = c.refused(err, t, verb, pause); hidden {
		refusal(err).Text = unshown
	}
	return nil, err
}

// unshown stands in the place of a server's words about a Secret that cannot be read.
const unshown = "the server's words are not shown, as they may hold the Secret's values, which cannot be read to blank them: have get on it granted to you"

// sent sends a request. The refusal of a write to a Secret, and warnings about it, may quote the
// Secret's values: if those were not read, they are now. If they cannot be, the words are hidden.
func (c *Cluster) sent(ctx context.Context, t Target, verb string, req *rest.Request) (result rest.Result, hidden bool) {
	if c.Values == nil || verb == "get" || verb == "create" || !redact.IsSecretKind(t.Group, t.Kind) {
		return req.Do(ctx), false
	}
	result = req.WarningHandlerWithContext(rest.NoWarnings{}).Do(ctx)
	refused, warned := quoting(result.Error()), result.Warnings()
	if _, known := c.whole.Load([2]string{t.Namespace, t.Name}); !known && (refused || len(warned) > 0) {
		_, err := c.get(context.WithoutCancel(ctx), t)
		hidden = err != nil && !(refused && IsNotFound(err)) // it would have been created
	}
	for _, w := range warned {
		if hidden {
			w.Text = unshown
		}
		c.warnings.HandleWarningHeaderWithContext(ctx, w.Code, w.Agent, w.Text)
	}
	return result, hidden && refused
}

// quoting reports whether an error may have the words of a policy, a webhook or the validation of
// an object, and not only those of the server's own about the request.
func quoting(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	s := status.Status()
	switch s.Code {
	case http.StatusUnauthorized, http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return strings.Contains(s.Message, "denied")
	}
	return !strings.Contains(s.Message, ` is forbidden: User "`)
}

// Propagation states what happens to the dependents of an object that is deleted.
type Propagation string

// The propagations, as the API spells them.
const (
	Background Propagation = "Background" // dependents are deleted after the owner
	Foreground Propagation = "Foreground" // dependents are deleted before the owner
	Orphan     Propagation = "Orphan"     // dependents stay
)

// Deletion holds the options of a deletion.
type Deletion struct {
	UID             string // precondition: the UID of the object
	ResourceVersion string // precondition, unless ""
	Propagation     Propagation
	DryRun          bool // the server checks the request and deletes nothing
}

// Delete deletes one object. left is the object as it is being deleted, with its finalizers; nil if
// it no longer exists. If the server asks to wait, the request is sent again afterwards, up to
// Patience in total. The error is IsConflict if the object does not meet the Deletion's
// preconditions, and IsNotFound if there is none.
func (c *Cluster) Delete(ctx context.Context, t Target, d Deletion) (left map[string]any, err error) {
	preconditions := map[string]any{"uid": d.UID}
	if d.ResourceVersion != "" {
		preconditions["resourceVersion"] = d.ResourceVersion
	}
	options := map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions}
	if d.Propagation != "" {
		options["propagationPolicy"] = string(d.Propagation)
	}
	req := c.request("DELETE", t).Name(t.Name).SetHeader("Content-Type", "application/json")
	if d.DryRun { // the server reads only the body; a proxy may read the URL
		options["dryRun"] = []string{"All"}
		req.Param("dryRun", "All")
	}
	data, err := object.Encode(options)
	if err != nil {
		return nil, err
	}
	obj, err := c.requestObject(ctx, t, "delete", req.Body(data).MaxRetries(0))
	for pauses := (Pauses{Most: c.Patience()}); err != nil; {
		if asked, failed := pauses.Obey(ctx, err); !asked || failed != nil {
			return nil, cmp.Or(failed, err)
		}
		obj, err = c.requestObject(ctx, t, "delete", req)
	}
	if obj["kind"] == "Status" || merge.At[string](merge.At[map[string]any](obj, "metadata"), "deletionTimestamp") == "" {
		return nil, nil
	}
	return obj, nil
}
