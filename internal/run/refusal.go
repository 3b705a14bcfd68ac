package run

import (
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// What the API server's admission plugins and authorizers say is fixed text (of
// k8s.io/kubernetes/plugin/pkg/admission, k8s.io/apiserver/pkg/admission and
// plugin/pkg/auth): testdata/refusals holds an answer of each kind as it was sent.
const (
	policyDenies  = `olicy (?:'([^']+)'|"([^"]+)")(?: with binding '[^']+')? denied request: `
	bindingDenies = `olicy '[^']+' with binding '([^']+)' denied request: `
)

var (
	// hooked names the webhook that said no, or that could not be asked.
	hooked = regexp.MustCompile(`admission webhook "([^"]+)" denied the request|failed calling webhook "([^"]+)"`)
	// called is that a webhook, of admission or conversion, could not be asked: by the
	// Service's address.
	called = regexp.MustCompile(`(?:failed calling webhook|conversion webhook for) .*https?://([^./:]+)\.([^./:]+)\.svc[.:/]`)
	// denied is what RBAC forbids: user, verb, resource, group.
	denied = regexp.MustCompile(`User "([^"]*)" cannot (\S+) resource "([^"]+)" in API group "([^"]*)"`)
	// escalates is that somebody gives more than they have: user, groups, the rest.
	escalates = regexp.MustCompile(`(?s)user "([^"]*)" \(groups=\[([^\]]*)\]\) is attempting to grant RBAC permissions not currently held:(.*)`)
	// missingRole is a role that the user's own permissions refer to.
	missingRole = regexp.MustCompile(`RBAC: (cluster)?role\.rbac\.authorization\.k8s\.io "([^"]+)" not found`)
	quotedWord  = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	heldBack    = regexp.MustCompile(`\{APIGroups:\[([^\]]*)\], Resources:\[([^\]]*)\](?:, ResourceNames:\[[^\]]*\])?, Verbs:\[([^\]]*)\]`)
)

// named is the cause of a refusal whose text names the object by a group of the
// pattern; an empty group names every object of its kind.
func named(pattern string) func(*cluster.Refusal, *Item, *Item) bool {
	re := regexp.MustCompile(pattern)
	return func(r *cluster.Refusal, _, other *Item) bool {
		at := re.FindStringSubmatchIndex(r.Message)
		for i := 2; i < len(at); i += 2 {
			if at[i] >= 0 && (at[i] == at[i+1] || r.Message[at[i]:at[i+1]] == other.Target.Name) {
				return true
			}
		}
		return false
	}
}

// hosts: a namespace's labels choose its Pod security, and which webhooks and policies
// look at its objects. One that is new gets its default service account a moment later.
func hosts(r *cluster.Refusal, item, other *Item) bool {
	switch {
	case !item.Target.Namespaced || item.Target.Namespace != other.Target.Name:
		return false
	case !other.found:
		return strings.Contains(r.Message, `serviceaccount "default" not found`)
	case reflect.DeepEqual(labels(other.Planned.Live), labels(other.Planned.Final)):
		return false
	}
	return strings.Contains(r.Message, `violates PodSecurity "`) || hooked.MatchString(r.Message) || strings.Contains(r.Message, " denied request: ")
}

func labels(obj map[string]any) any {
	meta, _ := obj["metadata"].(map[string]any)
	return meta["labels"]
}

// redefined: the schema, the versions or the conversion of the item's kind change.
// Whether somebody may write it, and what admission says, is not the definition's.
func redefined(r *cluster.Refusal, item, other *Item) bool {
	if !defines(other, item) || r.Kind == "namespaces" || hooked.MatchString(r.Message) || strings.Contains(r.Message, " denied request: ") {
		return false
	}
	switch r.Code {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusBadRequest, http.StatusUnprocessableEntity:
		return true
	}
	return strings.Contains(r.Message, "conversion webhook for ")
}

// hooks: the refusal is by a webhook that the configuration has, or had.
func hooks(r *cluster.Refusal, _, other *Item) bool {
	m := hooked.FindStringSubmatch(r.Message)
	if m == nil {
		return false
	}
	name := m[1] + m[2]
	return slices.ContainsFunc([]map[string]any{other.local(), other.Planned.Live}, func(config map[string]any) bool {
		return slices.ContainsFunc(entries(config["webhooks"]), func(hook map[string]any) bool { return hook["name"] == name })
	})
}

// answersAt: nobody answered for a webhook, and this may be who should.
func answersAt(r *cluster.Refusal, _, other *Item) bool {
	m := called.FindStringSubmatch(r.Message)
	return m != nil && other.Target.Namespace == m[2] && (kindOf(other.Target.Resource) != "Service" || other.Target.Name == m[1])
}

// aggregates: the item's group and version are served by the APIService, which does
// not answer.
func aggregates(r *cluster.Refusal, item, other *Item) bool {
	spec, _ := other.local()["spec"].(map[string]any)
	if spec["group"] != item.Target.Group || spec["version"] != item.Target.Version || r.Kind == "namespaces" {
		return false
	}
	switch r.Code {
	case http.StatusNotFound, http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// grants: the role is missing, or gives just what the user lacks.
func grants(r *cluster.Refusal, item, other *Item) bool {
	ref, _ := item.local()["roleRef"].(map[string]any)
	bound := ref["kind"] == other.Target.Kind && ref["name"] == other.Target.Name
	if r.Code == http.StatusNotFound { // of a binding, with the role's name
		return bound && r.Name == other.Target.Name
	}
	if m := missingRole.FindStringSubmatch(r.Message); m != nil && m[2] == other.Target.Name && (m[1] == "") == other.Target.Namespaced {
		return true
	}
	if m := denied.FindStringSubmatch(r.Message); m != nil {
		return other.gives(m[4], m[3], m[2])
	}
	m := escalates.FindStringSubmatch(r.Message)
	if m == nil {
		return false
	}
	if bound { // what is granted changes
		return true
	}
	lacking := heldBack.FindAllStringSubmatch(m[3], -1)
	return len(lacking) > 0 && !slices.ContainsFunc(lacking, func(rule []string) bool { return !other.givesAll(rule) })
}

// binds: the binding gives the user, or a group of the user's, a role.
func binds(r *cluster.Refusal, _, other *Item) bool {
	var user, groups string
	if m := denied.FindStringSubmatch(r.Message); m != nil {
		user = m[1]
	} else if m := escalates.FindStringSubmatch(r.Message); m != nil {
		user, groups = m[1], m[2]
	} else {
		return false
	}
	return slices.ContainsFunc(entries(other.local()["subjects"]), func(subject map[string]any) bool {
		name, _ := subject["name"].(string)
		switch subject["kind"] {
		case "ServiceAccount":
			namespace, _ := subject["namespace"].(string)
			return user == "system:serviceaccount:"+namespace+":"+name
		case "Group":
			return slices.Contains(append(words(groups), impliedGroups(user)...), name)
		}
		return name == user
	})
}

// impliedGroups are the groups that follow from a user's name
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/).
func impliedGroups(user string) []string {
	groups := []string{"system:authenticated"}
	if rest, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		namespace, _, _ := strings.Cut(rest, ":")
		groups = append(groups, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
	}
	return groups
}

// gives: a rule of the role allows the verb on the resource.
func (i *Item) gives(group, resource, verb string) bool {
	return slices.ContainsFunc(entries(i.local()["rules"]), func(rule map[string]any) bool {
		return has(rule["apiGroups"], group) && has(rule["resources"], resource) && has(rule["verbs"], verb)
	})
}

// givesAll: rules of the role allow all that heldBack has found in one rule.
func (i *Item) givesAll(rule []string) bool {
	for _, group := range words(rule[1]) {
		for _, resource := range words(rule[2]) {
			for _, verb := range words(rule[3]) {
				if !i.gives(group, resource, verb) {
					return false
				}
			}
		}
	}
	return true
}

// words are the quoted words of a list such as "get" "list" or "get", "list".
func words(list string) []string {
	var out []string
	for _, m := range quotedWord.FindAllStringSubmatch(list, -1) {
		out = append(out, m[1])
	}
	return out
}

// has: the list names the word, or stands for all.
func has(list any, word string) bool {
	all, _ := list.([]any)
	return slices.ContainsFunc(all, func(e any) bool { return e == "*" || e == word })
}

// entries are the maps of a list.
func entries(list any) []map[string]any {
	all, _ := list.([]any)
	var out []map[string]any
	for _, e := range all {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// local is the item's object, whole; nil where it cannot be had.
func (i *Item) local() map[string]any {
	whole, err := i.Object.Whole()
	if err != nil {
		return nil
	}
	return whole.Value
}
