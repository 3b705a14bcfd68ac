package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Query selects objects in the syntax of kubectl's command line. The zero value selects
// none, which is an error.
type Query struct {
	Args      []string // TYPE, TYPE NAME... or TYPE/NAME...; a TYPE may be a short name or a category
	Selector  string   // labels; for a TYPE alone
	All       bool     // all objects of a TYPE alone
	Namespace string   // where namespaced objects are

	// Bare: a TYPE alone selects all of its objects, as in kubectl if -n is given.
	Bare bool
}

// Found is an object that a Query selects. Live is nil if it was selected by name: whether
// it exists is not known yet.
type Found struct {
	Target
	Live map[string]any
}

// Query finds objects. Names cost no request beyond discovery, a TYPE alone is listed. The
// errors of malformed arguments are kubectl's.
func (c *Cluster) Query(ctx context.Context, q Query) ([]Found, error) {
	switch {
	case q.typesAlone() && (q.Selector != "" || q.All || q.Bare):
		return c.selected(ctx, q)
	case q.typesAlone():
		if _, err := c.types(ctx, q.Args[0]); err != nil {
			return nil, err
		}
		return nil, errors.New("resource(s) were provided, but no name was specified: give a name, -l SELECTOR or --all")
	case q.Selector != "" || q.All:
		return nil, errors.New("selectors and the all flag cannot be used when passing resource/name arguments")
	}
	named, err := q.named()
	if err != nil {
		return nil, err
	}
	var (
		found []Found
		known = map[string]Resource{}
	)
	for _, n := range named {
		r, ok := known[n.typ]
		if !ok {
			if r, err = c.Named(ctx, n.typ); err != nil {
				return nil, err
			}
			known[n.typ] = r
		}
		t := Target{Resource: r, Name: n.name}
		if r.Namespaced {
			if t.Namespace = q.Namespace; t.Namespace == "" {
				return nil, errors.New("namespace may not be empty when retrieving a resource by name")
			}
		}
		found = append(found, Found{Target: t})
	}
	return found, nil
}

// typesAlone reports whether the query is a single argument that names no object.
func (q Query) typesAlone() bool { return len(q.Args) == 1 && !strings.Contains(q.Args[0], "/") }

// typeAndName is one object as an argument names it.
type typeAndName struct{ typ, name string }

// named are the objects that the arguments name, as TYPE NAME... or TYPE/NAME...
func (q Query) named() ([]typeAndName, error) {
	slashes := 0
	for _, arg := range q.Args {
		if strings.Contains(arg, "/") {
			slashes++
		}
	}
	var out []typeAndName
	switch {
	case slashes > 0 && slashes < len(q.Args):
		cmd := filepath.Base(os.Args[0])
		return nil, fmt.Errorf("there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. '%s get resource/<resource_name>' instead of '%s get resource resource/<resource_name>'", cmd, cmd)
	case slashes > 0:
		for _, arg := range q.Args {
			typ, name, _ := strings.Cut(arg, "/")
			switch {
			case strings.Contains(name, "/"):
				return nil, errors.New("arguments in resource/name form may not have more than one slash")
			case typ == "" || name == "" || strings.Contains(typ, ","):
				return nil, errors.New("arguments in resource/name form must have a single resource and name")
			}
			out = append(out, typeAndName{typ, name})
		}
	case len(q.Args) > 1:
		for _, typ := range strings.Split(q.Args[0], ",") {
			for _, name := range q.Args[1:] {
				out = append(out, typeAndName{typ, name})
			}
		}
	}
	return out, nil
}

// selected lists the objects of each type.
func (c *Cluster) selected(ctx context.Context, q Query) ([]Found, error) {
	if q.All && q.Selector != "" {
		return nil, fmt.Errorf("setting 'all' parameter but found a non empty selector: give one of --all and -l")
	}
	resources, err := c.types(ctx, q.Args[0])
	if err != nil {
		return nil, err
	}
	var found []Found
	for _, r := range resources {
		namespace := q.Namespace
		if !r.Namespaced {
			namespace = ""
		}
		err := c.List(ctx, Listing{Resource: r, Namespace: namespace, Selector: q.Selector}, func(obj map[string]any) bool {
			t := Target{Resource: r}
			m, _ := obj["metadata"].(map[string]any)
			t.Name, t.Namespace = str(m, "name"), str(m, "namespace")
			found = append(found, Found{Target: t, Live: obj})
			return true
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Plural, err)
		}
	}
	return found, nil
}

// types are the resources that an argument names: types and categories with commas.
func (c *Cluster) types(ctx context.Context, arg string) ([]Resource, error) {
	names, err := c.names(ctx)
	if err != nil {
		return nil, err
	}
	var all []Resource
	for word := range strings.SplitSeq(arg, ",") {
		for _, typ := range names.category(word) {
			r, err := c.Named(ctx, typ)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
	}
	return all, nil
}
