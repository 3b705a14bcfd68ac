package cluster

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Refusal is an error response of a server, reduced to what a user needs: it contains
// neither the object that was sent nor a Secret's value.
type Refusal struct {
	Target Target
	Verb   string // get, list, create, patch, update
	Code   int    // HTTP status
	Reason metav1.StatusReason
	Causes []metav1.StatusCause // fields and reasons, as the server sent them
	Text   string               // what the server says, in one line, without the object's name

	// Kind and Name are from the details of the Status. They need not be those of the
	// object that was sent: namespaces "prod".
	Kind, Name string
	// Message is the complete message of the server. It may contain values that were sent
	// and must not be printed.
	Message string

	// Immutable holds the fields that can be set only once and that the write would change, as
	// messages name them; nil if they were not determined.
	Immutable []string

	// Fields are those that are named as invalid, as messages name them; nil if there are none, or
	// Within was not called yet.
	Fields []string

	For        Purpose       // of the write that was refused
	Pause      time.Duration // Retry-After of the response; 0: none
	TestFailed bool          // a test of a JSON patch failed
}

// ofTest reports whether a JSON patch was refused because a test failed. Such a response
// has no causes, unlike that for an invalid object, and names no webhook
// (k8s.io/apiserver, endpoints/handlers/patch.go).
func (r *Refusal) ofTest() bool {
	return r.Code == http.StatusUnprocessableEntity && len(r.Causes) == 0 && !strings.Contains(r.Text, "admission webhook")
}

// Error returns the text and what the user can do; the caller puts the object before it.
func (e *Refusal) Error() string { return e.Text + e.remedy() }

// IsNotFound reports whether the object, or the requested path, does not exist.
func IsNotFound(err error) bool { return Code(err) == http.StatusNotFound }

// IsConflict reports whether the object was changed since it was read.
func IsConflict(err error) bool { return refusal(err).Reason == metav1.StatusReasonConflict }

// IsOwned reports whether a server-side apply would change fields that other managers own.
func IsOwned(err error) bool { return ownershipConflict(refusal(err).Causes) }

func ownershipConflict(causes []metav1.StatusCause) bool {
	return slices.ContainsFunc(causes, func(c metav1.StatusCause) bool { return c.Type == metav1.CauseTypeFieldManagerConflict })
}

// IsAlreadyExists reports whether the object to be created exists.
func IsAlreadyExists(err error) bool { return refusal(err).Reason == metav1.StatusReasonAlreadyExists }

// IsUnsupported reports whether the server does not support this type of patch.
func IsUnsupported(err error) bool { return Code(err) == http.StatusUnsupportedMediaType }

// IsTestFailed reports whether a test of a JSON patch failed: a value has changed.
func IsTestFailed(err error) bool { return refusal(err).TestFailed }

// IsForbidden reports whether a permission is missing or an admission rule refused (403).
func IsForbidden(err error) bool { return Code(err) == http.StatusForbidden }

// RetryAfter returns how long the server asked to wait before the request is sent again (429 and
// 5xx with Retry-After); false if it did not.
func RetryAfter(err error) (time.Duration, bool) {
	if r := refusal(err); r.Pause != 0 && Busy(r.Code) {
		return r.Pause, true
	}
	return 0, false
}

// Busy reports whether a status code is that of a server that may answer later: 429 or 5xx.
func Busy(code int) bool {
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
}

// IsRefusal reports whether the server responded with an error.
func IsRefusal(err error) bool { return errors.As(err, new(*Refusal)) }

// OfObject reports whether a write was refused for what the object, or its namespace, is: not because a
// permission is missing, another client has written it, or the server is out of order.
func (e *Refusal) OfObject() bool {
	switch e.Code {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
		return e.Verb != "get"
	case http.StatusForbidden:
		return e.Verb != "get" && !strings.Contains(e.Message, " cannot ")
	}
	return false
}

// RefusesDryRun reports whether a webhook or aggregated server does not support dry run.
// Such a refusal is not about the object.
func RefusesDryRun(err error) bool {
	return IsRefusal(err) && strings.Contains(strings.ToLower(err.Error()), "dry run") && strings.Contains(err.Error(), "support")
}

