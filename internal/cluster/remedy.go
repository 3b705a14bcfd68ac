package cluster

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Purpose states what a write is for. It decides which remedies an error names: not every command
// has every flag.
type Purpose uint8

// The purposes.
const (
	Merging  Purpose = iota // a merge, written as a patch
	Applying                // a merge, written by server-side apply
	Undoing                 // an undo of a recorded run's writes
)

// allocated matches what the API server reports of a nodePort or an address that another
// Service has (k8s.io/kubernetes/pkg/registry/core/service/portallocator and ipallocator).
var allocated = regexp.MustCompile(`provided (?:port|IP) is already allocated`)

// remedy returns the remedy for a refusal of an invalid object (422), beginning with a colon; "" if
// the causes say it themselves.
func (r *Refusal) remedy() string {
	states := func(is func(string) bool) bool {
		return r.Code == http.StatusUnprocessableEntity && slices.ContainsFunc(r.Causes, func(c metav1.StatusCause) bool { return is(c.Message) })
	}
	switch {
	case states(func(text string) bool { return strings.Contains(text, "{{") }):
		return ": {{ }} is a template's, as Helm's charts have them: render it first (helm template CHART | kubectl merge -f -)"
	case states(allocated.MatchString) && r.For == Undoing:
		return ": another Service has it by now (kubectl get services -A shows which): free it there, and undo again; --partial undoes the other objects"
	case states(allocated.MatchString):
		return ": another Service has it (kubectl get services -A shows which): free it there, or leave it out of the file, and the server chooses one"
	case len(r.Unchangeable()) > 0:
		return r.instead()
	}
	return ""
}

// instead returns the remedy for fields that can be set only once.
func (r *Refusal) instead() string {
	switch {
	case r.For == Undoing && r.Target.Recreatable():
		return ": it can be set only once: kubectl merge --recreate=" + r.Target.Kind + ", with the file as it was, deletes the object and creates it again; undo --partial undoes the other objects"
	case r.For == Undoing:
		return ": it can be set only once: undo --partial undoes the other objects"
	case !r.Target.Recreatable():
		return ": set it back to what the cluster has, or delete the object and merge again; --recreate never deletes a " + r.Target.Kind
	case r.For == Applying:
		return ": set it back to what the cluster has, or delete the object with kubectl delete, and merge again"
	}
	return ": set it back to what the cluster has, or have the object deleted and created again: --recreate=" + r.Target.Kind
}
