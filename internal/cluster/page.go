package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
)

// Listing asks for one page of the objects of a resource.
type Listing struct {
	Resource
	Namespace string // "" for a cluster-scoped resource, and for all namespaces
	Selector  string // labels; "" for any
	Limit     int    // objects on the page, at most
	Continue  string // Page.Next of the page before; "" for the first
}

// Page is a part of a list. All pages of a list show the state that the server had
// when the first was asked for, which is the most recent one.
type Page struct {
	Objects []Listed
	Next    string // "" on the last page
	Left    int    // objects behind this page; -1 where the server does not tell
	Size    int    // bytes of the answer
}

// Listed is an object of a list as the server sent it, not decoded yet.
type Listed struct {
	Name string

	text   []byte
	target Target
}

// Walk sees to it that a list which is read page by page comes to an end. The zero
// value is for the first page.
type Walk struct {
	pages, empty int
	last         string // Next of the page before
}

// Past says what is wrong with asking for the page behind p: a server may say
// without end that there is more. nil where nothing is, and on the last page.
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

// pageSize is how many objects one answer to List holds.
const pageSize = 500

// List reads all objects of a resource, in one namespace or, for "", in all,
// page by page; each is called for every object until it says false.
func (c *Cluster) List(ctx context.Context, r Resource, namespace, selector string, each func(map[string]any) bool) error {
	l := Listing{Resource: r, Namespace: namespace, Selector: selector, Limit: pageSize}
	for walk := (Walk{}); ; {
		page, err := c.Page(ctx, l)
		if err != nil {
			return err
		}
		for _, o := range page.Objects {
			obj, err := o.Object()
			if err != nil {
				return err
			}
			if redact.IsSecretKind(r.Group, r.Kind) {
				c.Values.Add(obj)
			}
			if !each(obj) {
				return nil
			}
		}
		if err := walk.Past(page); err != nil || page.Next == "" {
			return err
		}
		l.Continue = page.Next
	}
}

// Page reads one page of a list. A server that has no such list, or the user no
// right to it, is a Refusal.
func (c *Cluster) Page(ctx context.Context, l Listing) (Page, error) {
	t := Target{Resource: l.Resource, Namespace: l.Namespace}
	req := c.request("GET", t).Param("limit", strconv.Itoa(l.Limit))
	if l.Selector != "" {
		req.Param("labelSelector", l.Selector)
	}
	if l.Continue != "" {
		req.Param("continue", l.Continue)
	}
	data, err := again(ctx, func() ([]byte, error) { return c.answer(ctx, t, "list", req) })
	if err != nil {
		return Page{}, err
	}
	var list struct {
		Metadata struct {
			Continue           string `json:"continue"`
			RemainingItemCount *int   `json:"remainingItemCount"`
		} `json:"metadata"`
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return Page{}, fmt.Errorf("the server's list cannot be read: %w", err)
	}
	p := Page{Objects: make([]Listed, len(list.Items)), Next: list.Metadata.Continue, Left: -1, Size: len(data)}
	switch {
	case list.Metadata.RemainingItemCount != nil:
		p.Left = *list.Metadata.RemainingItemCount
	case p.Next == "":
		p.Left = 0
	}
	for i, text := range list.Items {
		var named struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(text, &named); err != nil {
			return Page{}, fmt.Errorf("the server's list holds something that is no object: %w", err)
		}
		p.Objects[i] = Listed{Name: named.Metadata.Name, text: text, target: Target{Resource: l.Resource, Namespace: l.Namespace, Name: named.Metadata.Name}}
	}
	return p, nil
}

// Object is the object as Get would give it: a list of one kind leaves kind and
// apiVersion out in its items.
func (l Listed) Object() (map[string]any, error) {
	v, err := merge.ReadJSON(l.text)
	if err != nil {
		return nil, fmt.Errorf("the server's answer is not JSON: %w", err)
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the server's answer is no object")
	}
	l.target.complete(obj)
	if other := l.target.about(obj); other != "" {
		return nil, errors.New("the server's list " + other)
	}
	return obj, nil
}

// complete fills in what an item of a list may lack.
func (r Resource) complete(obj map[string]any) {
	if obj["kind"] == nil {
		obj["kind"], obj["apiVersion"] = r.Kind, r.GroupVersion()
	}
}
