package e2e

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// agentTools are how an agent writes its file.
var agentTools = map[string]func(*agent){"kubectl merge": (*agent).profiled, "kubectl": (*agent).forced}

// enough is how many commands an agent runs before it looks at its task again.
const enough = 8

// agentFailure is an error for programs.
type agentFailure struct {
	Kind, Object, Path, Reason string
	Retryable                  bool
	Next                       [][]string
}

// profiled runs the program with the profile for agents, and what it says is to be run next.
func (a *agent) profiled() {
	file := a.task.name + ".yaml"
	first := func() []string {
		return slices.Concat([]string{"kubectl", "merge", "-f", file, "--profile=agent"}, a.place)
	}
	next := first()
	for range enough {
		got := a.run(next)
		plans := slices.Contains(next, "--output=plan")
		if plans && got.code <= 1 {
			plan := a.file(a.task.name+".plan", got.stdout)
			next = slices.DeleteFunc(append(slices.Clone(next), "--plan="+plan), func(word string) bool { return word == "diff" || word == "--output=plan" })
			continue
		}
		if got.code == 0 {
			return
		}
		f := a.failure(got)
		switch {
		case f.Retryable:
		case f.Reason == "unknown-field":
			a.withoutMadeUp(f.Path)
			next = first()
		case f.Reason == "immutable":
			a.setBack(f)
			next = first()
		case f.Reason == "no-namespace":
			if there := a.run(append(f.Next[0], "--output=name")); !strings.Contains(there.stdout, "namespace/"+a.ns+"\n") {
				a.t.Fatalf("%s", there)
			}
			a.place = []string{"--namespace=" + a.ns}
			next = first()
		case len(f.Next) > 0:
			next = f.Next[0]
		default:
			return
		}
	}
}

// run runs a vector that the program has suggested, and counts what became of the values of others.
func (a *agent) run(vector []string) said {
	a.t.Helper()
	var got said
	if vector[1] == "merge" {
		got = a.tries("kubectl-merge", vector[2:]...)
	} else {
		got = a.tries(vector[0], vector[1:]...)
	}
	a.t.Log(got.line, got.code)
	a.looked()
	return got
}

// failure is the first error of a run that is not about another.
func (a *agent) failure(got said) agentFailure {
	for line := range strings.Lines(got.stderr) {
		var f agentFailure
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			a.t.Fatalf("%v: %s", err, got)
		}
		if f.Reason != "" && f.Reason != "not-reached" {
			a.t.Log(strings.TrimSpace(line))
			return f
		}
	}
	a.t.Fatalf("fails without a reason: %s", got)
	return agentFailure{}
}

// withoutMadeUp takes out the field that was refused.
func (a *agent) withoutMadeUp(text string) {
	words := agentPath(a.kind.madeUp.path)
	if strings.Contains(text, words[len(words)-1]) {
		a.whole()
	}
}

// setBack looks at what the cluster has in a field that can be set only once, and writes that.
func (a *agent) setBack(f agentFailure) {
	got := a.run(f.Next[0])
	var shown []struct {
		Fields []struct {
			Path string
			Live any
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &shown); err != nil || got.code != 0 {
		a.t.Fatalf("%v: %s", err, got)
	}
	for _, field := range shown[0].Fields {
		path, err := merge.ParsePath(field.Path)
		if err != nil {
			a.t.Fatal(err)
		}
		var words []string
		for _, step := range path {
			words = append(words, step.Name)
		}
		agentValue{strings.Join(words, "/"), field.Live}.set(a.made)
	}
	a.written(a.made)
}

var (
	kubectlUnknown = regexp.MustCompile(`field not declared in schema|unknown field`)
	kubectlPlaced  = regexp.MustCompile(`You must pass '(--namespace=\S+)'`)
	kubectlNoSpace = regexp.MustCompile(`namespaces "\S+" not found`)
	kubectlRefused = regexp.MustCompile(`immutable|forbidden|cannot change|Invalid`)
)

// forced runs kubectl as agents do.
func (a *agent) forced() {
	file := a.task.name + ".yaml"
	for range enough {
		got := a.run(slices.Concat([]string{"kubectl", "apply", "--server-side", "--force-conflicts", "-f", file}, a.place))
		switch {
		case got.code == 0:
			return
		case kubectlUnknown.MatchString(got.stderr):
			a.withoutMadeUp(got.stderr)
		case kubectlPlaced.MatchString(got.stderr):
			a.place = []string{kubectlPlaced.FindStringSubmatch(got.stderr)[1]}
		case kubectlNoSpace.MatchString(got.stderr):
			a.place = []string{"--namespace=" + a.ns}
		case a.task.mistake == "recreate" && kubectlRefused.MatchString(got.stderr):
			a.run([]string{"kubectl", "delete", "-f", file})
		default:
			return
		}
	}
}