// refusal returns the Refusal in err, an empty one for other errors.
func refusal(err error) *Refusal {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r
	}
	return &Refusal{}
}

// explain turns an error of client-go into a Refusal, or into one line that names why the
// server could not be reached.
func (c *Cluster) explain(err error, t Target, verb string) error {
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return c.unreachable(err)
	}
	s := status.Status()
	r := &Refusal{Target: t, Verb: verb, Code: int(s.Code), Reason: s.Reason, Message: s.Message}
	if s.Details != nil {
		r.Causes, r.Kind, r.Name = s.Details.Causes, s.Details.Kind, s.Details.Name
	}
	if fields := undeclared(s.Message); fields != nil {
		r.Code, r.Fields = http.StatusBadRequest, fields // as without server-side apply; the server answers 500
	}
	if strings.Contains(s.Message, noPriority) {
		r.Fields = []string{"spec.priorityClassName"}
	}
	if r.Text = r.messageOf(s); redact.IsSecretKind(t.Group, t.Kind) {
		r.Text = c.Values.BlankOwn(r.Text)
	} else {
		r.Text = c.Values.BlankOthers(r.Text)
	}
	return r
}

// refused is explain with the pause that the server asked for.
func (c *Cluster) refused(err error, t Target, verb string, pause time.Duration) error {
	err = c.explain(err, t, verb)
	refusal(err).Pause = pause
	return err
}

func hostOf(host string) string {
	if u, err := url.Parse(host); err == nil && u.Host != "" {
		return u.Host
	}
	return host
}

// unserved is the text about a path that the server does not have at all: of a kind, not of an object.
const unserved = "the server does not serve this kind"

func (r *Refusal) messageOf(s metav1.Status) string {
	secret := redact.IsSecretKind(r.Target.Group, r.Target.Kind)
	switch {
	case r.Code == http.StatusUnauthorized:
		return "the server does not know you: log in again, correct --token, or choose a user with --user or --context"
	case r.Code == http.StatusUnsupportedMediaType:
		return "the server does not take this kind of patch"
	case r.Code == http.StatusNotFound && strings.Contains(s.Message, "could not find the requested resource"):
		return unserved
	case r.Code == http.StatusUnprocessableEntity && len(r.Causes) > 0:
		return invalid(r.Causes, secret, asItIs)
	case r.Code == http.StatusBadRequest && strings.Contains(unexpected(r.Causes), "HTTP request to an HTTPS server"):
		return "the server speaks TLS, and was asked without: write https:// in place of http:// into its address in the kubeconfig, or into --server"
	case r.Code == http.StatusForbidden:
		return forbidden(s.Message)
	case ownershipConflict(r.Causes):
		parts := object.Each(r.Causes, func(c metav1.StatusCause) string { return strings.TrimPrefix(c.Field, ".") + ": " + c.Message })
		return shorten(strings.Join(parts, "; "), maxText)
	case r.Fields != nil:
		return shorten(strings.Join(r.Fields, ", "), maxText) + ": the server knows no such field: fix its name, or take it out of the file; without --server-side, --validate=ignore has the server drop it"
	}
	if r.Verb == "get" && r.Code == http.StatusNotFound && (r.Target.Kind == "Namespace" || !strings.HasPrefix(s.Message, "namespaces ")) {
		where := ""
		if r.Target.Namespace != "" {
			where = ", and the namespace (now " + r.Target.Namespace + "; -n or the file chooses another)"
		}
		return shorten(s.Message, maxText) + ": check the name" + where
	}
	return shorten(s.Message, maxText) + way(r.Code, s.Message)
}

// notDeclared matches a field that a server-side apply states and the server's type does not have
// (sigs.k8s.io/structured-merge-diff/typed).
var notDeclared = regexp.MustCompile(`\.(\S+): field not declared in schema`)

// undeclared returns the fields that a server-side apply was refused for, as messages name them; nil
// if that was not the reason.
func undeclared(message string) (fields []string) {
	if !strings.HasPrefix(message, "failed to create typed patch object") {
		return nil
	}
	for _, m := range notDeclared.FindAllStringSubmatch(message, -1) {
		fields = append(fields, m[1])
		if p, err := merge.ParsePath(m[1]); err == nil {
			fields[len(fields)-1] = p.String()
		}
	}
	return fields
}

