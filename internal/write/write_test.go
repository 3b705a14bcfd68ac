package write

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// times is an answer that is given again and again.
func times(n int, a answer) []answer { return slices.Repeat([]answer{a}, n) }

// TestApply: what is sent, how often, and what is reported of it, whatever comes between.
func TestApply(t *testing.T) {
	gone := func(map[string]any) map[string]any { return nil }
	for _, tt := range []struct {
		reason   string
		live     func(*testing.T) map[string]any // nil: not there
		a        string                          // what local has
		policy   string
		prepared bool
		dry      bool
		answers  []answer
		read     error
		log      string
		outcome  Outcome
		notes    []string
		err      string
	}{
		{reason: "a new object", a: "1", log: "create", outcome: Created},
		{reason: "a change", live: one, a: "2", log: "patch", outcome: Configured},
		{reason: "nothing to do", live: one, a: "1", log: "", outcome: Unchanged},
		{reason: "the server changes nothing: its version stays, and that is reported", live: one, a: "2", answers: []answer{{}}, log: "patch", outcome: Unchanged, notes: []string{"the server does not store data.a as it was sent: a feature gate, an admission policy or the kind changes it"}},
		{reason: "the annotation is not stored, and that is reported", a: "1", answers: []answer{{done: true, by: func(obj map[string]any) map[string]any {
			return merge.At[map[string]any](lastapplied.Without(obj))
		}}}, log: "create", outcome: Created, notes: []string{"the server does not store the last-applied annotation, as an admission policy drops it: what leaves the file stays in live: merge with --server-side, or always with --original=managed-fields"}},
		{reason: "a prepared request is sent as it is", live: one, a: "2", prepared: true, log: "patch", outcome: Configured},
		{reason: "a conflict is left: nothing is sent", live: contested, a: "2", policy: "strict", log: "", outcome: Unsettled},
		{reason: "a refusal is final", live: one, a: "2", answers: []answer{{error: forbidden}}, log: "patch", err: "configmap/conf: forbidden"},

		{reason: "others were faster: read and merged again", live: one, a: "2", answers: []answer{{error: conflict, by: with("x", "data", "b")}}, log: "patch get patch", outcome: Configured},
		{reason: "and so where the request was prepared", live: one, a: "2", prepared: true, answers: []answer{{error: conflict, by: with("x", "data", "b")}}, log: "patch get patch", outcome: Configured},
		{reason: "others wrote what local has", live: one, a: "2", answers: []answer{{error: conflict, by: func(obj map[string]any) map[string]any {
			return patched(obj, map[string]any{"data": map[string]any{"a": "2"}})
		}}}, log: "patch get patch", outcome: Configured},
		{reason: "another client created it first", a: "1", answers: []answer{{error: &cluster.Refusal{Code: 409, Reason: metav1.StatusReasonAlreadyExists, Text: "already exists"}, by: with("1", "data", "a")}}, log: "create get patch", outcome: Configured},
		{reason: "another client deleted it: it is created again", live: one, a: "2", answers: []answer{{error: missing, by: gone}}, log: "patch get create", outcome: Created},
		{reason: "a client that writes all the time loses after five tries, by a patch bound to values", live: one, a: "2", answers: times(5, answer{error: conflict, by: counter()}), log: "patch get patch get patch get patch get patch get json patch", outcome: Configured},
		{reason: "a server that reports a conflict where no other client has written", live: one, a: "2", answers: times(9, answer{error: conflict}), log: "patch get patch get patch get patch get patch get",
			err: "configmap/conf: the object has been modified: the server answered this to 5 writes, though the object is as it was read before each: nothing was written: look at what stands between you and the server, and merge again"},
		{reason: "a conflict that comes up meanwhile is left", live: one, a: "2", policy: "strict", answers: []answer{{error: conflict, by: with("3", "data", "a")}}, log: "patch get", outcome: Unsettled},
		{reason: "it cannot be read again", live: one, a: "2", answers: []answer{{error: conflict}}, read: forbidden, log: "patch get", err: "configmap/conf: forbidden"},

		{reason: "the answer is lost, the write was done", live: one, a: "2", answers: []answer{{error: lost, done: true}}, log: "patch get", outcome: Configured,
			notes: []string{"the server's answer to the write was lost; read again, the object is as it should be"}},
		{reason: "the answer is lost, the object was created", a: "2", answers: []answer{{error: lost, done: true}}, log: "create get", outcome: Created,
			notes: []string{"the server's answer to the write was lost; read again, the object is as it should be"}},
		{reason: "the answer is lost, and so was the request", live: one, a: "2", answers: []answer{{error: lost}}, log: "patch get patch", outcome: Configured},
		{reason: "it was done, and others have written since", live: one, a: "2", answers: []answer{{error: lost, done: true, by: with("3", "data", "a")}}, log: "patch get patch", outcome: Configured,
			notes: []string{"the server's answer to the write was lost; it was done, and merged again with what others changed since"}},
		{reason: "it is lost again and again", live: one, a: "2", answers: times(3, answer{error: lost}), log: "patch get patch get patch get",
			err: "configmap/conf: its answer broke off: when it was read again it was not written: merge again"},
		{reason: "the outcome of the write cannot be known", live: one, a: "2", answers: []answer{{error: lost}}, read: lost, log: "patch get",
			err: "configmap/conf: its answer broke off: " + ErrUnknown.Error()},
		{reason: "trouble behind the server, which the object shows was none", live: one, a: "2", answers: []answer{{error: failing, done: true}}, log: "patch get", outcome: Configured,
			notes: []string{"the server answered the write with an error (etcd has no leader); read again, the object is as it should be"}},
		{reason: "trouble behind the server", live: one, a: "2", answers: []answer{{error: failing}}, log: "patch get", err: "configmap/conf: etcd has no leader"},
		{reason: "a server that asks for patience gets it", live: one, a: "2", answers: times(2, answer{error: busy}), log: "patch get patch get patch", outcome: Configured},
		{reason: "but not for ever", live: one, a: "2", answers: times(3, answer{error: busy}), log: "patch get patch get patch",
			err: "configmap/conf: too many requests (it has asked to be waited for more than 5s in all)"},

		{reason: "a server without patches gets the whole object", live: one, a: "2", answers: []answer{{error: noPatches}}, log: "patch update", outcome: Configured,
			notes: []string{"was replaced whole, as its server takes no patches (bound to the version that was merged: nothing of others is lost)"}},
		{reason: "which is made again where only the patch is there", live: one, a: "2", prepared: true, answers: times(2, answer{error: noPatches}), log: "patch get patch update", outcome: Configured,
			notes: []string{"was replaced whole, as its server takes no patches (bound to the version that was merged: nothing of others is lost)"}},

		{reason: "a dry run", live: one, a: "2", dry: true, log: "patch", outcome: Configured},
		{reason: "a dry run whose answer is lost is tried again", live: one, a: "2", dry: true, answers: times(2, answer{error: lost}), log: "patch patch patch", outcome: Configured},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{answers: slices.Clone(tt.answers), read: tt.read}
			if tt.live != nil {
				s.live = tt.live(t)
			}
			policy := "apply"
			if tt.policy != "" {
				policy = tt.policy
			}
			todo := task(t, s, tt.a, policy)
			if tt.prepared {
				todo = preparedTask(t, s, tt.a, policy)
			}
			server := Server{API: s, Write: cluster.Write{FieldManager: manager, DryRun: tt.dry}}
			got, err := server.Apply(t.Context(), todo)
			if log := strings.Join(s.log, " "); log != tt.log {
				t.Errorf("%s: sent %q, want %q", tt.reason, log, tt.log)
			}
			if text := errorText(err); text != tt.err {
				t.Errorf("%s:\ngot  %s\nwant %s", tt.reason, text, tt.err)
			}
			if err == nil && got.Outcome != tt.outcome {
				t.Errorf("%s: %s, want %s", tt.reason, got.Outcome, tt.outcome)
			}
			if !slices.Equal(got.Notes, tt.notes) {
				t.Errorf("%s: notes %q, want %q", tt.reason, got.Notes, tt.notes)
			}
		})
	}
}

