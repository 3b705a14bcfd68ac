package e2e

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// TestAgents gives 100 tasks to an agent that makes the mistakes agents make: once with --profile=agent, where it
// follows what the program suggests, and once with kubectl apply --server-side --force-conflicts. The agent is a
// script: the same mistake, noticed at the same time, in both. Counted are values of others that were lost at any
// time, objects that are others than before, and tasks that are done in the end. The table in docs/programs.md is
// written with -args -update, and compared otherwise.
func TestAgents(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	api := newObjects(t, s)
	all := &agentTally{counts: map[agentRow]agentCount{}}
	t.Run("tasks", func(t *testing.T) {
		for tool := range agentTools {
			w := newAgentWorld(t, s, api, tool)
			for _, task := range agentTasks() {
				t.Run(tool+"/"+task.name, func(t *testing.T) {
					t.Parallel()
					all.add(agentRow{task.mistake, tool}, w.play(t, task))
				})
			}
		}
	})
	if t.Failed() {
		return
	}
	with, without := all.total("kubectl merge"), all.total("kubectl")
	if with.lost > 0 || with.recreated > 0 || with.done < without.done || with.tasks != 100 || without.tasks != 100 {
		t.Errorf("with the profile %+v, kubectl %+v: want nothing lost, nothing recreated, and as many tasks done", with, without)
	}
	all.compare(t, "../../docs/programs.md")
}

// agentRow is whose counts are taken: of a mistake, with a tool.
type agentRow struct{ mistake, tool string }

type agentCount struct{ tasks, lost, recreated, done int }

func (c agentCount) plus(d agentCount) agentCount {
	return agentCount{c.tasks + d.tasks, c.lost + d.lost, c.recreated + d.recreated, c.done + d.done}
}

type agentTally struct {
	mu     sync.Mutex
	counts map[agentRow]agentCount
}

func (a *agentTally) add(row agentRow, c agentCount) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts[row] = a.counts[row].plus(c)
}

func (a *agentTally) total(tool string) (sum agentCount) {
	for row, c := range a.counts {
		if row.tool == tool {
			sum = sum.plus(c)
		}
	}
	return sum
}

// table is the table of the page.
func (a *agentTally) table() string {
	var b strings.Builder
	b.WriteString("| the agent | tasks | values of others lost: `kubectl merge` | kubectl | objects recreated: `kubectl merge` | kubectl | tasks done: `kubectl merge` | kubectl |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	line := func(name string, with, without agentCount) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d |\n", name, with.tasks, with.lost, without.lost, with.recreated, without.recreated, with.done, without.done)
	}
	for _, m := range agentMistakes {
		line(m.does, a.counts[agentRow{m.name, "kubectl merge"}], a.counts[agentRow{m.name, "kubectl"}])
	}
	line("**together**", a.total("kubectl merge"), a.total("kubectl"))
	return b.String()
}

// compare holds the page to the table, or writes it there.
func (a *agentTally) compare(t *testing.T, file string) {
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	marks := regexp.MustCompile(`(?s)(<!-- agents: [^>]*-->\n).*(<!-- end of agents -->)`)
	want := marks.ReplaceAll(page, []byte("${1}"+a.table()+"${2}"))
	switch {
	case string(want) == string(page):
	case !*update:
		t.Errorf("%s has another table: -args -update writes\n%s", file, a.table())
	default:
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Error(err)
		}
	}
}

// agentMistakes are what agents do, and how many tasks there are of each.
var agentMistakes = []struct {
	name, does string
	tasks      int
	kinds      []string
}{
	{"force", "forces on a conflict", 20, []string{"Deployment", "ConfigMap", "Service", "StatefulSet", "CronJob"}},
	{"recreate", "deletes and recreates what is refused", 15, []string{"Deployment", "StatefulSet", "RoleBinding"}},
	{"truncate", "cuts the manifest off", 20, []string{"Deployment", "ConfigMap", "Service", "StatefulSet", "CronJob"}},
	{"retry", "repeats what it did until live is as its file", 15, []string{"Deployment", "ConfigMap", "Service", "StatefulSet", "CronJob"}},
	{"hallucinate", "writes fields that it has made up", 15, []string{"Deployment", "ConfigMap", "Service", "StatefulSet", "CronJob"}},
	{"misplace", "takes the wrong namespace", 15, []string{"Deployment", "ConfigMap", "Service", "StatefulSet", "CronJob"}},
}

// agentTask is a task: of an object of a kind, with a mistake in one of its forms.
type agentTask struct {
	name, mistake, kind string
	form                int
}

func agentTasks() (all []agentTask) {
	for _, m := range agentMistakes {
		for n := range m.tasks {
			all = append(all, agentTask{fmt.Sprintf("%s-%02d", m.name, n), m.name, m.kinds[n%len(m.kinds)], n})
		}
	}
	return all
}

// agentKind is a kind of object: what is applied first, what the task asks for, and what others have set.
type agentKind struct {
	manifest string
	goal     agentValue
	others   []agentValue // by oncall, of what the file states; and, by platform, two that it does not state
	wrong    []agentValue // of a field that can be set only once, and what has to be as it
	madeUp   agentValue   // a field that the kind does not have
}

// agentValue is the value of a field, whose path has numbers for entries of lists.
type agentValue struct {
	path  string
	value any
}

func (v agentValue) set(object map[string]any) {
	at, words := any(object), agentPath(v.path)
	for _, word := range words[:len(words)-1] {
		switch now := at.(type) {
		case []any:
			at = now[len(word)-1] // of one entry
		case map[string]any:
			if now[word] == nil {
				now[word] = map[string]any{}
			}
			at = now[word]
		}
	}
	at.(map[string]any)[words[len(words)-1]] = v.value
}

func (v agentValue) of(object map[string]any) any {
	at := any(object)
	for _, word := range agentPath(v.path) {
		switch now := at.(type) {
		case []any:
			at = now[len(word)-1]
		case map[string]any:
			at = now[word]
		default:
			return nil
		}
	}
	return at
}

func (v agentValue) in(object map[string]any) bool {
	return fmt.Sprint(v.of(object)) == fmt.Sprint(v.value)
}

// agentPath splits a path at its slashes; 0 is the only entry of a list.
func agentPath(path string) []string { return strings.Split(path, "/") }
