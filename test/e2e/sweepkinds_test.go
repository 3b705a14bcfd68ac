package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// sweptKind is a built-in kind that can be written, with its merging lists.
type sweptKind struct {
	group, version, kind string
	resource             string
	namespaced           bool
	hasStatus            bool
	writable             bool // as kubectl apply does

	typ   *merge.Type
	base  map[string]any // with $NAME, $NS and $IP in it
	lists []*sweptList
}

func (k *sweptKind) apiVersion() string {
	if k.group == "" {
		return k.version
	}
	return k.group + "/" + k.version
}

func (k *sweptKind) String() string { return k.group + "/" + k.version + " " + k.kind }

// url is where objects of the kind are; name "": all of them.
func (k *sweptKind) url(ns, name string) string {
	url := "/apis/" + k.apiVersion()
	if k.group == "" {
		url = "/api/" + k.version
	}
	if k.namespaced {
		url += "/namespaces/" + ns
	}
	if url += "/" + k.resource; name != "" {
		url += "/" + name
	}
	return url
}

// sweptList is one merging list of a kind.
type sweptList struct {
	gen.Place
	sample string // where its entries are in lists.yaml
	keep   int    // so many entries of the base stay
	fixed  bool   // it cannot be changed once the object is there
	sides  []gen.Sides
}

