package run

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// The messages of the API server's admission plugins and authorizers are fixed text
// (k8s.io/kubernetes/plugin/pkg/admission, k8s.io/apiserver/pkg/admission and
// plugin/pkg/auth); testdata/refusals contains recorded responses.
const (
	policyDenies  = `olicy (?:'([^']+)'|"([^"]+)")(?: with binding '[^']+')? denied request: `
	bindingDenies = `olicy '[^']+' with binding '([^']+)' denied request: `
)

var (
	// hooked captures the webhook that denied a request or could not be called.
	hooked = redact.Pattern(`admission webhook "([^"]+)" denied the request|failed calling webhook "([^"]+)"`)
	// called captures name and namespace of the Service of a webhook, for admission or
	// conversion, that could not be called.
	called = redact.Pattern(`(?:failed calling webhook|conversion webhook for) .*https?://([^./:]+)\.([^./:]+)\.svc[.:/]`)
	// denied captures what RBAC forbids: user, verb, resource, group.
	denied = redact.Pattern(`User "([^"]*)" cannot (\S+) resource "([^"]+)" in API group "([^"]*)"`)
	// escalates captures who grants more permissions than they have: user, groups, the rest.
	escalates = redact.Pattern(`(?s)user "([^"]*)" \(groups=\[([^\]]*)\]\) is attempting to grant RBAC permissions not currently held:(.*)`)
	// missingRole captures a role that a binding of the user refers to.
	missingRole = redact.Pattern(`RBAC: (cluster)?role\.rbac\.authorization\.k8s\.io "([^"]+)" not found`)
	quotedWord  = redact.Pattern(`"((?:[^"\\]|\\.)*)"`)
	heldBack    = redact.Pattern(`\{APIGroups:\[([^\]]*)\], Resources:\[([^\]]*)\](?:, ResourceNames:\[[^\]]*\])?, Verbs:\[([^\]]*)\]`)
)

// named explains refusals in which a group of the pattern is the object's name; an empty
// group stands for every object of the kind.
func named(pattern string) func(*cluster.Refusal, *Item, *Item) bool {
	re := redact.Pattern(pattern)
	return func(r *cluster.Refusal, _, other *Item) bool {
		at := re().FindStringSubmatchIndex(r.Message)
		for i := 2; i < len(at); i += 2 {
			if at[i] >= 0 && (at[i] == at[i+1] || r.Message[at[i]:at[i+1]] == other.Target.Name) {
				return true
			}
		}
		return false
	}
}

// hosts reports whether labels of the namespace explain the refusal: they select its Pod security
// level, webhooks and policies. A new namespace gets its default service account a moment later.
func hosts(r *cluster.Refusal, item, other *Item) bool {
	switch {
	case !item.Target.Namespaced || item.Target.Namespace != other.Target.Name:
		return false
	case !other.found:
		return strings.Contains(r.Message, `serviceaccount "default" not found`)
	case reflect.DeepEqual(labels(other.Planned.Live), labels(other.Planned.Final)):
		return false
	}
	return strings.Contains(r.Message, `violates PodSecurity "`) || hooked().MatchString(r.Message) || strings.Contains(r.Message, " denied request: ")
}

func labels(obj map[string]any) any {
	return merge.At[any](obj, "metadata", "labels")
}

// redefined reports whether schema, versions or conversion of the item's kind change. Authorization
// and admission do not depend on the definition.
func redefined(r *cluster.Refusal, item, other *Item) bool {
	if !defines(other, item) || r.Kind == "namespaces" || hooked().MatchString(r.Message) || strings.Contains(r.Message, " denied request: ") {
		return false
	}
	codes := []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusBadRequest, http.StatusUnprocessableEntity}
	return slices.Contains(codes, r.Code) || strings.Contains(r.Message, "conversion webhook for ")
}

// hooks reports whether the refusal is by a webhook that the configuration contains, before or after.
func hooks(r *cluster.Refusal, _, other *Item) bool {
	m := hooked().FindStringSubmatch(r.Message)
	if m == nil {
		return false
	}
	name := m[1] + m[2]
	return slices.ContainsFunc([]map[string]any{other.local(), other.Planned.Live}, func(config map[string]any) bool {
		return slices.ContainsFunc(merge.MapsAt(config, "webhooks"), func(hook map[string]any) bool { return hook["name"] == name })
	})
}

