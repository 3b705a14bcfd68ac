package write

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestRecreate: the very object that was merged is deleted, and created once it is gone; whatever
// comes between, either it is still there or the error says that it is not.
func TestRecreate(t *testing.T) {
	there := &cluster.Refusal{Code: http.StatusConflict, Reason: metav1.StatusReasonAlreadyExists, Text: "already exists"}
	for _, tt := range []struct {
		reason  string
		dry     bool
		policy  string
		answers []answer
		before  func(obj map[string]any) map[string]any // what live is by then
		log     string
		err     string
		gone    bool
	}{
		{reason: "deleted and created", log: "delete get create"},
		{reason: "tried: that it is there is no refusal", dry: true, answers: []answer{{}, {error: there}}, log: "delete create"},
		{reason: "tried: it may not be deleted", dry: true, answers: []answer{{error: forbidden}}, log: "delete", err: "configmap/conf: cannot be deleted to be created again: forbidden"},
		{reason: "tried: the new one is refused", dry: true, answers: []answer{{}, {error: forbidden}}, log: "delete create", err: "configmap/conf: cannot be created again, and so was not deleted: forbidden"},
		{reason: "it may not be deleted", answers: []answer{{error: forbidden}}, log: "delete", err: "configmap/conf: was not deleted, to be created again: forbidden"},
		{reason: "gone already", answers: []answer{{error: missing, by: func(map[string]any) map[string]any { return nil }}}, log: "delete get create"},
		{reason: "changed meanwhile: merged and tried again", answers: []answer{{error: conflict, by: with("x", "data", "b")}}, log: "delete get delete get create"},
		{reason: "changed meanwhile, and now a conflict", policy: "strict", answers: []answer{{error: conflict, by: with("9", "data", "a")}}, log: "delete get", err: "configmap/conf: was changed by others meanwhile, and now has conflicts: nothing was deleted: merge again"},
		{reason: "replaced meanwhile", answers: []answer{{error: conflict, by: with("two", "metadata", "uid")}}, log: "delete get", err: "configmap/conf: was replaced by another object meanwhile: merge again"},
		{reason: "another client is deleting it", answers: []answer{{error: conflict, by: func(map[string]any) map[string]any { return nil }}}, log: "delete get get create"},
		{reason: "changed all the time", answers: times(11, answer{error: conflict, by: counter()}), log: strings.TrimSuffix(strings.Repeat("delete get ", 10), " ") + " delete", err: "configmap/conf: was not deleted, to be created again: the object has been modified"},
		{reason: "refused after the deletion: the old one is there again", answers: []answer{{}, {error: forbidden}}, log: "delete get create create", err: "configmap/conf: was deleted, and is there again as it was configured, since the new one is refused: forbidden"},
		{reason: "both are refused after the deletion", answers: []answer{{}, {error: forbidden}, {error: forbidden}}, log: "delete get create create", err: "configmap/conf: WAS DELETED AND IS NOT CREATED YET: forbidden: merge again, which creates it", gone: true},
		{reason: "the server is busy: tried again", answers: []answer{{}, {error: busy}}, log: "delete get create create"},
		{reason: "the answer is lost, it was created", answers: []answer{{}, {error: lost, done: true}, {error: there}}, log: "delete get create create get"},
		{reason: "the server stays broken", answers: append([]answer{{}}, times(createTries, answer{error: failing})...), log: "delete get" + strings.Repeat(" create", createTries), err: "configmap/conf: WAS DELETED AND IS NOT CREATED YET: etcd has no leader: merge again, which creates it", gone: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{live: set(one(t), "one", "metadata", "uid"), answers: tt.answers}
			policy := "apply"
			if tt.policy != "" {
				policy = tt.policy
			}
			k := task(t, s, "2", policy)
			server := &Server{API: s, Write: cluster.Write{DryRun: tt.dry}}
			out, err := server.Recreate(t.Context(), Recreation{Task: Task{Target: conf, Planned: k.Planned, Replan: k.Replan}})
			if log := strings.Join(s.log, " "); log != tt.log {
				t.Errorf("%s: sent %s\nwant %s", tt.reason, log, tt.log)
			}
			if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Errorf("%s: %v\nwant %s", tt.reason, err, tt.err)
			}
			if err == nil && out.Outcome != Recreated {
				t.Errorf("%s: %s", tt.reason, out.Outcome)
			}
			if tt.gone != (s.live == nil) {
				t.Errorf("%s: left is %v", tt.reason, s.live)
			}
			if a, _ := merge.Lookup(s.live, merge.Path{merge.Named("data"), merge.Named("a")}, nil); err == nil && !tt.dry && a != "2" {
				t.Errorf("%s: created with %v", tt.reason, a)
			}
		})
	}
}

// TestRecreateWaits: an object that a finalizer holds is waited for, and then named with it.
func TestRecreateWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{live: set(set(one(t), "one", "metadata", "uid"), []any{"example.com/b", "example.com/a"}, "metadata", "finalizers")}
		k := task(t, s, "2", "apply")
		server := &Server{API: held{s}}
		_, err := server.Recreate(t.Context(), Recreation{Task: Task{Target: conf, Planned: k.Planned, Replan: k.Replan}})
		const want = "configmap/conf: was deleted and waits for its finalizers example.com/a, example.com/b after 2m0s, so that it was not created again: merge again once it is gone, which creates it"
		if err == nil || err.Error() != want || slices.Contains(s.log, "create") {
			t.Errorf("%v, sent %q", err, s.log)
		}
	})
}

// held is a server on which a deleted object stays.
type held struct{ *script }

func (h held) Delete(context.Context, cluster.Target, cluster.Deletion) (map[string]any, error) {
	return nil, nil
}

// TestImmutable: the fields that cannot be changed are those that the refusal names and the write
// changes; where the server names the ones that may be changed, all others.
func TestImmutable(t *testing.T) {
	typ := (*merge.Type)(nil)
	before := map[string]any{"spec": map[string]any{"selector": "a", "replicas": "1", "serviceName": "x", "template": map[string]any{"image": "a"}}}
	after := map[string]any{"spec": map[string]any{"selector": "b", "replicas": "2", "serviceName": "y", "template": map[string]any{"image": "b"}}}
	s := sent{}
	s.Planned.Plan.Changes = merge.Diff(before, after, typ)
	for _, tt := range []struct {
		field, message string
		want           []string
	}{
		{"spec.selector", "Invalid value: field is immutable", []string{"spec.selector"}},
		{"spec", "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template' are forbidden", []string{"spec.selector", "spec.serviceName"}},
		{"spec", "Forbidden: updates may not change fields other than `spec.template`, `spec.containers[*].image`", []string{"spec.replicas", "spec.selector", "spec.serviceName"}},
		{"", "no", nil},
	} {
		got := s.immutable([]metav1.StatusCause{{Field: tt.field, Message: tt.message}})
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %s: %q, want %q", tt.field, tt.message, got, tt.want)
		}
	}
}
