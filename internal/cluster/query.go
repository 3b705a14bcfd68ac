package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
)

// Query selects objects in the syntax of kubectl's command line. The zero value selects
// none, which is an error.
type Query struct {
	Args      []string // TYPE, TYPE NAME... or TYPE/NAME...; a TYPE may be a short name or a category
	Selector  string   // labels; for a TYPE alone
	All       bool     // all objects of a TYPE alone
	Namespace string   // where namespaced objects are

	// Bare states that a TYPE alone selects all of its objects, as in kubectl if -n is given.
	Bare bool
}

// Found is an object that a Query selects. Live is nil if it was selected by name: whether
// it exists is not known yet.
type Found struct {
	Target
	Live map[string]any
}

// Query finds objects; flags must be those of New. Names cost no request beyond discovery, a TYPE
// alone is listed. The errors of malformed arguments are kubectl's.
func (c *Cluster) Query(ctx context.Context, flags resource.RESTClientGetter, q Query) ([]Found, error) {
	if err := c.reach(ctx); err != nil {
		return nil, err
	}
	if err := q.malformed(); err != nil {
		return nil, err
	}
	switch {
	case q.typesAlone() && (q.Selector != "" || q.All || q.Bare):
		return c.selected(ctx, flags, q)
	case q.typesAlone():
		if _, err := c.types(ctx, flags, q); err != nil {
			return nil, err
		}
		return nil, errors.New("resource(s) were provided, but no name was specified: give a name, -l SELECTOR or --all")
	}
	return c.named(ctx, q, q.builder(flags).LabelSelectorParam(q.Selector).SelectAllParam(q.All).ResourceTypeOrNameArgs(false, q.Args...))
}

// reach sends a small request first, so that an unreachable server leads to one error: the
// mapper of cli-runtime logs every attempt.
func (c *Cluster) reach(ctx context.Context) error {
	_, err := c.Find(ctx, "", "v1", "Namespace")
	var down *Unreachable
	switch {
	case errors.As(err, new(*UnknownKindError)):
		return nil
	case errors.As(err, &down):
		return down
	}
	return err
}

// malformed returns the error of arguments about which the builder speaks of other commands and flags.
func (q Query) malformed() error {
	slashed := func(arg string) bool { return strings.Contains(arg, "/") }
	for _, arg := range q.Args {
		typ, name, named := strings.Cut(arg, "/")
		switch {
		case named && strings.ContainsAny(name, "/,"):
			return fmt.Errorf("%q: is more than one TYPE/NAME: write a space between objects", arg)
		case named && (typ == "" || name == ""):
			return fmt.Errorf("%q: is no TYPE/NAME: write both, as in deployment/web", arg)
		case !named && (strings.HasSuffix(typ, ".yaml") || strings.HasSuffix(typ, ".yml")):
			return fmt.Errorf("%q: is a file: objects of the cluster are named as TYPE/NAME", arg)
		case !named && slices.ContainsFunc(q.Args, slashed):
			return fmt.Errorf("unexpected argument %q: it is not TYPE/NAME, as the others are", arg)
		}
	}
	if slices.ContainsFunc(q.Args, slashed) && (q.Selector != "" || q.All) {
		return fmt.Errorf("%s: is an object that is named: labels, and --all, select from those of a TYPE", q.Args[0])
	}
	return nil
}

// typesAlone reports whether the query is a single argument that names no object.
func (q Query) typesAlone() bool { return len(q.Args) == 1 && !strings.Contains(q.Args[0], "/") }

// builder resolves names by discovery and reads no object.
func (q Query) builder(flags resource.RESTClientGetter) *resource.Builder {
	return resource.NewBuilder(flags).Unstructured().NamespaceParam(q.Namespace).DefaultNamespace().RequireObject(false)
}

// named returns the objects that a query's builder was given by their names.
func (c *Cluster) named(ctx context.Context, q Query, b *resource.Builder) (found []Found, err error) {
	infos, err := b.Do().Infos()
	if err != nil {
		return nil, c.notFound(ctx, q, err)
	}
	for _, info := range infos {
		gvk := info.Mapping.GroupVersionKind
		r, err := c.Find(ctx, gvk.Group, gvk.Version, gvk.Kind)
		if err != nil {
			return nil, err
		}
		found = append(found, Found{Target: Target{Resource: r, Namespace: info.Namespace, Name: info.Name}})
	}
	return found, nil
}

// selected lists the objects of each type. The builder is used for the types alone, since
// its lists are decoded with float64 numbers and logged with their content.
func (c *Cluster) selected(ctx context.Context, flags resource.RESTClientGetter, q Query) ([]Found, error) {
	if q.All && q.Selector != "" {
		return nil, fmt.Errorf("setting 'all' parameter but found a non empty selector: give one of --all and -l")
	}
	resources, err := c.types(ctx, flags, q)
	if err != nil {
		return nil, err
	}
	var found []Found
	for _, r := range resources {
		err := c.List(ctx, Listing{Resource: r, Namespace: r.Within(q.Namespace), Selector: q.Selector}, func(obj map[string]any) bool {
			o := object.Object{Value: obj}
			found = append(found, Found{Target: Target{Resource: r, Namespace: o.Namespace(), Name: o.Name()}, Live: obj})
			return true
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Plural, err)
		}
	}
	return found, nil
}

// noType matches kubectl's report of a type that the server does not have.
var noType = regexp.MustCompile(`doesn't have a resource type "([^"]*)"`)

