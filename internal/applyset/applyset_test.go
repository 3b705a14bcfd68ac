package applyset

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The two values are those of kubectl's own documentation and tests.
func TestID(t *testing.T) {
	for want, s := range map[string]Set{
		"applyset-0eFHV8ySqp7XoShsGvyWFQD3s96yqwHmzc4e0HR1dsY-v1": {GroupKind{Kind: "Secret"}, "test", "my-set"},
		"applyset-rhp1a-HVAVT_dFgyEygyA1BEB82HPp2o10UiFTpqtAs-v1": {GroupKind{Group: "company.com", Kind: "ApplySet"}, "", "my-set"},
	} {
		if got := s.ID(); got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}

func TestReference(t *testing.T) {
	for in, want := range map[string][2]string{
		"shop":                      {"secrets", "shop"},
		"configmaps/shop":           {"configmaps", "shop"},
		"ApplySet.company.com/shop": {"ApplySet.company.com", "shop"},
		"":                          {}, "secrets/": {}, "/shop": {}, "a/b/c": {},
	} {
		kind, name, err := Reference(in)
		if (err != nil) != (want[0] == "") || err == nil && [2]string{kind, name} != want {
			t.Errorf("%q: %s %s %v", in, kind, name, err)
		}
	}
}

func TestGroupKind(t *testing.T) {
	for text, gk := range map[string]GroupKind{"ConfigMap": {Kind: "ConfigMap"}, "Certificate.cert-manager.io": {Group: "cert-manager.io", Kind: "Certificate"}} {
		if got := schema.ParseGroupKind(text); got != gk || gk.String() != text {
			t.Errorf("%s: %#v, %s", text, got, gk)
		}
	}
}

var shop = Set{GroupKind{Kind: "Secret"}, "ns", "shop"}

func parentObject(change func(labels, annotations map[string]any)) map[string]any {
	labels := map[string]any{IDLabel: shop.ID()}
	annotations := map[string]any{ToolingAnnotation: "kubectl/v1.27.1", KindsAnnotation: "ConfigMap,Deployment.apps", NamespacesAnnotation: "b,a,ns"}
	change(labels, annotations)
	return map[string]any{"metadata": map[string]any{"name": "shop", "namespace": "ns", "uid": "p", "labels": labels, "annotations": annotations}}
}

func TestReadParent(t *testing.T) {
	p, err := ReadParent(shop, parentObject(func(_, _ map[string]any) {}))
	if err != nil || p.Foreign() || !p.Exists() || len(p.Kinds) != 2 || !slices.Equal(p.Namespaces, []string{"a", "b"}) || !slices.Equal(p.AllNamespaces(), []string{"a", "b", "ns"}) {
		t.Errorf("%+v, %v", p, err)
	}
	for want, change := range map[string]func(labels, annotations map[string]any){
		`lacks the annotation "applyset.kubernetes.io/tooling"`:            func(_, a map[string]any) { delete(a, ToolingAnnotation) },
		`lacks the label "applyset.kubernetes.io/id"`:                      func(l, _ map[string]any) { delete(l, IDLabel) },
		`incorrect value for label "applyset.kubernetes.io/id"`:            func(l, _ map[string]any) { l[IDLabel] = "applyset-x-v1" },
		`lacks the annotation applyset.kubernetes.io/contains-group-kinds`: func(_, a map[string]any) { delete(a, KindsAnnotation) },
		`is no Kind.group`: func(_, a map[string]any) { a[KindsAnnotation] = "ConfigMap,,Secret" },
	} {
		if _, err := ReadParent(shop, parentObject(change)); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "secret/shop: ") {
			t.Errorf("want %s: %v", want, err)
		}
	}
	if p, err := ReadParent(shop, nil); err != nil || p.Exists() || p.Foreign() {
		t.Errorf("no parent: %+v, %v", p, err)
	}
	p, err = ReadParent(shop, parentObject(func(_, a map[string]any) { a[KindsAnnotation], a[NamespacesAnnotation] = "", "" }))
	if err != nil || len(p.Kinds)+len(p.Namespaces) > 0 {
		t.Errorf("an empty set: %+v, %v", p, err)
	}
	p, err = ReadParent(shop, parentObject(func(_, a map[string]any) {
		delete(a, KindsAnnotation)
		a[ResourcesAnnotation] = "configmaps,deployments.apps"
	}))
	if err != nil || !slices.Equal(p.Resources, []string{"configmaps", "deployments.apps"}) || p.Says(p) {
		t.Errorf("group resources: %+v, %v", p, err)
	}
	for tooling, foreign := range map[string]bool{"kubectl/v1.99": false, "kubectl": false, "helm/v3": true, "example.com/kubectl/v1": true} {
		p, err := ReadParent(shop, parentObject(func(_, a map[string]any) { a[ToolingAnnotation] = tooling }))
		if err != nil || p.Foreign() != foreign {
			t.Errorf("%s: foreign %t, %v", tooling, p.Foreign(), err)
		}
	}
}

