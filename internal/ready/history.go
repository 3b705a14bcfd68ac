package ready

import (
	"strings"
	"time"
)

// History remembers, from verdict to verdict, since when each problem of an object lasts.
// The zero value is for an object without a verdict yet.
type History struct {
	since   map[string]time.Time // by Problem.key
	unknown time.Time            // since when its status is not written
}

// Next takes a verdict on the object at time now and returns what to report. A problem that
// has lasted for patience without a break is a failure. A status that has not been written
// by then leads to a question about its controller. The History that it returns is for the
// next verdict; h is not modified.
func (h History) Next(v Verdict, now time.Time, patience time.Duration) (History, Verdict) {
	next := History{since: make(map[string]time.Time, len(v.Suspects))}
	for _, p := range v.Suspects {
		began, ok := h.since[p.key()]
		if !ok {
			began = now
		}
		next.since[p.key()] = began
		if v.State == Waiting && now.Sub(began) >= patience {
			v.State, v.Problem = Failed, p
		}
	}
	if v.Unobserved {
		if next.unknown = h.unknown; next.unknown.IsZero() {
			next.unknown = now
		}
		if now.Sub(next.unknown) >= patience {
			v.Message = "its status was never written: is its controller running?"
		}
	}
	return next, v
}

// key identifies a problem: two with the same key are one that lasts.
func (p Problem) key() string {
	class := p.Reason
	if t, ok := trouble(p.Reason); ok && t.Class != "" {
		class = t.Class
	}
	return strings.Join([]string{class, p.Pod, p.Container}, "\x00")
}

// Same reports whether two verdicts read as one: those of one problem of a pod, and those
// of one row of Troubles. Counts in the server's message do not matter, nor which of many
// pods that could not be created it names.
func (v Verdict) Same(other Verdict) bool {
	if v.State != other.State || v.key() != other.key() {
		return false
	}
	_, known := trouble(v.Reason)
	return known || v.Pod != "" || v.Message == other.Message
}
