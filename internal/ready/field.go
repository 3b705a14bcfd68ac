package ready

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// moment returns a time below obj; zero where there is none.
func moment(obj map[string]any, path ...string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, merge.At[string](obj, path...)) // zero with an error
	return t
}

func isTrue(condition map[string]any) bool  { return merge.At[string](condition, "status") == "True" }
func isFalse(condition map[string]any) bool { return merge.At[string](condition, "status") == "False" }

// stated returns the cause that a condition gives; otherwise where it gives none.
func stated(c map[string]any, otherwise string) string {
	return cmp.Or(merge.At[string](c, "message"), otherwise)
}

// because returns a condition's reason; its type where it has none.
func because(c map[string]any) string {
	return cmp.Or(merge.At[string](c, "reason"), merge.At[string](c, "type"))
}

// stale reports that the status is about an older generation of the object, and how far it
// is; the verdict is Unobserved where there is no status.observedGeneration.
func stale(obj map[string]any) (v Verdict, stale bool) {
	wanted := object.Int(obj, 0, "metadata", "generation")
	seen := object.Int(obj, -1, "status", "observedGeneration")
	switch {
	case seen < 0:
		return unobserved("its status is not written yet", true), true
	case seen < wanted:
		return unobserved(fmt.Sprintf("its controller has not seen its latest change yet (generation %d of %d)", seen, wanted), false), true
	}
	return Verdict{}, false
}

// plural returns a count with its noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}
