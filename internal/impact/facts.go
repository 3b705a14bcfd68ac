package impact

import (
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/references"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Facts states what a merge of one object means for pods: little enough to be kept for all objects
// of a run, when their sides are not.
type Facts struct {
	Impact
	Object    string // deployment.apps/web
	Namespace string

	values  references.Reference          // to the ConfigMap or Secret whose values change; zero if none do
	reads   map[references.Reference]bool // what its pods read, before and after the merge; see references.Values
	restart string                        // how its pods read values again
}

// Look returns the facts of a plan, which must be whole. The namespace is the object's.
func Look(p apply.Planned, namespace string) Facts {
	f := Facts{Impact: Of(p), Object: p.Name, Namespace: namespace}
	if p.Group() == "" && (p.Kind() == "ConfigMap" || p.Kind() == "Secret") {
		same := merge.Identical(p.Live["data"], p.Final["data"]) && merge.Identical(p.Live["binaryData"], p.Final["binaryData"])
		if p.Action == apply.Change && f.Word != None && !same {
			f.values = references.Reference{Kind: p.Kind(), Name: p.Object.Name()}
		}
		return f
	}
	w, ok := workloadOf(p.Group(), p.Kind())
	if !ok || w.restart == "" || p.Live == nil || f.Word == RollsOut || w.replicas && replicas(p.Live) == 0 {
		return f
	}
	f.restart = w.restart
	f.reads = references.Values(merge.At[map[string]any](p.Live, append(w.template[:len(w.template):len(w.template)], "spec")...))
	return f
}

// Any reports whether the facts matter: the object is written, or pods of it read ConfigMaps or
// Secrets.
func (f Facts) Any() bool {
	return f.Word != None || len(f.reads) > 0 || f.values != (references.Reference{})
}

// Stale is one object whose running pods keep old values of a ConfigMap or Secret, since
// the run does not replace them.
type Stale struct {
	Object, Namespace string // of the ConfigMap or Secret
	Reader            string // deployment.apps/web
	Env               bool   // read when a container starts; otherwise mounted as files
	restart           string
}

// String describes what happens to the pods, and how they read the new values.
func (s Stale) String() string {
	how := "mounts it, and its pods are not replaced: programs that read the files only at start, and files mounted by subPath, keep the old values until the pods are restarted"
	if s.Env {
		how = "reads it into environment variables, and its pods are not replaced: they keep the old values until they are restarted"
	}
	way := s.restart
	if way == restartRollout {
		way = fmt.Sprintf("%s %s%s", restartRollout, s.Reader, object.In(s.Namespace))
	}
	return s.Reader + " " + how + ": " + way
}

// StaleIn lists the objects whose pods keep old values, in order of the objects that change; nil if
// there are none.
func StaleIn(all []Facts) (out []Stale) {
	type place struct {
		references.Reference
		namespace string
	}
	readers := map[place][]Stale{}
	for _, f := range all {
		for r, env := range f.reads {
			at := place{r, f.Namespace}
			readers[at] = append(readers[at], Stale{Namespace: f.Namespace, Reader: f.Object, Env: env, restart: f.restart})
		}
	}
	for _, f := range all {
		for _, s := range readers[place{f.values, f.Namespace}] {
			s.Object = f.Object
			out = append(out, s)
		}
	}
	return out
}
