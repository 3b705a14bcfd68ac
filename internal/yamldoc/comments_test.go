package yamldoc

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestHideComments: what is a comment is hidden, and nothing that only looks like one.
func TestHideComments(t *testing.T) {
	const before = `# one
--- # two
a: b
# three
--- # four
hide: "# text" # five
? complex # six
: 'it''s # text' #seven
url: http://x/#y
block: | # eight
  # text
  more
 # nine
folded: >- #ten
  a # text

# eleven
flow: [a, # twelve
  "b#c", 'd # e', f#g] # thirteen
anchor: &a x # fourteen
plain: one
  two # fifteen
last: x	# sixteen
... # seventeen
# eighteen
---
c: d # nineteen`
	const after = `# one
--- # two
a: b
# ***
--- # ***
hide: "# text" # ***
? complex # ***
: 'it''s # text' # ***
url: http://x/#y
block: | # ***
  # text
  more
 # ***
folded: >- # ***
  a # text

# ***
flow: [a, # ***
  "b#c", 'd # e', f#g] # ***
anchor: &a x # ***
plain: one
  two # ***
last: x	# ***
... # ***
# ***
---
c: d # nineteen`
	f, err := Parse([]byte(before))
	if err != nil {
		t.Fatal(err)
	}
	secret := func(d *Document) bool { _, ok := d.Value().(map[string]any)["hide"]; return ok }
	got := string(f.HideComments(secret, "***"))
	if got != after {
		t.Errorf("got\n%s", got)
	}
	again, err := Parse([]byte(got))
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range again.Documents() {
		if !merge.Identical(d.Value(), f.Documents()[i].Value()) {
			t.Errorf("document %d holds something else now: %v", i, d.Value())
		}
	}
	if got := string(f.HideComments(func(*Document) bool { return false }, "***")); got != before {
		t.Errorf("nothing was to be hidden:\n%s", got)
	}
}