func TestManifest(t *testing.T) {
	p := Parent{Set: shop}.With([]GroupKind{{Group: "apps", Kind: "Deployment"}, {Kind: "ConfigMap"}, {Group: "apps", Kind: "Deployment"}}, []string{"z", "ns", "", "a", "z"})
	meta := p.Manifest("v1")["metadata"].(map[string]any)
	want := map[string]any{ToolingAnnotation: Tooling, KindsAnnotation: "ConfigMap,Deployment.apps", NamespacesAnnotation: "a,z"}
	if got := meta["annotations"].(map[string]any); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := meta["labels"].(map[string]any); got[IDLabel] != shop.ID() || meta["namespace"] != "ns" {
		t.Errorf("%v", meta)
	}
	stored, err := ReadParent(shop, parentObject(func(_, _ map[string]any) {}))
	if err != nil {
		t.Fatal(err)
	}
	if got := stored.Manifest("v1")["metadata"].(map[string]any)["annotations"].(map[string]any)[ToolingAnnotation]; got != "kubectl/v1.27.1" {
		t.Errorf("the version that made the set is written over: %s", got)
	}
}

func member(kind, namespace, name string) Member {
	gk := schema.ParseGroupKind(kind)
	return Member{GroupKind: gk, Namespace: namespace, Name: name, UID: kind + "/" + namespace + "/" + name, Labels: map[string]string{PartOfLabel: shop.ID()}}
}

func marked(key, value string) Member {
	m := member("ConfigMap", "ns", "old")
	m.Annotations = map[string]string{key: value}
	return m
}

func run() Run {
	return Run{Parent: Parent{Set: shop, UID: "p"}, UIDs: map[string]bool{}, Objects: map[Identity]bool{}}
}

