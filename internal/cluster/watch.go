package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Watching selects the objects of a resource whose changes are watched.
type Watching struct {
	Resource
	Namespace string // "" for a cluster-scoped resource
	Fields    string // field selector; "" for any
	Version   string // known resourceVersion; later changes are sent
}

// Event is one change. A Bookmark has only a version.
type Event struct {
	Type    EventType
	Object  map[string]any
	Version string // resourceVersion, to continue from
}

// EventType is the kind of a change.
type EventType string

// The types of events.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	Bookmark EventType = "BOOKMARK"
)

// watchTime is how long one watch lasts at most; the server ends it then. It is shorter than the
// time that a request may take.
const watchTime = 4 * time.Minute

// Watch calls each for every change until the server ends the watch, which is not an error, or ctx
// ends. The error is IsGone if Version is too old to continue from. It is a Refusal if the server
// does not let this user watch, or does not support watches of the resource.
func (c *Cluster) Watch(ctx context.Context, w Watching, each func(Event)) error {
	t := Target{Resource: w.Resource, Namespace: w.Namespace}
	lasts := watchTime
	if c.timeout > 0 {
		lasts = max(time.Second, min(lasts, c.timeout*9/10))
	}
	req := c.request(http.MethodGet, t).Param("watch", "true").Param("allowWatchBookmarks", "true").
		Param("resourceVersion", w.Version).Param("timeoutSeconds", strconv.Itoa(int(lasts.Seconds())))
	where(req, map[string]string{"fieldSelector": w.Fields})
	if redact.IsSecretKind(w.Group, w.Kind) {
		ctx = WithoutBodies(ctx)
	}
	var pause time.Duration
	stream, err := req.MaxRetries(0).Stream(context.WithValue(ctx, pauseKey{}, &pause))
	if err != nil {
		return c.refused(err, t, "watch", pause)
	}
	defer stream.Close()
	for lines := bufio.NewReader(stream); ; {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			e, bad := c.event(w, line)
			if bad != nil {
				return bad
			}
			each(e)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return context.Canceled
		case errors.Is(err, io.EOF), timedOut(err):
			return nil
		default:
			return c.explain(err, t, "watch")
		}
	}
}

// event reads one line of a watch and checks it like an answer: it has to be of the kind, namespace
// and name that are watched.
func (c *Cluster) event(w Watching, line []byte) (Event, error) {
	t := Target{Resource: w.Resource, Namespace: w.Namespace}
	var e struct {
		Type   EventType
		Object json.RawMessage
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return Event{}, c.garbled("is no event")
	}
	if e.Type == "ERROR" { // with a Status: the server ends the watch early
		var s metav1.Status
		if err := json.Unmarshal(e.Object, &s); err != nil {
			return Event{}, c.garbled("ends a watch for no reason")
		}
		return Event{}, c.explain(&apierrors.StatusError{ErrStatus: s}, t, "watch")
	}
	v, err := merge.ReadJSON(e.Object)
	obj, ok := v.(map[string]any)
	if err != nil || !ok {
		return Event{}, c.garbled("holds an event without an object")
	}
	t.complete(obj)
	m, _ := obj["metadata"].(map[string]any)
	read := Event{Type: e.Type, Object: obj, Version: merge.At[string](m, "resourceVersion")}
	t.Name = merge.At[string](m, "name")
	switch name, named := strings.CutPrefix(w.Fields, "metadata.name="); e.Type {
	case Bookmark:
		t.Namespaced = false
		if read.Version == "" {
			return Event{}, c.garbled("holds a bookmark without a version")
		}
	case Added, Modified, Deleted:
		if named {
			t.Name = name
		}
	default:
		return Event{}, c.garbled("holds an event of an unknown type, " + shorten(string(e.Type), maxText))
	}
	if other := t.about(obj); other != "" {
		return Event{}, c.garbled("holds an event that " + other)
	}
	if redact.IsSecretKind(t.Group, t.Kind) {
		c.Values.Add(obj)
	}
	return read, nil
}

// IsGone reports that the version a watch or a list was to continue from is too old.
func IsGone(err error) bool { return Code(err) == http.StatusGone }

// Snapshot is the content of a list, and the version that a Watch continues from.
type Snapshot struct {
	Objects []map[string]any
	Version string
}

// Snapshot lists all that w would watch, page by page, as the server has it now. keep reduces an
// object; nil drops it. Errors are List's.
func (c *Cluster) Snapshot(ctx context.Context, w Watching, keep func(map[string]any) map[string]any) (s Snapshot, err error) {
	s.Version, err = c.objects(ctx, Listing{Resource: w.Resource, Namespace: w.Namespace, Fields: w.Fields}, func(obj map[string]any) bool {
		if obj = keep(obj); obj != nil {
			s.Objects = append(s.Objects, obj)
		}
		return true
	})
	return s, err
}

// LogOf selects the part of a container's log to read: its last lines.
type LogOf struct {
	Container string
	Lines     int
	Previous  bool // of the container's previous run
}

// Log returns the end of a container's log. At most maxLog bytes are returned; the error is that of
// the request.
func (c *Cluster) Log(ctx context.Context, pod Target, of LogOf) ([]byte, error) {
	req := c.request(http.MethodGet, pod).Name(pod.Name).SubResource("log").SetHeader("Accept", "*/*").
		Param("container", of.Container).Param("tailLines", strconv.Itoa(of.Lines)).Param("limitBytes", strconv.Itoa(maxLog)).
		Param("previous", fmt.Sprint(of.Previous))
	return c.answer(ctx, pod, "get", req)
}

// maxLog is how much is read of one container's log at most, in bytes.
const maxLog = 64 << 10
