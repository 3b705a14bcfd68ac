package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// gates matches the description of a field that a feature gate decides about.
var gates = regexp.MustCompile(`(?i)feature.?gate|feature flag|\balpha\b|\bbeta\b|(alpha|beta)-level`)

// gatedField is a field of testdata/unstored.yaml and an object that states it.
type gatedField struct {
	path  merge.Path
	value map[string]any
}

// gatedFields reads testdata/unstored.yaml. Every field whose description in the server's OpenAPI
// names a gate has to be in it.
func gatedFields(t *testing.T, s *apiServer) (fields []gatedField) {
	t.Helper()
	text, err := os.ReadFile("testdata/unstored.yaml")
	if err != nil {
		t.Fatal(err)
	}
	v, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	table := v.(map[string]any)
	known := map[string]bool{}
	for _, row := range table["fields"].([]any) {
		m := row.(map[string]any)
		path, err := merge.ParsePath(m["field"].(string))
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range path {
			known[step.Name] = true
		}
		fields = append(fields, gatedField{path, m["in"].(map[string]any)})
	}
	for _, name := range table["out"].([]any) {
		known[name.(string)] = true
	}
	for name, typ := range fetchTypes(t, s) {
		for field, f := range typ.Properties {
			if gates.MatchString(f.Description) && !strings.Contains(name, "Status") && !known[field] && !known[name[strings.LastIndex(name, ".")+1:]+"."+field] {
				t.Errorf("%s.%s is behind a gate, and not in testdata/unstored.yaml", name, field)
			}
		}
	}
	return fields
}

// TestUnstored: a field that the server drops, as its gate is off, is reported by the run that
// sends it. Afterwards nothing is reported, refused or written, and nothing differs.
func TestUnstored(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	api, fields := newObjects(t, s), gatedFields(t, s)
	for _, flags := range [][]string{nil, {"--server-side"}} {
		t.Run(strings.Join(append([]string{"apply"}, flags...), " "), func(t *testing.T) {
			t.Parallel()
			u := s.user(t, "unstored")
			var file strings.Builder
			var dropped []string // the objects, by name
			for i, f := range fields {
				o := maps.Clone(f.value)
				meta, _ := o["metadata"].(map[string]any)
				meta = maps.Clone(meta)
				if meta == nil {
					meta = map[string]any{}
				}
				name := fmt.Sprintf("%s-%d", u.ns, i)
				meta["name"], o["metadata"] = name, meta
				if api.of(o).Namespaced {
					meta["namespace"] = u.ns
				}
				made := api.made(t, o)
				if _, stored := merge.Lookup(made, f.path, nil); made != nil && !stored {
					dropped = append(dropped, name)
					file.WriteString("---\n" + spelled(o) + "\n")
				}
			}
			if len(dropped) == 0 {
				t.Fatal("the server drops no field")
			}
			u.file("all.yaml", file.String())
			u.removesAfterwards("all.yaml")
			first := u.merges(append(flags, "-f", "all.yaml")...)
			for _, name := range dropped {
				if !strings.Contains(first.stderr, "/"+name+": the server does not store ") {
					t.Errorf("%s: not reported\n%s", name, first.stderr)
				}
			}
			u.settled(flags, len(dropped))
			t.Logf("%d fields are dropped", len(dropped))
		})
	}
}

// removesAfterwards removes a file's objects when the test has ended.
func (u *user) removesAfterwards(file string) {
	admin := u.admin()
	u.t.Cleanup(func() {
		if out, err := admin.command(context.Background(), "kubectl", "delete", "--wait=false", "-f", file).CombinedOutput(); err != nil {
			u.t.Errorf("taking away: %v\n%s", err, out)
		}
	})
}

// settled: what all.yaml states is applied already, in the words of every verb.
func (u *user) settled(flags []string, objects int) {
	u.t.Helper()
	was := u.versions("all.yaml")
	for _, args := range [][]string{{}, {"--policy=strict"}, {"--dry-run=server"}, {"diff"}, {"diff", "-o", "plan"}, {"drift"}} {
		s := u.tries("kubectl-merge", slices.Concat(args, flags, []string{"-f", "all.yaml"})...)
		silent := !strings.Contains(s.stderr, "note:") && !strings.Contains(s.stdout, "action: ")
		if len(args) == 0 || strings.HasPrefix(args[0], "--") && args[0] != "--dry-run=server" {
			silent = silent && strings.Count(s.stdout, " unchanged\n") == objects
		}
		if s.code != 0 || !silent {
			u.t.Errorf("not settled: %s", s)
		}
	}
	if now := u.versions("all.yaml"); !maps.Equal(was, now) {
		u.t.Errorf("written: %v", written(was, now))
	}
}

