package diff

import (
	"fmt"
	"io"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Sides spells the three values of a conflict, and who set live's, in lines that begin with
// the side's name. A line longer than width (0: no limit) continues in the next. There are
// always three sides, an absent one as "-".
func (n Note) Sides(width int) []string {
	var lines []string
	const label, endless = len("original  "), 1 << 20
	room := endless
	if width > 0 {
		room = max(width-label, 2*label)
	}
	texts := n.sides().apart(room, n.stored)
	texts.original = orAbsent(n.Original, texts.original, "- (not applied before)")
	texts.live = orAbsent(n.Live, texts.live, "- (removed)")
	texts.local = orAbsent(n.Local, texts.local, "- (taken out)")
	if by := who(n.Owner); by != "" {
		texts.live += " " + by
	}
	for _, side := range [][2]string{{"original", texts.original}, {"live", texts.live}, {"local", texts.local}} {
		for _, l := range breakLines(side[1], room) {
			lines = append(lines, fmt.Sprintf("%-*s%s", label, side[0], l))
			side[0] = ""
		}
	}
	for _, l := range n.Hunks() {
		lines = append(lines, "  "+l)
	}
	return lines
}

func orAbsent(o merge.Opt, text, absent string) string {
	if !o.Set {
		return absent
	}
	return text
}

// Compare writes the difference of live's value and what the server makes of local's, as a
// unified diff of their YAML. The error is w's, or that of a value that is not JSON.
func (n Note) Compare(w io.Writer, color bool) error {
	now := n.sides()
	if n.stored != nil {
		now = *n.stored
	}
	sides := [2]string{}
	for i, o := range []merge.Opt{now.live, now.local} {
		if !o.Set {
			continue
		}
		t, err := text(o.Value)
		if err != nil {
			return fmt.Errorf("%s: %w", n.Path, err)
		}
		sides[i] = t
	}
	d := Text(Pair{From: "live", To: "local", Old: sides[0], Now: sides[1]}, 3)
	if color {
		d = Colored(d)
	}
	_, err := io.WriteString(w, d)
	return err
}
