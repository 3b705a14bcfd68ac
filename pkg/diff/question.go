package diff

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Sides spells the three values of a conflict, and who set live's, one line each,
// none longer than width (0: as long as they are).
func (n Note) Sides(width int) []string {
	who := strings.TrimSuffix(OwnerName(n.Owner)+", "+when(n.Owner), ", ")
	if who != "" {
		who = "  (" + who + ")"
	}
	const label, endless = len("original  "), 1 << 20
	room := endless
	if width > 0 {
		room = max(width-label-len(who), 2*label)
	}
	v := sides{n.Original, n.Local, n.Live}.shownIn(room)
	lines := []string{
		"original  " + orAbsent(n.Original, v.texts.original, "- (not applied before)"),
		"live      " + orAbsent(n.Live, v.texts.live, "- (removed)") + who,
		"local     " + orAbsent(n.Local, v.texts.local, "- (taken out)"),
	}
	if v.long && n.Live.Set && n.Local.Set {
		lines[2] = "local     " + difference(n.Live, n.Local)
		if lines[1] = "live      " + noun(n.Live.Value) + who; n.Original.Set && !unknown(n.Original) {
			lines[0], lines[1] = "original  "+noun(n.Original.Value), "live      "+difference(n.Original, n.Live)+who
			lines[2] = "local     " + difference(n.Original, n.Local)
		}
	}
	if width > 0 {
		for i, l := range lines {
			lines[i] = cut(l, width)
		}
	}
	return lines
}

func orAbsent(o merge.Opt, text, absent string) string {
	if !o.Set {
		return absent
	}
	return text
}

// Compare writes live's value against local's, as a unified diff of their YAML.
// The error is w's, or that of a value that is not JSON.
func (n Note) Compare(w io.Writer, color bool) error {
	sides := [2]string{}
	for i, o := range []merge.Opt{n.Live, n.Local} {
		if !o.Set {
			continue
		}
		t, err := text(o.Value)
		if err != nil {
			return fmt.Errorf("%s: %w", n.Path, err)
		}
		sides[i] = t
	}
	d := Text("live", "local", sides[0], sides[1], 3)
	if color {
		d = colored(d)
	}
	_, err := io.WriteString(w, d)
	return err
}