// TestStripped: as TestUnstored, of what an admission policy takes out of a map, of a keyed list,
// of an atomic list and of a Secret, of what it puts back once the file states it no more, and of what it overrides.
func TestStripped(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	if newObjects(t, s).kinds["admissionregistration.k8s.io/v1 MutatingAdmissionPolicy"].Name == "" {
		t.Skip("this version of the server does not serve MutatingAdmissionPolicy as v1")
	}
	for _, flags := range [][]string{nil, {"--server-side"}} {
		t.Run(strings.Join(append([]string{"apply"}, flags...), " "), func(t *testing.T) {
			t.Parallel()
			u := s.user(t, "stripped")
			u.file("policy.yaml", strings.ReplaceAll(stripping, "$NS", u.ns))
			u.does("kubectl", "create", "-f", "policy.yaml")
			u.removesAfterwards("policy.yaml")
			u.file("all.yaml", stripped)
			u.awaits(func() bool {
				s := u.tries("kubectl", "create", "-f", "all.yaml", "--dry-run=server", "-o", "yaml")
				return s.code == 0 && !strings.Contains(strings.ToLower(s.stdout), "strip-")
			})
			first := u.merges(append(flags, "-f", "all.yaml")...)
			if strings.Count(first.stderr, "secret/s: the server does not store data.") != 2 {
				t.Errorf("of the Secret: not reported\n%s", first)
			}
			for _, at := range []string{"metadata.labels.strip-label: ", "spec.template.spec.containers[name=a].args as it was sent: ", "spec.template.spec.containers[name=a].env[name=STRIP-ENV]: "} {
				if !strings.Contains(first.stderr, "deployment.apps/d: the server does not store "+at) {
					t.Errorf("%s: not reported\n%s", at, first)
				}
			}
			u.settled(flags, 2)

			u.file("image.yaml", strings.Replace(stripped, "x:1", "x:2", 1))
			if next := u.merges(append(flags, "-f", "image.yaml")...); strings.Contains(next.stderr, "note:") {
				t.Errorf("reported again: %s", next)
			}
			u.file("all.yaml", strings.Replace(stripped, "x:1", "x:2", 1))
			u.settled(flags, 2)

			u.file("all.yaml", strings.NewReplacer("x:1", "x:3", ", back: c", "").Replace(stripped))
			u.merges(append(flags, "-f", "all.yaml")...)
			u.settled(flags, 2)

			u.file("replicas.yaml", strings.Replace(stripped, "spec:\n", "spec:\n  replicas: 3\n", 1))
			if s := u.merges(append(flags, "-f", "replicas.yaml")...); !strings.Contains(s.stderr, "does not store spec.replicas as it was sent") {
				t.Errorf("replicas: not reported\n%s", s)
			}
			for _, verb := range []string{"diff", "drift", "--policy=strict"} {
				if s := u.tries("kubectl-merge", append([]string{verb, "-f", "replicas.yaml"}, flags...)...); s.code != 0 {
					t.Errorf("differs: %s", s)
				}
			}
			plan := u.does("kubectl-merge", append([]string{"diff", "-f", "replicas.yaml", "-o", "plan"}, flags...)...)
			u.file("plan.yaml", plan.stdout)
			u.merges(append(flags, "-f", "replicas.yaml", "--plan", "plan.yaml")...)
			u.file("replicas.yaml", strings.Replace(stripped, "spec:\n", "spec:\n  replicas: 3\n  paused: true\n", 1))
			u.merges(append(flags, "-f", "replicas.yaml")...)
			if s := u.does("kubectl", "get", "deployment/d", "-o", "jsonpath={.spec.paused} {.spec.replicas}"); s.stdout != "true 7" {
				t.Errorf("beside what is overridden: %s", s)
			}

			u.file("all.yaml", strings.Replace(stripped, "x:1", "x:9", 1)) // which the policy answers with another label
			next := u.tries("kubectl-merge", append(flags, "-f", "all.yaml")...)
			if refused := strings.Contains(next.stderr, "the server's result is not the planned one: metadata.labels.keep: "); refused != (flags != nil) {
				t.Errorf("refused: %t\n%s", refused, next)
			}
		})
	}
}

const stripped = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, labels: {strip-label: a, keep: b, back: c}}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - {name: a, image: "x:1", args: [-a, strip-arg, -b], env: [{name: A, value: "1"}, {name: STRIP-ENV, value: "2"}]}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
data: {strip-key: eA==, kept: eA==, made: eA==}
`

const stripping = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: $NS}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [secrets]}
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: '[JSONPatch{op: "remove", path: "/data/strip-key"}].filter(p, has(object.data) && "strip-key" in object.data)'
  - patchType: JSONPatch
    jsonPatch:
      expression: '[JSONPatch{op: "replace", path: "/data/made", value: "eQ=="}].filter(p, has(object.data) && "made" in object.data)'
  - patchType: JSONPatch
    jsonPatch:
      expression: '[JSONPatch{op: "remove", path: "/metadata/labels/strip-label"}].filter(p, has(object.metadata.labels) && "strip-label" in object.metadata.labels)'
  - patchType: JSONPatch
    jsonPatch:
      expression: '[JSONPatch{op: "replace", path: "/spec/replicas", value: 7}].filter(p, has(object.spec) && object.spec.replicas == 3)'
  - patchType: JSONPatch
    jsonPatch:
      expression: '[JSONPatch{op: "replace", path: "/metadata/labels/keep", value: "z"}].filter(p, has(object.spec) && object.spec.template.spec.containers[0].image == "x:9")'
  - patchType: JSONPatch
    jsonPatch:
      expression: '[JSONPatch{op: "add", path: "/metadata/labels/back", value: "c"}].filter(p, has(object.spec) && !("back" in object.metadata.labels))'
  - patchType: JSONPatch
    jsonPatch:
      expression: '[JSONPatch{op: "remove", path: "/spec/template/spec/containers/0/args/1"}].filter(p, has(object.spec) && object.spec.template.spec.containers[0].args[1] == "strip-arg")'
  - patchType: JSONPatch
    jsonPatch:
      expression: '[JSONPatch{op: "remove", path: "/spec/template/spec/containers/0/env/1"}].filter(p, has(object.spec) && object.spec.template.spec.containers[0].env.exists(e, e.name == "STRIP-ENV"))'
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: $NS}
spec: {policyName: $NS, matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}}}
`
