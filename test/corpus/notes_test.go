package corpus

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// TestNotesCanBeRead: no line of a note of any case is longer than 400 characters, with what is printed before it.
func TestNotesCanBeRead(t *testing.T) {
	for _, c := range load(t) {
		out, err := strategy.Plan(c.Input)
		if err != nil {
			continue // TestCases has the error
		}
		for _, preview := range []bool{false, true} {
			sides := c.Input.Triple
			r := diff.Report{Object: c.Name, Local: sides.Local, Live: sides.Live, Plan: out.Plan, Type: c.Type, Voice: diff.Voice{Preview: preview}}
			for _, n := range append(diff.Notes(r), diff.Conflicts(r)...) {
				for line := range strings.Lines("warning: " + n.String()) {
					if length := utf8.RuneCountInString(line); length > 400 {
						t.Errorf("%s: a line of %d characters: %.120s…", c.Name, length, line)
					}
				}
			}
		}
	}
}
