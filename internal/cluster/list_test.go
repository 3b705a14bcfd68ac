package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const podsPath = "/api/v1/namespaces/prod/pods"

// list is a page of Pods.
func list(next string, names ...string) reply {
	items := make([]string, len(names))
	for i, name := range names {
		items[i] = fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"prod"}}`, name)
	}
	return reply{body: fmt.Sprintf(`{"kind":"PodList","metadata":{"continue":%q},"items":[%s]}`, next, strings.Join(items, ","))}
}

// TestList: page after page, until the last or until the caller has enough; a list that
// does not end is an error.
func TestList(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		replies []reply
		most    int
		want    string
		err     string
	}{
		{"one page", []reply{list("", "a", "b")}, 9, "a b", ""},
		{"two pages", []reply{list("x", "a"), list("", "b")}, 9, "a b", ""},
		{"enough is enough", []reply{list("x", "a"), list("", "b")}, 1, "a", ""},
		{"the same page again", []reply{list("x", "a")}, 9, "a a", "the server's list does not end"},
		{"something that is no list", []reply{{body: "[]"}}, 9, "", "the server's list cannot be read"},
		{"something in it that is no object", []reply{{body: `{"items":[7]}`}}, 9, "", "holds something that is no object"},
		{"an object of another namespace", []reply{{body: `{"items":[{"metadata":{"name":"a","namespace":"test"}}]}`}}, 9, "", "the server's list is about an object of another namespace"},
		{"not allowed", []reply{status(403, "Forbidden", "no")}, 9, "", "no"},
	} {
		c, a := serve(t, map[string][]reply{podsPath: tt.replies})
		var got []string
		err := c.List(t.Context(), Listing{Resource: pods, Namespace: "prod", Selector: "app=web"}, func(obj map[string]any) bool {
			if obj["kind"] != "Pod" || obj["apiVersion"] != "v1" {
				t.Errorf("%s: an item lacks its kind: %v", tt.reason, obj)
			}
			got = append(got, obj["metadata"].(map[string]any)["name"].(string))
			return len(got) < tt.most
		})
		if strings.Join(got, " ") != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %q, %v", tt.reason, got, err)
		}
		if first := a.seen()[0]; !strings.Contains(first, "labelSelector=app%3Dweb") || !strings.Contains(first, "limit=500") {
			t.Errorf("%s: %s", tt.reason, first)
		}
	}
}

// TestWalk: empty pages end, too.
func TestWalk(t *testing.T) {
	var w Walk
	for i := range maxEmpty + 1 {
		if err := w.Past(Page{Next: fmt.Sprint(i)}); (err != nil) != (i >= maxEmpty) {
			t.Fatalf("page %d: %v", i, err)
		}
	}
}

// TestMetadata: lists and objects without all else, from a server that can leave it out
// and from one that cannot.
func TestMetadata(t *testing.T) {
	c, a := serve(t, map[string][]reply{podsPath: {list("x", "a"), list("", "b")}, podPath: {{body: podJSON("web", `,"spec":{"n":1}`)}}})
	got, err := c.ListMetadata(t.Context(), pods, "prod", "app=web")
	if err != nil || len(got) != 2 || got[1]["metadata"].(map[string]any)["name"] != "b" {
		t.Errorf("%v, %v", got, err)
	}
	if last := a.seen()[1]; !strings.Contains(last, "continue=x") {
		t.Errorf("%s", last)
	}
	one, err := c.GetMetadata(t.Context(), pod)
	if err != nil || one["spec"] != nil || one["metadata"] == nil {
		t.Errorf("%v, %v", one, err)
	}
	if _, err := c.GetMetadata(t.Context(), Target{Resource: pods, Namespace: "prod", Name: "gone"}); !IsNotFound(err) {
		t.Errorf("%v", err)
	}
	for _, wrong := range []string{podJSON("other", ""), "[]", "no"} {
		c, _ := serve(t, map[string][]reply{podPath: {{body: wrong}}, podsPath: {{body: wrong}}})
		if _, err := c.GetMetadata(t.Context(), pod); !Unanswered(err) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// TestNames: the names alone, no more than asked for.
func TestNames(t *testing.T) {
	c, a := serve(t, map[string][]reply{podsPath: {{body: `{"columnDefinitions":[{"format":""},{"format":"name"}],"rows":[{"cells":[1,"a"]},{"cells":["x"]},{"cells":[2,"b"]},{"cells":[3,"c"]}]}`}}})
	got, err := c.Names(t.Context(), pods, "prod", 3)
	if err != nil || !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Errorf("%q, %v", got, err)
	}
	if req := a.seen()[0]; !strings.Contains(req, "includeObject=None") || !strings.Contains(req, "limit=3") {
		t.Errorf("%s", req)
	}
	if _, err := c.Names(t.Context(), secrets, "prod", 3); !IsNotFound(err) {
		t.Errorf("%v", err)
	}
}

// TestFind: kinds by discovery, then those that the run itself makes, each once more
// past what is cached.
func TestFind(t *testing.T) {
	c, _ := serve(t, nil)
	if r, err := c.Find(t.Context(), "", "v1", "Pod"); err != nil || r != pods {
		t.Errorf("%+v, %v", r, err)
	}
	widgets := Resource{Group: "example.com", Version: "v1", Kind: "Widget", Plural: "widgets", Namespaced: true}
	c.Declare(map[string]any{"spec": map[string]any{"group": "example.com", "scope": "Namespaced",
		"names":    map[string]any{"kind": "Widget", "plural": "widgets"},
		"versions": []any{map[string]any{"name": "v1", "served": true}}}})
	if r, err := c.Find(t.Context(), "example.com", "v1", "Widget"); err != nil || r != widgets {
		t.Errorf("%+v, %v", r, err)
	}
	var unknown *UnknownKindError
	if _, err := c.Find(t.Context(), "apps", "v1", "Deploymnet"); !errors.As(err, &unknown) || unknown.Near != "Deployment" || !strings.Contains(err.Error(), "(did you mean Deployment?)") {
		t.Errorf("%v", err)
	}
	if _, err := c.Find(t.Context(), "apps", "v1beta1", "Deployment"); !errors.As(err, &unknown) || unknown.NearVersion != "apps/v1" {
		t.Errorf("%v", err)
	}
	for kind, want := range map[string]bool{"deployment": true, "Gadget": false} {
		if has, err := c.ServesKind(t.Context(), kind); err != nil || has != want {
			t.Errorf("%s: %t, %v", kind, has, err)
		}
	}
	if r, err := c.FindKind(t.Context(), "apps", "Deployment"); err != nil || r.Plural != "deployments" || r.Version != "v1" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := c.FindPlural(t.Context(), "apps", "deployments"); err != nil || r.Kind != "Deployment" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := c.FindKind(t.Context(), "example.com", "Gadget"); !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
	missing := []reply{{code: 404, body: "Not Found"}}
	other, _ := serve(t, map[string][]reply{"/api": missing, "/apis": missing, "/api/v1": missing})
	var down *Unreachable
	if _, err := other.Find(t.Context(), "", "v1", "Pod"); !errors.As(err, &down) || !strings.Contains(err.Error(), "does not answer as a Kubernetes API server") {
		t.Errorf("a server of another kind: %v", err)
	}
	all, err := c.Deletable(t.Context())
	if err != nil || len(all) != 4 || all[0].Kind != "Namespace" || all[3].Kind != "Deployment" {
		t.Errorf("%+v, %v: by group and kind", all, err)
	}
	c.Refresh(t.Context())
	if len(c.groups) != 0 {
		t.Error("what discovery said before is still in use")
	}
}

// TestDeletable: a group that does not answer leaves the others, with an error; one that is
// not there any more has no objects.
func TestDeletable(t *testing.T) {
	for _, tt := range []struct {
		answer reply
		err    string
	}{
		{status(503, "ServiceUnavailable", "the server is currently unable to handle the request"), "example.com/v1: "},
		{status(404, "NotFound", "not found"), ""},
	} {
		c, _ := serve(t, map[string][]reply{
			"/apis":                {{body: `{"kind":"APIGroupList","groups":[{"name":"example.com","versions":[{"groupVersion":"example.com/v1","version":"v1"}],"preferredVersion":{"groupVersion":"example.com/v1","version":"v1"}}]}`}},
			"/apis/example.com/v1": {tt.answer},
		})
		all, err := c.Deletable(t.Context())
		if len(all) != 3 || (err == nil) != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
			t.Errorf("%+v, %v", all, err)
		}
	}
}

// TestSilentGroup: a group that is registered, and of which not even a version is known since what
// serves it is silent, is named.
func TestSilentGroup(t *testing.T) {
	c, _ := serve(t, map[string][]reply{"/apis": {{body: `{"kind":"APIGroupList","groups":[{"name":"example.com","versions":[]}]}`}}})
	c.silences = mostSilences
	_, err := c.FindKind(t.Context(), "example.com", "Thing")
	if want := "Thing.example.com: cannot be looked up: example.com: is registered, and what serves it does not answer"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestForbiddenDiscovery: the words of the refusal are the server's, not the client's.
func TestForbiddenDiscovery(t *testing.T) {
	no := []reply{status(403, "Forbidden", `forbidden: User "u" cannot get path "/apis/apps/v1"`)}
	c, _ := serve(t, map[string][]reply{"/apis/apps/v1": no, "/apis": no, "/api": no})
	if _, err := c.Find(t.Context(), "apps", "v1", "Deployment"); err == nil || !strings.Contains(err.Error(), `cannot get path "/apis/apps/v1"`) {
		t.Errorf("%v", err)
	}
}

// TestQuery: kubectl's arguments, by which objects are named or listed.
func TestQuery(t *testing.T) {
	for _, tt := range []struct {
		reason string
		query  Query
		want   string
		err    string
	}{
		{"by name", Query{Args: []string{"pods/a", "deployment.apps/b"}, Namespace: "prod"}, "pod/a deployment.apps/b", ""},
		{"a type alone", Query{Args: []string{"pods"}, Namespace: "prod"}, "", "no name was specified"},
		{"all of a type", Query{Args: []string{"pods"}, All: true, Namespace: "prod"}, "pod/a! pod/b!", ""},
		{"by labels", Query{Args: []string{"pods"}, Selector: "app=web", Namespace: "prod"}, "pod/a! pod/b!", ""},
		{"both", Query{Args: []string{"pods"}, Selector: "app=web", All: true, Namespace: "prod"}, "", "give one of --all and -l"},
		{"no such type", Query{Args: []string{"gadgets"}, All: true}, "", `the server doesn't have a resource type "gadgets"`},
		{"a name alone", Query{Args: []string{"web1"}}, "", `"web1": an object is named with its type, as deployment/web1`},
		{"no such type by name", Query{Args: []string{"gadgets/a"}}, "", `the server doesn't have a resource type "gadgets"`},
		{"a list that is refused", Query{Args: []string{"deployments"}, All: true, Namespace: "prod"}, "", "deployments: "},
	} {
		c, a := serve(t, map[string][]reply{podsPath: {list("", "a", "b")}})
		found, err := c.Query(t.Context(), a.flags(), tt.query)
		var got []string
		for _, f := range found {
			listed := ""
			if f.Live != nil {
				listed = "!"
			}
			got = append(got, f.String()+listed)
		}
		if strings.Join(got, " ") != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %q, %v", tt.reason, got, err)
		}
	}
}

