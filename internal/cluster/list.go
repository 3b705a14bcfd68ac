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
	"k8s.io/client-go/rest"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Listing is a request for one page of the objects of a resource.
type Listing struct {
	Resource
	Namespace string // "" for a cluster-scoped resource, and for all namespaces
	Selector  string // labels; "" for any
	Fields    string // field selector; "" for any
	Limit     int    // maximum number of objects
	Continue  string // Page.Next of the previous page; "" for the first

	metadata bool // see ListMetadata
}

// Page is a part of a list. All pages of a list show the server's most recent state at the
// time of the first request.
type Page struct {
	Objects []Listed
	Next    string // "" on the last page
	Version string // resourceVersion of the list, where a Watch continues
	Left    int    // objects after this page; -1 if unknown
	Size    int    // of the response in bytes
}

// Listed is an object of a list, not decoded yet.
type Listed struct {
	Namespace string // "" for a cluster-scoped resource
	Name      string

	text   []byte
	target Target
}

// Walk ensures that a list read page by page comes to an end. The zero value is for the
// first page.
type Walk struct {
	pages, empty int
	last         string // Next of the previous page
}

// Past returns an error if the page after p must not be requested, since the list seems endless;
// nil otherwise, and on the last page.
func (w *Walk) Past(p Page) error {
	w.pages++
	w.empty++
	if len(p.Objects) > 0 {
		w.empty = 0
	}
	if p.Next != "" && (p.Next == w.last || w.pages > maxPages || w.empty > maxEmpty) {
		return fmt.Errorf("the server's list does not end: page %d again says that there is more", w.pages)
	}
	w.last = p.Next
	return nil
}

// pageSize is how many objects List requests per page.
const pageSize = 500

// List reads all objects that a Listing asks for, page by page; each is called for every object
// until it returns false. The Listing's Limit and Continue are ignored. The error is that of a
// request, or reports an answer that is not a list, or is endless.
func (c *Cluster) List(ctx context.Context, l Listing, each func(map[string]any) bool) error {
	_, err := c.objects(ctx, l, each)
	return err
}

// objects is List; version is where a Watch continues.
func (c *Cluster) objects(ctx context.Context, l Listing, each func(map[string]any) bool) (version string, err error) {
	err = c.pages(ctx, l, func(page Page) (more bool, err error) {
		version = page.Version
		for _, o := range page.Objects {
			obj, err := o.Object()
			if err != nil {
				return false, err
			}
			if redact.IsSecretKind(l.Group, l.Kind) {
				c.Values.Add(obj)
			}
			if !each(obj) {
				return false, nil
			}
		}
		return true, nil
	})
	return version, err
}

// pages reads a list page by page; each is called for every page until it wants no more.
func (c *Cluster) pages(ctx context.Context, l Listing, each func(Page) (more bool, err error)) error {
	l.Limit, l.Continue = pageSize, ""
	for walk := (Walk{}); ; {
		page, err := c.Page(ctx, l)
		if err != nil {
			return err
		}
		if more, err := each(page); err != nil || !more {
			return err
		}
		if err := walk.Past(page); err != nil || page.Next == "" {
			return err
		}
		l.Continue = page.Next
	}
}

// Page reads one page of a list. The error is a Refusal if the server does not support the
// list or the user may not read it.
func (c *Cluster) Page(ctx context.Context, l Listing) (Page, error) {
	t := Target{Resource: l.Resource, Namespace: l.Namespace}
	req := c.request("GET", t).Param("limit", strconv.Itoa(l.Limit))
	if l.metadata {
		req.SetHeader("Accept", metadataList).WarningHandlerWithContext(rest.NoWarnings{})
	}
	where(req, map[string]string{"labelSelector": l.Selector, "fieldSelector": l.Fields, "continue": l.Continue})
	data, err := again(ctx, func() ([]byte, error) { return c.answer(ctx, t, "list", req) })
	if err != nil {
		return Page{}, err
	}
	list, ok := merge.SplitList(data)
	if !ok {
		return Page{}, errors.New("the server's list cannot be read: it is no object, holds something that is no object, or is cut off")
	}
	p := Page{Objects: make([]Listed, len(list.Items)), Next: merge.At[string](list.Metadata, "continue"), Version: merge.At[string](list.Metadata, "resourceVersion"), Left: -1, Size: len(data)}
	if n, err := strconv.Atoi(string(merge.At[json.Number](list.Metadata, "remainingItemCount"))); err == nil {
		p.Left = n
	} else if p.Next == "" {
		p.Left = 0
	}
	for i, item := range list.Items {
		t := Target{Resource: l.Resource, Namespace: item.Namespace, Name: item.Name}
		if l.Namespace != "" || !l.Namespaced {
			t.Namespace = l.Namespace // if the Listing names one, the object has to be of it
		}
		p.Objects[i] = Listed{Namespace: t.Namespace, Name: t.Name, text: item.Text, target: t}
	}
	return p, nil
}

// Object decodes the object as Get would return it: items of a list lack kind and apiVersion. It is
// an error if the item is not an object, or not of the list's kind.
func (l Listed) Object() (map[string]any, error) {
	v, err := merge.ReadJSON(l.text)
	if err != nil {
		return nil, fmt.Errorf("the server's answer is not JSON: %w", err)
	}
	obj := v.(map[string]any) // otherwise it would be in no list: see merge.SplitList
	l.target.complete(obj)
	if other := l.target.about(obj); other != "" {
		return nil, errors.New("the server's list " + other)
	}
	return obj, nil
}

// complete sets kind and apiVersion of an item of a list.
func (r Resource) complete(obj map[string]any) {
	if obj["kind"] == nil {
		obj["kind"], obj["apiVersion"] = r.Kind, r.GroupVersion()
	}
}

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
