package play

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Scenario is all that a seed decides.
type Scenario struct {
	Seed   uint64
	Files  [][]string // of each version of the input, the objects
	Steps  []Step
	Events []Event
	Prune  bool // the input is that of a set
	Server bool // written by server-side apply

	Rollout Rollout // of Deployments
}

// Rollout is how Deployments become ready: not at all, after a while, or never more.
type Rollout struct {
	Seconds int
	Fails   bool
}

// Step is one command line.
type Step struct {
	Verb        string // a row of verbs
	File        int    // version of its input
	Concurrency int
}

// Event is an event at one request of a step.
type Event struct {
	Step, At int
	Kind     string // a row of actors or of faults
	Object   string // that an actor acts on
	N        int    // chooses among the forms of the kind
}

// String is the event as the trace has it.
func (e Event) String() string {
	return strings.TrimSpace(fmt.Sprintf("step %d, request %d: %s %s %d", e.Step, e.At, e.Kind, e.Object, e.N))
}

// refs are the objects that a file may have.
var refs = []string{"configmap/a", "configmap/b", "configmap/c", "secret/s", "serviceaccount/r", "deployment/web"}

// stories are sequences of verbs. Each is followed by quiet runs, which have to finish the work.
var stories = [][]string{
	{"merge"}, {"merge"}, {"merge", "merge"},
	{"record", "undo"}, {"record", "undo"}, {"record", "merge", "undo"},
	{"rollback"}, {"wait", "diff"}, {"wait"}, {"rollback", "drift"},
	{"plan", "bound"}, {"diff", "merge", "drift"}, {"migrate", "merge"},
	{"watch"}, {"absorb"}, {"view"}, {"verify", "merge"}, {"adopt", "merge"}, {"disband", "merge"}, {"delete", "merge"},
	{"modern"}, {"sets", "merge"}, {"disown", "merge"}, {"applied"}, {"explain"}, {"awaits"}, {"wait", "awaits"}, {"sets-all"}, {"take", "drift"},
}

// Draw is the scenario of a seed.
func Draw(seed uint64) Scenario {
	r := rand.New(rand.NewPCG(seed, 0))
	s := Scenario{Seed: seed, Prune: r.IntN(2) == 0, Server: r.IntN(6) == 0, Rollout: Rollout{Seconds: []int{0, 1, 20, 50, 100}[r.IntN(5)], Fails: r.IntN(4) == 0}}
	story := stories[r.IntN(len(stories))]
	s.Prune = s.Prune || verbs[story[0]].set
	waits := slices.Contains(story, "wait") || slices.Contains(story, "rollback")
	for range 4 {
		s.Files = append(s.Files, drawFile(r, waits))
	}
	s.Steps = []Step{{Verb: "merge", Concurrency: 1}} // quiet
	for n, verb := range story {
		step := Step{Verb: verb, File: 1, Concurrency: []int{1, 1, 8}[r.IntN(3)]}
		if slices.Contains([]string{"absorb", "watch", "take", "awaits"}, verb) || verb == "drift" && story[0] == "take" {
			step.File = 0 // what was applied
		}
		if verb == "merge" && n > 0 {
			step.File = 2 // of two runs, it can be seen which has written a value
		}
		s.Steps = append(s.Steps, step)
	}
	n := []int{0, 1, 1, 2, 2, 3, 4, 6}[r.IntN(8)]
	for range n {
		e := Event{Step: 1 + r.IntN(len(story)), At: r.IntN(6 + r.IntN(30)), N: r.IntN(1 << 16), Object: refs[r.IntN(len(refs))]}
		kinds := actorNames
		if r.IntN(2) == 0 {
			kinds = faultNames
		}
		if e.Kind = kinds[r.IntN(len(kinds))]; e.Kind == "runs" { // with a version of its own: it can be seen what it has written
			s.Files = append(s.Files, s.Files[3])
			e.N = len(s.Files) - 1
		}
		s.Events = append(s.Events, e)
	}
	if late := rand.New(rand.NewPCG(seed, 2)); late.IntN(30) == 0 { // a number of its own, so that all other seeds are what they were
		s.Steps = []Step{s.Steps[0], {Verb: "edit", File: 1, Concurrency: 1}, {Verb: "merge", File: 2, Concurrency: 1}}
		s.Events = slices.DeleteFunc(s.Events, func(e Event) bool { return e.Step >= len(s.Steps) })
	}
	if late := rand.New(rand.NewPCG(seed, 1002)); late.IntN(20) == 0 { // as above
		s.Events = append(s.Events, Event{Step: 1 + late.IntN(len(s.Steps)-1), At: late.IntN(16), Kind: unfit, N: late.IntN(1 << 16)})
	}
	return s
}

func drawFile(r *rand.Rand, waits bool) []string {
	out := []string{refs[0]}
	for _, ref := range refs[1:] {
		if r.IntN(2) == 0 || waits && ref == "deployment/web" {
			out = append(out, ref)
		}
	}
	return out
}

// Has reports whether the scenario has all of a list: verbs, kinds of events, prune, server.
func (s Scenario) Has(list string) bool {
	for word := range strings.SplitSeq(list, ",") {
		if word != "" && !(word == "prune" && s.Prune) && !(word == "server" && s.Server) && !slices.ContainsFunc(s.Steps, func(c Step) bool { return c.Verb == word }) &&
			!slices.ContainsFunc(s.Events, func(e Event) bool { return e.Kind == word }) {
			return false
		}
	}
	return true
}
