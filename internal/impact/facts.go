package impact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Facts states what a merge of one object means for pods: little enough to be kept for all objects
// of a run, when their sides are not.
type Facts struct {
	Impact
	Object    string // deployment.apps/web
	Namespace string

	values  name // of the ConfigMap or Secret whose values change; zero if none do
	reads   []reading
	restart string // how its pods read values again
}

// name is a ConfigMap or Secret.
type name struct{ kind, namespace, name string }

// reading names an object that pods read, before and after the merge.
type reading struct {
	name
	env bool // when a container starts
}

// Look returns the facts of a plan, which must be whole. The namespace is the object's.
func Look(p apply.Planned, namespace string) Facts {
	f := Facts{Impact: Of(p), Object: p.Name, Namespace: namespace}
	if p.Group() == "" && (p.Kind() == "ConfigMap" || p.Kind() == "Secret") {
		if p.Action == apply.Change && f.Word != None && contentDiffers(p) {
			f.values = name{p.Kind(), namespace, p.Object.Name()}
		}
		return f
	}
	w, ok := workloadOf(p.Group(), p.Kind())
	if !ok || w.restart == "" || p.Live == nil || f.Word == RollsOut || w.replicas && replicas(p.Live) == 0 {
		return f
	}
	f.restart = w.restart
	spec := merge.At[any](p.Live, append(w.template[:len(w.template):len(w.template)], "spec")...)
	for _, s := range sources {
		for _, n := range names(spec, strings.Split(s.path, ".")) {
			r := reading{name{s.kind, namespace, n}, s.env}
			if !slices.Contains(f.reads, r) {
				r.name.name = strings.Clone(n) // a substring would keep the whole answer in memory
				f.reads = append(f.reads, r)
			}
		}
	}
	return f
}

// Any reports whether the facts matter: the object is written, or pods of it read ConfigMaps or
// Secrets.
func (f Facts) Any() bool { return f.Word != None || len(f.reads) > 0 || f.values != (name{}) }

// contentDiffers reports whether the values that pods read change.
func contentDiffers(p apply.Planned) bool {
	return slices.ContainsFunc([]string{"data", "binaryData"}, func(field string) bool {
		return !merge.Identical(p.Live[field], p.Final[field])
	})
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

// StaleIn lists the objects whose pods keep old values, in order of the objects that change. If
// several facts are of pods that read one object in both ways, environment variables count. nil if
// there are none.
func StaleIn(all []Facts) (out []Stale) {
	readers := map[name][]Stale{}
	for _, f := range all {
		for _, r := range f.reads {
			at := slices.IndexFunc(readers[r.name], func(s Stale) bool { return s.Reader == f.Object })
			if at >= 0 {
				readers[r.name][at].Env = readers[r.name][at].Env || r.env
				continue
			}
			readers[r.name] = append(readers[r.name], Stale{Namespace: r.namespace, Reader: f.Object, Env: r.env, restart: f.restart})
		}
	}
	for _, f := range all {
		if f.values == (name{}) {
			continue
		}
		for _, s := range readers[f.values] {
			s.Object = f.Object
			out = append(out, s)
		}
	}
	return out
}