// TestOthers: a second request takes the restored values of others from the run's manager, whatever comes between.
func TestOthers(t *testing.T) {
	note := func(err error) []string {
		return []string{manager + " owns the values of others that were written, as its managedFields could not be (" + err.Error() + "): the next merge may take them for its own"}
	}
	done := answer{done: true}
	for _, tt := range []struct {
		reason  string
		dry     bool
		answers []answer
		read    error
		log     string
		notes   []string
	}{
		{reason: "as it is", log: "patch json patch"},
		{reason: "others were faster", answers: []answer{done, {error: conflict, by: counter()}}, log: "patch json patch get json patch"},
		{reason: "its answer is lost", answers: []answer{done, {error: lost}}, log: "patch json patch get json patch"},
		{reason: "the server asks for patience", answers: []answer{done, {error: busy}}, log: "patch json patch get json patch"},
		{reason: "it is refused", answers: []answer{done, {error: forbidden}}, log: "patch json patch", notes: note(forbidden)},
		{reason: "it cannot be read", answers: []answer{done, {error: conflict}}, read: forbidden, log: "patch json patch get", notes: note(forbidden)},
		{reason: "others write all the time", answers: append(times(1, done), times(26, answer{error: conflict})...), log: "patch" + strings.Repeat(" json patch get", 25) + " json patch", notes: note(conflict)},
		{reason: "a dry run", dry: true, log: "patch"},
		{reason: "nothing was written", answers: []answer{{}}, log: "patch", notes: []string{"the server does not store data.a as it was sent: a feature gate, an admission policy or the kind changes it"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			fields := map[string]any{"f:data": map[string]any{"f:a": map[string]any{}}}
			entry := map[string]any{"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}
			s := &script{live: patched(one(t), map[string]any{"metadata": map[string]any{"managedFields": []any{entry}}}), answers: tt.answers, read: tt.read}
			todo := task(t, s, "2", "apply")
			todo.Planned.Theirs = []any{map[string]any{"manager": "them", "operation": "Update", "apiVersion": "v1", "fieldsV1": fields}}
			server := Server{API: s, Write: cluster.Write{FieldManager: manager, DryRun: tt.dry}}
			got, err := server.Apply(t.Context(), todo)
			if log := strings.Join(s.log, " "); err != nil || log != tt.log || !slices.Equal(got.Notes, tt.notes) {
				t.Errorf("%s: sent %q, want %q; notes %q, want %q; %v", tt.reason, log, tt.log, got.Notes, tt.notes, err)
			}
		})
	}
}

// one is the live object whose value is 1, as applied.
func one(t *testing.T) map[string]any { return applied(t, "1") }

// contested is the same, with a value that another client has set since.
func contested(t *testing.T) map[string]any { return set(applied(t, "1"), "3", "data", "a") }

// counter is a client that writes status all the time.
func counter() func(map[string]any) map[string]any {
	n := 0
	return func(obj map[string]any) map[string]any {
		n++
		return set(obj, strings.Repeat("x", n), "status", "count")
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestTrial: of a trial only the error is of interest.
func TestTrial(t *testing.T) {
	s := &script{live: one(t)}
	server := Server{API: s, Write: cluster.Write{DryRun: true}, Trial: true}
	if got, err := server.Apply(t.Context(), preparedTask(t, s, "2", "apply")); err != nil || got.Outcome != "" || got.Object == nil {
		t.Errorf("%+v, %v", got, err)
	}
	s.answers = []answer{{error: forbidden}}
	if _, err := server.Apply(t.Context(), preparedTask(t, s, "2", "apply")); errorText(err) != "configmap/conf: forbidden" {
		t.Errorf("%v", err)
	}
}

// TestLostCreationIsRecorded: of an object that was created, and whose answer was lost, the record has what was
// read then; after a change, only what was sent.
func TestLostCreationIsRecorded(t *testing.T) {
	for _, tt := range []struct {
		live func(t *testing.T) map[string]any
		want string
	}{{nil, "an error, the object"}, {one, "an error"}} {
		s := &script{answers: []answer{{error: lost, done: true}}}
		if tt.live != nil {
			s.live = tt.live(t)
		}
		todo, got := task(t, s, "2", "apply"), []string(nil)
		todo.Begin = func(apply.Planned) (func(map[string]any, error), error) {
			return func(stored map[string]any, err error) {
				if err != nil {
					got = append(got, "an error")
				} else if merge.At[string](stored, "data", "a") == "2" {
					got = append(got, "the object")
				}
			}, nil
		}
		server := Server{API: s, Write: cluster.Write{FieldManager: manager}}
		if _, err := server.Apply(t.Context(), todo); err != nil || strings.Join(got, ", ") != tt.want {
			t.Errorf("recorded %q, want %q, error %v", got, tt.want, err)
		}
	}
}

// TestInterrupted: what became of a write that was cut off is found out, if there is time.
func TestInterrupted(t *testing.T) {
	s := &script{live: one(t), answers: []answer{{error: context.Canceled, done: true}}}
	server := Server{API: s, Write: cluster.Write{FieldManager: manager}}
	if got, err := server.Apply(t.Context(), task(t, s, "2", "apply")); err != nil || got.Outcome != Configured {
		t.Errorf("%s, %v", got.Outcome, err)
	}
	s = &script{live: one(t), answers: []answer{{error: context.Canceled}}}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	todo := task(t, s, "2", "apply")
	if _, err := server.with(s).Apply(ctx, todo); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "interrupted while it was being written") {
		t.Errorf("%v", err)
	}
}

func (s Server) with(api API) *Server {
	s.API = api
	return &s
}

// TestForeseen: a run without a server reports what the plan says.
func TestForeseen(t *testing.T) {
	for _, tt := range []struct {
		live   map[string]any
		a      string
		want   Outcome
		writes bool
	}{{nil, "1", Created, true}, {one(t), "2", Configured, true}, {one(t), "1", Unchanged, false}, {contested(t), "2", Unsettled, false}} {
		p := task(t, &script{live: tt.live}, tt.a, "strict").Planned
		if got := Foreseen(p); got.Outcome != tt.want || Writes(p) != tt.writes || got.Object == nil {
			t.Errorf("%v: %s, writes: %t; want %s, %t", tt.live, got.Outcome, Writes(p), tt.want, tt.writes)
		}
	}
}

// TestCreatedByOthers: what others have created meanwhile, and the plan leaves as it is, is not
// reported as created.
func TestCreatedByOthers(t *testing.T) {
	exists := &cluster.Refusal{Code: 409, Reason: metav1.StatusReasonAlreadyExists, Text: "already exists"}
	s := &script{answers: []answer{{error: exists, by: func(map[string]any) map[string]any { return applied(t, "3") }}}}
	todo := task(t, s, "1", "apply")
	todo.Replan = func(_ context.Context, live map[string]any) (apply.Planned, error) {
		return apply.Planned{Subject: todo.Planned.Subject, Live: live, Action: apply.Nothing}, nil
	}
	server := Server{API: s, Write: cluster.Write{FieldManager: manager}}
	if got, err := server.Apply(t.Context(), todo); err != nil || got.Outcome != Unchanged {
		t.Errorf("%s, %v", got.Outcome, err)
	}
}

// TestOwnersWait: the write of owners is sent again when the server has asked for it, and not before.
func TestOwnersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{live: one(t), answers: []answer{{error: busy}}}
		todo := task(t, s, "2", "apply")
		owning := func(_ context.Context, live map[string]any) (apply.Planned, error) {
			p := todo.Planned
			p.Live, p.Applying = live, &apply.Applying{Owners: []any{}}
			if len(s.log) > 2 {
				p.Action = apply.Nothing
			}
			return p, nil
		}
		begun := time.Now()
		todo.Planned, _ = owning(t.Context(), s.live)
		todo.Replan = owning
		server := Server{API: s, Write: cluster.Write{FieldManager: manager}}
		if _, err := server.Apply(t.Context(), todo); err != nil {
			t.Fatal(err)
		}
		if log := strings.Join(s.log, " "); log != "json patch get json patch" || time.Since(begun) < busy.Pause {
			t.Errorf("sent %s in %s", log, time.Since(begun))
		}
	})
}