// sweptKinds asks the server for its built-in kinds and their merging lists. Those
// that cannot be written have to be left out by name.
func (s *sweep) sweptKinds() []*sweptKind {
	s.t.Helper()
	_, served, err := s.server.client.Discovery().ServerGroupsAndResources()
	if err != nil {
		s.t.Fatal(err)
	}
	custom := s.customGroups()
	var all []*sweptKind
	for _, list := range served {
		group, version, found := strings.Cut(list.GroupVersion, "/")
		if !found {
			group, version = "", list.GroupVersion
		}
		if custom[group] {
			continue
		}
		doc := s.openAPI(list.GroupVersion)
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") {
				continue
			}
			k := &sweptKind{group: group, version: version, kind: r.Kind, resource: r.Name, namespaced: r.Namespaced}
			k.writable = slices.Contains(r.Verbs, "create") && slices.Contains(r.Verbs, "get") && slices.Contains(r.Verbs, "patch")
			for _, sub := range list.APIResources {
				k.hasStatus = k.hasStatus || sub.Name == r.Name+"/status"
			}
			if s.complete(k, doc) {
				all = append(all, k)
			}
		}
	}
	slices.SortFunc(all, func(a, b *sweptKind) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// customGroups are the groups of custom resources that other tests have installed.
func (s *sweep) customGroups() map[string]bool {
	groups := map[string]bool{}
	for _, crd := range s.list(&sweptKind{group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition", resource: "customresourcedefinitions"}) {
		group, _ := crd["spec"].(map[string]any)["group"].(string)
		groups[group] = true
	}
	return groups
}

func (s *sweep) openAPI(groupVersion string) *schema.Document {
	s.t.Helper()
	url := "/openapi/v3/apis/" + groupVersion
	if !strings.Contains(groupVersion, "/") {
		url = "/openapi/v3/api/" + groupVersion
	}
	text, err := s.ask(s.t.Context(), "GET", url, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	doc, err := schema.FromOpenAPI(text, merge.SourceServer)
	if err != nil {
		s.t.Fatal(err)
	}
	return doc
}

// complete finds type, base and lists of a kind; false where it is left out.
func (s *sweep) complete(k *sweptKind, doc *schema.Document) bool {
	s.t.Helper()
	served, err := doc.Type(k.group, k.version, k.kind)
	if served == nil {
		s.t.Errorf("%s: the server does not serve its schema: %v", k, err)
		return false
	}
	if s.data.leaves(s.data.leftKinds, k.String()) {
		if k.writable {
			s.t.Errorf("%s: testdata/sweep/kinds.yaml leaves it out, and it can be written", k)
		}
		return false
	}
	if k.base = s.data.object(s.data.bases, k.String()); k.base == nil {
		s.t.Errorf("%s: there is neither a manifest of it in testdata/sweep/kinds.yaml nor a reason to leave it out", k)
		return false
	}
	k.typ = served
	if builtin, ok := schema.Builtin(k.group, k.version, k.kind); ok {
		k.typ = builtin
	}
	compiled := map[string]string{}
	for _, p := range gen.Places(k.typ) {
		compiled[p.String()] = identity(p)
	}
	for _, p := range gen.Places(served) {
		if kind := p.Field.Type.Kind; kind != merge.Keyed && kind != merge.Set || k.hasStatus && p.Names[0] == "status" {
			continue
		}
		if compiled[p.String()] != identity(p) {
			s.t.Errorf("%s: %s: the server says %s, the compiled-in type %s", k, p, identity(p), compiled[p.String()])
		}
		if l := s.sweptList(k, p); l != nil {
			k.lists = append(k.lists, l)
		}
	}
	// What is inside comes after what it is in.
	slices.SortStableFunc(k.lists, func(a, b *sweptList) int { return len(a.Names) - len(b.Names) })
	return true
}

// identity says what reports a list's entries apart.
func identity(p gen.Place) string {
	text := fmt.Sprint(p.Field.Type.Kind)
	for _, k := range p.Field.Type.Keys {
		text += fmt.Sprint(" ", k.Name, "=", k.Default)
	}
	return text
}

// sweptList finds entries for a list; nil where it is left out.
func (s *sweep) sweptList(k *sweptKind, p gen.Place) *sweptList {
	s.t.Helper()
	for name := range s.data.leftLists {
		at := "." + p.String() + "."
		if within := strings.Contains(at, "."+name+".") || strings.Contains(at, "."+name+"["); within && s.data.leaves(s.data.leftLists, name) {
			return nil
		}
	}
	l := &sweptList{Place: p, sample: p.Names[len(p.Names)-1]}
	if p.Field.Type.Kind == merge.Keyed {
		l.sample = p.Field.Type.Elem.Name
	}
	e := s.data.object(s.data.entries, l.sample)
	if e == nil {
		s.t.Errorf("%s: %s merges, and there are neither entries for it (%s) in testdata/sweep/lists.yaml nor a reason in kinds.yaml to leave it out", k, p, l.sample)
		return nil
	}
	keep, reached := entriesAt(k.base, p.Names)
	if !reached {
		s.t.Errorf("%s: the manifest in testdata/sweep/kinds.yaml has no entry that %s could be in", k, p)
		return nil
	}
	if e["alone"] == nil {
		l.keep = keep
	}
	for path := range s.data.object(s.data.fixed, k.String()) {
		l.fixed = l.fixed || strings.HasPrefix(p.String()+".", path+".")
	}
	l.sides = situations(e, p)
	return l
}

// ask sends a request to the server, and reads its answer. The verb APPLY is a server-side
// apply.
func (s *sweep) ask(ctx context.Context, verb, url string, body any, params ...string) ([]byte, error) {
	kind := "application/json"
	switch verb {
	case "PATCH":
		kind = "application/merge-patch+json"
	case "APPLY":
		verb, kind = "PATCH", "application/apply-patch+yaml"
	}
	req := s.client.Verb(verb).AbsPath(url).SetHeader("Accept", "application/json")
	for i := 0; i < len(params); i += 2 {
		req.Param(params[i], params[i+1])
	}
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		req.SetHeader("Content-Type", kind).Body(text)
	}
	answer := req.Do(ctx)
	if err := answer.Error(); err != nil {
		return nil, err
	}
	return answer.Raw()
}

// list reads all objects of a kind, in the user's namespace or of the cluster.
func (s *sweep) list(k *sweptKind) []map[string]any {
	s.t.Helper()
	text, err := s.ask(s.t.Context(), "GET", k.url(s.ns, ""), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	v, err := decodeJSON(text)
	if err != nil {
		s.t.Fatal(err)
	}
	items, _ := v.(map[string]any)["items"].([]any)
	all := make([]map[string]any, 0, len(items))
	for _, item := range items {
		o := item.(map[string]any)
		o["apiVersion"], o["kind"] = k.apiVersion(), k.kind // lists leave them out
		all = append(all, o)
	}
	return all
}
