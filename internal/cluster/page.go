package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

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