func TestDecide(t *testing.T) {
	plain := member("ConfigMap", "ns", "old")
	owned := plain
	owned.Owners = []Owner{{GroupKind{Group: "apps", Kind: "ReplicaSet"}, "web-1", "u"}}
	byParent := plain
	byParent.Owners = []Owner{{GroupKind{Kind: "Secret"}, "shop", "p"}}
	leaving := plain
	leaving.Deleting, leaving.Finalizers = "2026-01-02T03:04:05Z", []string{"example.com/hold"}
	other := plain
	other.Labels = map[string]string{PartOfLabel: "applyset-other-v1"}
	for name, tt := range map[string]struct {
		member Member
		action Action
		reason string
	}{
		"plain":          {plain, Delete, "is a member of secret/shop and not in the input"},
		"owned":          {owned, Keep, "is owned by replicaset.apps/web-1"},
		"owned by set":   {byParent, Delete, "not in the input"},
		"terminating":    {leaving, Terminating, "is being deleted since 2026-01-02T03:04:05Z, and waits for example.com/hold"},
		"another set's":  {other, Left, "has left the set"},
		"claim":          {member("PersistentVolumeClaim", "ns", "disk"), Keep, "holds data"},
		"volume":         {member("PersistentVolume", "", "disk"), Keep, "holds data"},
		"detach":         {marked("client.lifecycle.config.k8s.io/deletion", "detach"), Keep, "deletion: detach"},
		"on-remove":      {marked("cli-utils.sigs.k8s.io/on-remove", "keep"), Keep, "on-remove: keep"},
		"helm":           {marked("helm.sh/resource-policy", " Keep"), Keep, "helm.sh/resource-policy"},
		"argo prune":     {marked("argocd.argoproj.io/sync-options", "Validate=false,Prune=false"), Keep, "Prune=false"},
		"argo confirm":   {marked("argocd.argoproj.io/sync-options", "Prune=confirm"), Keep, "Prune=confirm"},
		"argo delete":    {marked("argocd.argoproj.io/sync-options", "Delete=false, Replace=true"), Keep, "Delete=false"},
		"argo otherwise": {marked("argocd.argoproj.io/sync-options", "Prune=true"), Delete, ""},
		"flux":           {marked("kustomize.toolkit.fluxcd.io/prune", "disabled"), Keep, "fluxcd"},
		"flux otherwise": {marked("kustomize.toolkit.fluxcd.io/prune", "enabled"), Delete, ""},
		"kluctl":         {marked("kluctl.io/skip-delete", "true"), Keep, "kluctl"},
		"werf":           {marked("werf.io/resource-policy", "skip-delete"), Keep, "werf"},
	} {
		got := run().Decide([]Member{tt.member})
		if len(got) != 1 || got[0].Action != tt.action || !strings.Contains(got[0].Reason, tt.reason) || (tt.action == Keep) != (got[0].Fix != "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestDecideLeavesWhatIsMerged(t *testing.T) {
	r := run()
	byUID, byName, twice := member("Ingress.networking.k8s.io", "ns", "web"), member("ConfigMap", "ns", "new"), member("ConfigMap", "ns", "twice")
	asOther := byUID
	asOther.GroupKind = GroupKind{Group: "extensions", Kind: "Ingress"}
	r.UIDs[byUID.UID], r.Objects[byName.Identity()] = true, true
	itself := member("Secret", "ns", "shop")
	itself.UID = "p"
	if got := r.Decide([]Member{byUID, asOther, byName, itself, twice, twice}); len(got) != 1 || got[0].Name != "twice" {
		t.Errorf("%+v", got)
	}
	r.Allowed, r.Disband = map[GroupKind]bool{{Kind: "PersistentVolumeClaim"}: true}, true
	if got := r.Decide([]Member{member("PersistentVolumeClaim", "ns", "disk")}); got[0].Action != Delete || !strings.Contains(got[0].Reason, "which is deleted") {
		t.Errorf("%+v", got)
	}
}

func TestContain(t *testing.T) {
	ns, web := member("Namespace", "", "team"), member("Deployment.apps", "team", "web")
	rs, pod := member("ReplicaSet.apps", "team", "web-1"), member("Pod", "team", "web-1-x")
	rs.Owners, pod.Owners = []Owner{{UID: web.UID}}, []Owner{{UID: rs.UID}}
	svc, ends := member("Service", "team", "web"), member("Endpoints", "team", "web")
	always := []Member{member("ConfigMap", "team", "kube-root-ca.crt"), member("ServiceAccount", "team", "default"), member("Event", "team", "e"), member("Event.events.k8s.io", "team", "e"), member("Lease.coordination.k8s.io", "team", "l")}
	stranger, claim := member("ConfigMap", "team", "theirs"), member("PersistentVolumeClaim", "team", "disk")
	leaving := member("Secret", "team", "s")
	leaving.Deleting = "now"
	crd := member("CustomResourceDefinition.apiextensions.k8s.io", "", "widgets.example.com")
	widget := member("Widget.example.com", "else", "w")
	for name, tt := range map[string]struct {
		members  []Member
		contents Contents
		want     map[string]string // reason, by name of what is kept
	}{
		"all of it goes": {[]Member{ns, web, svc}, Contents{Objects: map[string][]Member{ns.UID: append(always, pod, rs, web, svc, ends, leaving)}}, nil},
		"a stranger is in it": {[]Member{ns, web}, Contents{Objects: map[string][]Member{ns.UID: {web, stranger}}},
			map[string]string{"team": "holds configmap/theirs (namespace team), which"}},
		"what is kept is in it": {[]Member{ns, claim}, Contents{Objects: map[string][]Member{ns.UID: {claim}}},
			map[string]string{"team": "persistentvolumeclaim/disk", "disk": "holds data"}},
		"endpoints without a Service": {[]Member{ns}, Contents{Objects: map[string][]Member{ns.UID: {ends}}}, map[string]string{"team": "endpoints/web"}},
		"many":                        {[]Member{ns}, Contents{Objects: map[string][]Member{ns.UID: {web, svc, claim, stranger, pod}}}, map[string]string{"team": "and 2 more"}},
		"unknown": {[]Member{ns, web}, Contents{Unknown: map[string]error{ns.UID: errors.New("metrics.k8s.io does not answer")}},
			map[string]string{"team": "cannot be known (metrics.k8s.io does not answer)"}},
		"all instances":         {[]Member{crd, widget}, Contents{Objects: map[string][]Member{crd.UID: {widget}}}, nil},
		"another team's widget": {[]Member{crd}, Contents{Objects: map[string][]Member{crd.UID: {widget}}}, map[string]string{"widgets.example.com": "holds widget.example.com/w (namespace else)"}},
	} {
		r := run()
		for _, d := range r.Contain(r.Decide(tt.members), tt.contents) {
			reason, kept := tt.want[d.Name]
			if kept != (d.Action == Keep) || !strings.Contains(d.Reason, reason) || kept && d.Fix == "" {
				t.Errorf("%s: %s: %+v", name, d, d)
			}
		}
	}
}

func TestContainDisband(t *testing.T) {
	ns, parent := member("Namespace", "", "ns"), member("Secret", "ns", "shop")
	parent.UID = "p"
	in := Contents{Objects: map[string][]Member{ns.UID: {parent}}}
	for _, disband := range []bool{false, true} {
		r := run()
		r.Disband = disband
		if got := r.Contain(r.Decide([]Member{ns}), in); (got[0].Action == Delete) != disband {
			t.Errorf("disband %t: %+v", disband, got)
		}
	}
	if !ns.Contains() || parent.Contains() || ns.IsCRD() {
		t.Error("a Namespace holds others, a Secret none")
	}
}

func TestSorted(t *testing.T) {
	decisions := run().Decide([]Member{member("Namespace", "", "n"), member("Role.rbac.authorization.k8s.io", "a", "r"), member("CustomResourceDefinition.apiextensions.k8s.io", "", "c"),
		member("Widget.example.com", "a", "w"), member("ConfigMap", "b", "x"), member("ConfigMap", "a", "z"), member("ConfigMap", "a", "y"), member("Deployment.apps", "a", "d")})
	var names []string
	for _, d := range Sorted(decisions) {
		names = append(names, d.Name)
	}
	if got := strings.Join(names, ""); got != "yzxcdnrw" {
		t.Error(got)
	}
}

func TestSurprising(t *testing.T) {
	for _, tt := range []struct {
		deletions, size int
		asks, disbanded bool // of a run that prunes, and of one that deletes the set
	}{{0, 0, false, false}, {1, 2, false, false}, {2, 3, true, false}, {1, 1, true, false}, {25, 25, true, false}, {25, 100, false, false}, {26, 1000, true, true}} {
		for _, r := range []Run{{}, {Disband: true}} {
			want := tt.asks
			if r.Disband {
				want = tt.disbanded
			}
			if got := r.Surprising(tt.deletions, tt.size); (got != "") != want {
				t.Errorf("%d of %d, the whole set: %t: %q", tt.deletions, tt.size, r.Disband, got)
			}
		}
	}
}

func TestParentBeforeAndAfter(t *testing.T) {
	r := run()
	r.Parent = r.Parent.With([]GroupKind{{Kind: "Secret"}, {Group: "x", Kind: "Gone"}}, []string{"a"})
	r.Objects[Identity{GroupKind{Kind: "ConfigMap"}, "ns", "c"}] = true
	r.Objects[Identity{GroupKind{Kind: "Namespace"}, "", "b"}] = true
	before := r.Superset()
	if want := r.Parent.With([]GroupKind{{Kind: "Secret"}, {Group: "x", Kind: "Gone"}, {Kind: "ConfigMap"}, {Kind: "Namespace"}}, []string{"a"}); !before.Says(want) {
		t.Errorf("%+v", before)
	}
	kept := Decision{Member: member("PersistentVolumeClaim", "c", "disk"), Action: Keep}
	after := r.Exact([]Decision{kept, {Member: member("Secret", "a", "s")}}, nil)
	if want := r.Parent.With([]GroupKind{{Kind: "ConfigMap"}, {Kind: "Namespace"}, {Kind: "PersistentVolumeClaim"}}, []string{"c"}); !after.Says(want) {
		t.Errorf("%+v", after)
	}
	after = r.Exact(nil, []GroupKind{{Group: "x", Kind: "Gone"}})
	if want := r.Parent.With([]GroupKind{{Kind: "ConfigMap"}, {Kind: "Namespace"}, {Group: "x", Kind: "Gone"}}, []string{"a"}); !after.Says(want) {
		t.Errorf("what could not be listed: %+v", after)
	}
}

func TestDifferences(t *testing.T) {
	p := Parent{Set: shop, UID: "p", Resources: []string{"configmaps"}, Kinds: []GroupKind{{Kind: "ConfigMap"}, {Group: "apps", Kind: "Deployment"}}, Namespaces: []string{"a"}}
	want := Parent{Set: shop, Kinds: []GroupKind{{Kind: "ConfigMap"}, {Kind: "Secret"}}, Namespaces: []string{"b"}}
	got := strings.Join(p.Differences(want), "\n")
	for _, text := range []string{"deprecated", "has members of the kind Secret", "lists the kind Deployment.apps, and", "has members in the namespace b", "lists the namespace a, and"} {
		if !strings.Contains(got, text) {
			t.Errorf("no %q in %s", text, got)
		}
	}
	if more := want.Differences(want); len(more) > 0 {
		t.Error(more)
	}
}

func TestReadMember(t *testing.T) {
	m := ReadMember(GroupKind{Group: "apps", Kind: "Deployment"}, map[string]any{"metadata": map[string]any{
		"name": "web", "namespace": "ns", "uid": "u", "resourceVersion": "7", "deletionTimestamp": "now",
		"labels": map[string]any{"a": "b", "n": 1}, "finalizers": []any{"f", 2},
		"ownerReferences": []any{map[string]any{"apiVersion": "apps/v1", "kind": "X", "name": "n", "uid": "o"}, map[string]any{"apiVersion": "v1", "kind": "Y"}},
	}})
	if m.String() != "deployment.apps/web" || m.Namespace != "ns" || m.UID != "u" || m.ResourceVersion != "7" || m.Deleting != "now" || len(m.Labels) != 1 ||
		!slices.Equal(m.Finalizers, []string{"f"}) || m.Owners[0] != (Owner{GroupKind{Group: "apps", Kind: "X"}, "n", "o"}) || m.Owners[1].Group != "" {
		t.Errorf("%+v", m)
	}
	if m := ReadMember(GroupKind{}, nil); m.Set() != "" || len(m.Labels) != 0 {
		t.Errorf("%+v", m)
	}
}