// TestOwnersPutBack: owners that were written for a plan that is refused are put back, or the error says that they
// could not be.
func TestOwnersPutBack(t *testing.T) {
	for _, tt := range []struct {
		conflicts bool
		moved     error  // of the write that moves them, which is executed
		last      answer // to putting them back
		want, log string
	}{
		{want: "configmap/conf: forbidden", log: "json patch apply json patch"},
		{last: answer{error: conflict}, log: "json patch apply json patch", want: "configmap/conf: forbidden\nconfigmap/conf: " + manager +
			" owns fields that it did not own before, and its managedFields could not be put back (the object has been modified): the next merge removes those that the file does not state"},
		{conflicts: true, log: "json patch json patch"},
		{moved: lost, want: "configmap/conf: forbidden", log: "json patch get apply json patch"},
	} {
		s := &script{live: one(t), answers: []answer{{done: true, error: tt.moved}, {error: forbidden}, tt.last}}
		if tt.conflicts {
			s.answers = []answer{{done: true}, tt.last}
		}
		todo := task(t, s, "2", "apply")
		todo.Planned.Applying = &apply.Applying{Owners: []any{}}
		todo.Replan = func(_ context.Context, live map[string]any) (apply.Planned, error) {
			p := todo.Planned
			p.Live, p.Applying = live, &apply.Applying{Config: local("2")}
			if tt.conflicts {
				p.Conflicts = make([]merge.Disagreement, 1)
			}
			return p, nil
		}
		server := Server{API: s, Write: cluster.Write{FieldManager: manager}}
		got := ""
		if _, err := server.Apply(t.Context(), todo); err != nil {
			got = err.Error()
		}
		if log := strings.Join(s.log, " "); got != tt.want || log != tt.log {
			t.Errorf("sent %s: %s", log, got)
		}
	}
}