// TestOpenAPI: the index is fetched once, a document only if it is not stored; a server
// that must have an index and has none is not believed.
func TestOpenAPI(t *testing.T) {
	index := reply{body: `{"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=AB"},"apis/apps/v1":{"serverRelativeURL":"/openapi/v3/apis/apps/v1"}}}`}
	document := reply{body: `{"openapi":"3.0.0","components":{"schemas":{}}}`}
	c, a := serve(t, map[string][]reply{indexPath: {index}, "/openapi/v3/api/v1": {document}, "/openapi/v3/apis/apps/v1": {{body: "no"}}})
	c.CacheSchemas(filepath.Join(t.TempDir(), "cache"))
	for range 2 {
		if doc, err := c.OpenAPI(t.Context(), "", "v1"); err != nil || doc == nil {
			t.Errorf("%s, %v", doc, err)
		}
	}
	if doc, err := c.OpenAPI(t.Context(), "example.com", "v1"); doc != nil || err != nil {
		t.Errorf("%s, %v: the server has none of this group", doc, err)
	}
	if _, err := c.OpenAPI(t.Context(), "apps", "v1"); err == nil {
		t.Error("what is no document is no error")
	}
	indexes := 0
	for _, req := range a.seen() {
		if strings.HasPrefix(req, "GET "+indexPath+" ") || req == "GET "+indexPath {
			indexes++
		}
	}
	if indexes != 1 {
		t.Errorf("the index was fetched %d times: %q", indexes, a.seen())
	}
	for version, ok := range map[string]bool{`{"major":"1","minor":"26+","gitVersion":"v1.26.1"}`: true, `{"major":"1","minor":"30","gitVersion":"v1.30.0"}`: false, `no`: false} {
		c, _ := serve(t, map[string][]reply{"/version": {{body: version}}})
		if doc, err := c.OpenAPI(t.Context(), "", "v1"); doc != nil || (err == nil) != ok {
			t.Errorf("%s: %s, %v", version, doc, err)
		}
	}
	c, _ = serve(t, map[string][]reply{indexPath: {{body: "no"}}})
	if _, err := c.OpenAPI(t.Context(), "", "v1"); !Unanswered(err) {
		t.Errorf("%v", err)
	}
}

// TestWaitEstablished: until the kind is served, or never will be.
func TestWaitEstablished(t *testing.T) {
	crd := Target{Resource: Resource{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Plural: "customresourcedefinitions"}, Name: "w.example.com"}
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/w.example.com"
	is := func(condition string) reply {
		return reply{body: `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"w.example.com"},"status":{"conditions":[` + condition + `]}}`}
	}
	for _, tt := range []struct {
		reason  string
		replies []reply
		err     string
	}{
		{"it is served in the end", []reply{is(""), is(`{"type":"Established","status":"False","reason":"Installing"}`), is(`{"type":"Established","status":"True"}`)}, ""},
		{"its name is taken", []reply{is(`{"type":"NamesAccepted","status":"False","reason":"ListKindConflict","message":"\"W\" is already in use"}`)}, `is written, but its kind is not served: NamesAccepted is False: ListKindConflict: "W" is already in use: fix that, and merge again`},
	} {
		c, _ := serve(t, map[string][]reply{path: tt.replies})
		err := c.WaitEstablished(t.Context(), crd, nil)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
}