// answersAt reports whether the server of a webhook did not answer, and other may run it.
func answersAt(r *cluster.Refusal, _, other *Item) bool {
	m := called().FindStringSubmatch(r.Message)
	return m != nil && other.Target.Namespace == m[2] && (kindOf(other.Target.Resource) != "Service" || other.Target.Name == m[1])
}

// aggregates reports whether the item's group and version belong to the APIService, whose server
// does not respond.
func aggregates(r *cluster.Refusal, item, other *Item) bool {
	spec, _ := other.local()["spec"].(map[string]any)
	belongs := spec["group"] == item.Target.Group && spec["version"] == item.Target.Version && r.Kind != "namespaces"
	return belongs && slices.Contains([]int{http.StatusNotFound, http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout}, r.Code)
}

// grants reports whether the role was missing, or grants permissions that the user lacks.
func grants(r *cluster.Refusal, item, other *Item) bool {
	ref, _ := item.local()["roleRef"].(map[string]any)
	bound := ref["kind"] == other.Target.Kind && ref["name"] == other.Target.Name
	if r.Code == http.StatusNotFound { // refusal of a binding, with the role's name
		return bound && r.Name == other.Target.Name
	}
	if m := missingRole().FindStringSubmatch(r.Message); m != nil && m[2] == other.Target.Name && (m[1] == "") == other.Target.Namespaced {
		return true
	}
	if m := denied().FindStringSubmatch(r.Message); m != nil {
		return other.gives(m[4], m[3], m[2])
	}
	m := escalates().FindStringSubmatch(r.Message)
	if m == nil {
		return false
	}
	if bound { // the granted permissions change
		return true
	}
	lacking := heldBack().FindAllStringSubmatch(m[3], -1)
	return len(lacking) > 0 && !slices.ContainsFunc(lacking, func(rule []string) bool { return !other.givesAll(rule) })
}

// binds reports whether the binding gives a role to the user or to one of the user's groups.
func binds(r *cluster.Refusal, _, other *Item) bool {
	var user, groups string
	if m := denied().FindStringSubmatch(r.Message); m != nil {
		user = m[1]
	} else if m := escalates().FindStringSubmatch(r.Message); m != nil {
		user, groups = m[1], m[2]
	} else {
		return false
	}
	return slices.ContainsFunc(merge.MapsAt(other.local(), "subjects"), func(subject map[string]any) bool {
		name, _ := subject["name"].(string)
		switch subject["kind"] {
		case "ServiceAccount":
			return user == "system:serviceaccount:"+merge.At[string](subject, "namespace")+":"+name
		case "Group":
			return slices.Contains(append(words(groups), impliedGroups(user)...), name)
		}
		return name == user
	})
}

// impliedGroups returns the groups that follow from a user's name
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/).
func impliedGroups(user string) []string {
	groups := []string{"system:authenticated"}
	if rest, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		namespace, _, _ := strings.Cut(rest, ":")
		groups = append(groups, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
	}
	return groups
}

// gives reports whether a rule of the role allows the verb on the resource.
func (i *Item) gives(group, resource, verb string) bool {
	return slices.ContainsFunc(merge.MapsAt(i.local(), "rules"), func(rule map[string]any) bool {
		return has(rule["apiGroups"], group) && has(rule["resources"], resource) && has(rule["verbs"], verb)
	})
}

// givesAll reports whether the role allows everything in a rule that heldBack captured.
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

// words returns the quoted words of a list such as "get" "list" or "get", "list".
func words(list string) []string {
	return object.Each(quotedWord().FindAllStringSubmatch(list, -1), func(m []string) string { return m[1] })
}

// has reports whether the list contains the word or "*".
func has(list any, word string) bool {
	return slices.ContainsFunc(merge.At[[]any](list), func(e any) bool { return e == "*" || e == word })
}

// local returns the item's whole object; nil if it cannot be decoded.
func (i *Item) local() map[string]any {
	whole, err := i.Object.Whole()
	if err != nil {
		return nil
	}
	return whole.Value
}