// notFound returns the error of a query, with the type that was probably meant if the server has none of that
// name, or how an object is named if the argument is perhaps the name of one.
func (c *Cluster) notFound(ctx context.Context, q Query, err error) error {
	m := noType.FindStringSubmatch(err.Error())
	if err = c.explain(err, Target{}, "find"); m == nil {
		return err
	}
	if len(q.Args) == 1 && q.Args[0] == m[1] && q.Selector == "" && !q.All {
		err = fmt.Errorf("%w: an object is named with its type, as deployment/%s", err, m[1])
	}
	return fmt.Errorf("%w%s", err, cmp.Or(suggest.Hint(m[1], c.words(ctx)), ": kubectl api-resources lists the types"))
}

// types returns the resources that the argument of a query names.
func (c *Cluster) types(ctx context.Context, flags resource.RESTClientGetter, q Query) ([]Resource, error) {
	var all []Resource
	for name := range strings.SplitSeq(q.builder(flags).ReplaceAliases(q.Args[0]), ",") {
		found, err := c.named(ctx, q, q.builder(flags).ResourceTypeOrNameArgs(false, name+"/any"))
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !slices.Contains(all, f.Resource) {
				all = append(all, f.Resource)
			}
		}
	}
	return all, nil
}

// Known returns the resource of a kind in the version that the server prefers. It uses the cached
// discovery, so later additions to the server are unknown. It is false, without a reason, if the
// server has no such kind or does not answer.
func (c *Cluster) Known(ctx context.Context, group, kind string) (Resource, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.searchGroup(ctx, group, func(r Resource) bool { return r.Kind == kind })
	return r, err == nil && r.Plural != ""
}

// OwnWord returns Kubernetes' own resource that a word means on kubectl's command line. The word is
// the plural, the singular or a short name, optionally followed by a dot and the group, or the
// version and the group (deploy, deployments.apps, deployments.v1.apps). Only groups with no dot in
// their name are searched (core, apps, batch ...), which others may not define, so that little of
// discovery is read. kubectl prefers them, too, except over another kind whose whole name is the
// short name. It is false, without a reason, if none of them has it, or the server does not answer.
func (c *Cluster) OwnWord(ctx context.Context, word string) (Resource, bool) {
	return c.word(ctx, word, func(group string) bool { return !strings.Contains(group, ".") })
}

// Word is OwnWord in all groups.
func (c *Cluster) Word(ctx context.Context, word string) (Resource, bool) {
	return c.word(ctx, word, func(string) bool { return true })
}

func (c *Cluster) word(ctx context.Context, word string, in func(group string) bool) (Resource, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	full, short := schema.ParseResourceArg(strings.ToLower(word))
	name := short.Resource
	if name == "" {
		return Resource{}, false
	}
	lists := c.lists(ctx, func(gv schema.GroupVersion) bool {
		return in(gv.Group) && (short.Group == "" || short.Group == gv.Group || full != nil && full.GroupVersion() == gv)
	})
	for gv, list := range lists {
		for _, r := range list.APIResources {
			if !strings.Contains(r.Name, "/") && (r.Name == name || r.SingularName == name || strings.ToLower(r.Kind) == name || slices.Contains(r.ShortNames, name)) {
				return resources(gv, list)[r.Kind], true
			}
		}
	}
	return Resource{}, false
}

// words returns the names of the server's kinds on kubectl's command line: plurals, singulars and
// short names. None if the server does not answer.
func (c *Cluster) words(ctx context.Context) (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, list := range c.lists(ctx, func(schema.GroupVersion) bool { return true }) {
		for _, r := range list.APIResources {
			if !strings.Contains(r.Name, "/") {
				all = append(append(all, r.Name, strings.ToLower(r.Kind)), r.ShortNames...)
			}
		}
	}
	return all
}

// lists returns what the server has in each version of its groups that is wanted, the preferred one of a group
// first. What does not answer is left out.
func (c *Cluster) lists(ctx context.Context, wanted func(schema.GroupVersion) bool) iter.Seq2[schema.GroupVersion, *metav1.APIResourceList] {
	return func(yield func(schema.GroupVersion, *metav1.APIResourceList) bool) {
		groups, err := c.served(ctx)
		if err != nil {
			return
		}
		for _, g := range groups.Groups {
			for _, v := range c.versions(ctx, g.Name) {
				gv, err := schema.ParseGroupVersion(v)
				if err != nil || !wanted(gv) {
					continue
				}
				list, err := c.discovery.ServerResourcesForGroupVersionWithContext(ctx, v)
				if err == nil && !yield(gv, list) {
					return
				}
			}
		}
	}
}

// namesAccept requests a table with one row of cells per object; with includeObject=None
// nothing else of an object is sent
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables).
const namesAccept = "application/json;as=Table;g=meta.k8s.io;v=v1"

// Names returns the names of at most that many objects of a resource, in one namespace or, for "",
// in all. The objects themselves, such as Secrets, are not transferred. It is an error if the
// server does not support tables.
func (c *Cluster) Names(ctx context.Context, r Resource, namespace string, most int) ([]string, error) {
	t := Target{Resource: r, Namespace: namespace}
	req := c.request("GET", t).SetHeader("Accept", namesAccept).Param("includeObject", "None").Param("limit", strconv.Itoa(most))
	data, err := c.answer(ctx, t, "list", req)
	if err != nil {
		return nil, err
	}
	var table struct {
		ColumnDefinitions []struct{ Format string }
		Rows              []struct{ Cells []any }
	}
	if err := json.Unmarshal(data, &table); err != nil {
		return nil, fmt.Errorf("the server's table cannot be read: %w", err)
	}
	at := slices.IndexFunc(table.ColumnDefinitions, func(c struct{ Format string }) bool { return c.Format == "name" })
	var names []string
	for _, row := range table.Rows[:min(len(table.Rows), most)] {
		if at >= 0 && at < len(row.Cells) {
			if name, ok := row.Cells[at].(string); ok {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
