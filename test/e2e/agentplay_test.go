package e2e

import (
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"
)

// agentWorld is where the tasks of one tool are played: a namespace whose objects the tool has applied, and in which
// others have set values since; and the namespace of another team, whose objects have the same names.
type agentWorld struct {
	*user
	api  *objects
	tool string
	team string // the other team's namespace
}

func newAgentWorld(t *testing.T, s *apiServer, api *objects, tool string) *agentWorld {
	w := &agentWorld{user: s.user(t, "agents"), api: api, tool: tool}
	w.team = s.user(t, "team").ns
	var all []string
	for _, task := range agentTasks() {
		kind := agentKinds[task.kind]
		all = append(all, strings.ReplaceAll(kind.manifest, "NAME", task.name))
		if task.mistake == "misplace" {
			theirs := w.manifest(t, task, w.team)
			for _, v := range append(slices.Clone(kind.others), agentValue{kind.goal.path, "theirs"}) {
				if !strings.HasPrefix(v.path, "spec/schedule") {
					v.set(theirs)
				}
			}
			api.create(t, theirs)
		}
	}
	w.file("all.yaml", strings.Join(all, "\n---\n"))
	if tool == "kubectl" {
		w.does("kubectl", "apply", "--server-side", "-f", "all.yaml")
	} else {
		w.does("kubectl-merge", "-f", "all.yaml", "-q")
	}
	for _, task := range agentTasks() {
		w.act(t, task)
	}
	return w
}

// manifest is the object of a task as it was applied first.
func (w *agentWorld) manifest(t *testing.T, task agentTask, ns string) map[string]any {
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(agentKinds[task.kind].manifest, "NAME", task.name)), &object); err != nil {
		t.Fatal(err)
	}
	if ns != "" {
		agentValue{"metadata/namespace", ns}.set(object)
	}
	return object
}

// act has the others set their values.
func (w *agentWorld) act(t *testing.T, task agentTask) {
	live := w.live(t, task, w.ns)
	if live == nil {
		return
	}
	for i, v := range agentKinds[task.kind].others {
		v.set(live)
		if i == 0 {
			live, _ = w.put(t, live, "oncall")
		}
	}
	w.put(t, live, "platform")
}

func (w *agentWorld) put(t *testing.T, object map[string]any, manager string) (map[string]any, bool) {
	live, ok := w.api.put(t, object, manager)
	if !ok {
		t.Fatalf("%s cannot write %s", manager, short(object))
	}
	return live.(map[string]any), true
}

// live is the object of a task; nil where there is none.
func (w *agentWorld) live(t *testing.T, task agentTask, ns string) map[string]any {
	object := w.manifest(t, task, "")
	text, err := w.api.rest.Get().AbsPath(w.api.path(object, ns), task.name).DoRaw(t.Context())
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	live, err := decodeJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return live.(map[string]any)
}

// agent is an agent at one task.
type agent struct {
	*agentWorld
	t    *testing.T
	task agentTask
	kind agentKind

	made  map[string]any // what its file states
	text  string         // of its file
	place []string       // its flags for the namespace

	theirs map[string]any  // the other team's object, before
	uid    any             // of its object, before
	lost   map[string]bool // values of others that were not there after some command
	anew   bool            // the object is another one, after some command
}

// play has an agent make a mistake, notice that the task is not done, and do it as it should have.
func (w *agentWorld) play(t *testing.T, task agentTask) agentCount {
	u := *w.user
	u.t = t
	world := *w
	world.user = &u
	a := &agent{agentWorld: &world, t: t, task: task, kind: agentKinds[task.kind], lost: map[string]bool{}}
	a.uid = agentValue{path: "metadata/uid"}.of(a.live(t, task, a.ns))
	a.theirs = a.live(t, task, a.team)
	a.whole()
	a.mistaken()
	for try := range 3 {
		agentTools[w.tool](a)
		enough := a.done()
		if task.mistake == "retry" {
			enough = enough && a.as(a.made)
		}
		if enough {
			break
		}
		if task.mistake == "retry" {
			a.act(t, task) // the others notice, too
		} else {
			a.whole()
		}
		t.Logf("try %d: not done", try)
	}
	out := agentCount{tasks: 1, lost: len(a.lost)}
	if a.anew {
		out.recreated = 1
	}
	if a.done() {
		out.done = 1
	}
	return out
}

// whole has the agent write its file as it should be.
func (a *agent) whole() {
	a.made = a.manifest(a.t, a.task, "")
	a.kind.goal.set(a.made)
	a.place = nil
	a.written(a.made)
}

// written writes the file.
func (a *agent) written(object map[string]any) {
	text, err := yaml.Marshal(object)
	if err != nil {
		a.t.Fatal(err)
	}
	a.text = string(text)
	a.file(a.task.name+".yaml", a.text)
}

// mistaken is the mistake.
func (a *agent) mistaken() {
	switch form := a.task.form; a.task.mistake {
	case "recreate":
		for _, v := range a.kind.wrong {
			v.set(a.made)
		}
		a.written(a.made)
	case "truncate":
		cut := len(a.text) * (45 + form*13%50) / 100
		a.file(a.task.name+".yaml", a.text[:cut])
	case "hallucinate":
		if v := a.kind.madeUp; form%3 == 0 {
			v.set(a.made)
		} else {
			agentValue{a.kind.others[form%3].path, "made-up"}.set(a.made)
		}
		a.written(a.made)
	case "misplace":
		switch form % 3 {
		case 0: // the file knows better
			agentValue{"metadata/namespace", a.ns}.set(a.made)
			a.written(a.made)
			a.place = []string{"--namespace=" + a.team}
		case 1:
			a.place = []string{"--namespace=" + a.team}
		default:
			a.place = []string{"--namespace=" + a.ns + "-typo"}
		}
	}
}

// done: live has what the task asks for, and all values that the file should state and no other client has set.
func (a *agent) done() bool {
	want := a.manifest(a.t, a.task, "")
	a.kind.goal.set(want)
	return a.as(want, a.kind.others[0].path)
}

// as: live has all that an object states, but for some paths.
func (a *agent) as(want map[string]any, but ...string) bool {
	live := a.live(a.t, a.task, a.ns)
	if live == nil {
		return false
	}
	stated := true
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, below := range v {
				walk(strings.TrimPrefix(path+"/"+name, "/"), below)
			}
		case []any:
			walk(path+"/0", v[0])
		default:
			stated = stated && (slices.Contains(but, path) || agentValue{path, v}.in(live))
		}
	}
	walk("", want)
	return stated
}

// looked counts what a command has done to the values of others.
func (a *agent) looked() {
	live := a.live(a.t, a.task, a.ns)
	for _, v := range a.kind.others {
		if live == nil || !v.in(live) {
			a.lost[v.path] = true
		}
	}
	a.anew = a.anew || live == nil || agentValue{path: "metadata/uid"}.of(live) != a.uid
	if a.theirs == nil {
		return
	}
	now := a.live(a.t, a.task, a.team)
	for _, v := range append(slices.Clone(a.kind.others), a.kind.goal) {
		v.value = v.of(a.theirs)
		if now == nil || !v.in(now) {
			a.lost["theirs "+v.path] = true
		}
	}
}