// unexpected returns the text for a response that is not from an API server.
func unexpected(causes []metav1.StatusCause) string {
	for _, c := range causes {
		if c.Type == metav1.CauseTypeUnexpectedServerResponse {
			return c.Message
		}
	}
	return ""
}

// noPriority begins the refusal of a Pod whose priorityClassName is not there.
const noPriority = "no PriorityClass with name "

func forbidden(message string) string {
	short := shorten(message, maxText)
	if held, lacks, ok := strings.Cut(message, "not currently held:"); ok {
		lacks = strings.Join(strings.Fields(lacks), " ")
		return shorten(held+"not currently held: "+lacks, maxText) + ": have them granted to you first, or have it written by somebody who holds them"
	}
	switch {
	case strings.Contains(message, `User "system:anonymous" `):
		return short + ": the server does not know your credentials: log in again, or choose a user with --user or --context"
	case strings.Contains(message, "exceeded quota"):
		return short + ": have the quota raised, or delete what is not needed"
	case strings.Contains(message, noPriority):
		return short + ": correct spec.priorityClassName (kubectl get priorityclasses lists what there is), or leave it out"
	case strings.Contains(message, "because it is being terminated"):
		return short + ": wait until it is deleted, and create it again, or use another"
	case strings.Contains(message, " cannot ") && strings.Contains(message, " path "):
		return short + ": ask an administrator of the cluster for this permission, which the cluster role system:discovery has"
	case strings.Contains(message, " cannot "):
		return short + ": ask an administrator of the cluster for this permission"
	}
	return short
}

func way(code int, message string) string {
	switch {
	case strings.Contains(message, "strict decoding error"):
		return ": fix the field's name, or see --validate"
	case code == http.StatusNotFound && strings.HasPrefix(message, "namespaces "):
		return ": create it first, or correct the name"
	case strings.Contains(message, "failed to create typed patch object"):
		return ": merge without --server-side"
	case strings.Contains(message, ": field not declared in schema"):
		return ": its managedFields name a version of the kind that does not have the field: kubectl merge migrate --to=server-side rewrites them; if it does not help, merge without --server-side"
	case strings.Contains(message, "failed to create typed live object"):
		return ": live has a value of a type that the kind no longer has there: merge once without --server-side"
	case strings.HasPrefix(message, "request to convert CR "), strings.Contains(message, "failed to convert merged object"):
		return ": its managedFields name a version of the kind, or fields of one, that there are no more: kubectl merge migrate --to=server-side rewrites them"
	case strings.Contains(message, "unable to load root certificates"):
		return ": the caBundle in that webhook's configuration is not a certificate: fix it there, or have its injector do so"
	case strings.Contains(message, "failed calling webhook "):
		return ": try again; if the webhook stays out of order, have it repaired, or its configuration removed (kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations)"
	case strings.HasPrefix(message, "duplicate nodePort"):
		return ": two ports of the Service ask for it: give one of them another"
	case Busy(code):
		return ": try again"
	}
	return ""
}

func asItIs(field, _ string) (path, whose string) { return field, "" }

// Within returns a new refusal with the paths of the refused object. place gives the path of a
// server's field in the grammar of all other messages and, if that helps, whose the value is.
// respell does the same to the paths in a text that the server, a policy or a webhook wrote.
func (r *Refusal) Within(place func(field, kind string) (path, whose string), respell func(text string) string) *Refusal {
	out := *r
	if r.Code == http.StatusUnprocessableEntity && len(r.Causes) > 0 {
		out.Text = invalid(r.Causes, redact.IsSecretKind(r.Target.Group, r.Target.Kind), place)
		out.Fields = object.Each(own(r.Causes), func(c metav1.StatusCause) string {
			path, _ := place(c.Field, "")
			return path
		})
	}
	out.Text = respell(out.Text)
	return &out
}

// maxText limits the length of a server's message, maxValue that of a value in it.
const (
	maxText  = 1000
	maxValue = 60
)

// Code returns the HTTP status of a Refusal, 0 for other errors.
func Code(err error) int { return refusal(err).Code }
