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
	who := strings.TrimSuffix(ownerName(n.Owner)+", "+when(n.Owner), ", ")
	if who != "" {
		who = "  (" + who + ")"
	}
	lines := []string{
		"original  " + whole(n.Original, "- (not applied before)"),
		"live      " + whole(n.Live, "- (removed)") + who,
		"local     " + whole(n.Local, "- (taken out)"),
	}
	if width > 0 {
		for i, l := range lines {
			lines[i] = cut(l, width)
		}
	}
	return lines
}

// whole is a value on one line, however long.
func whole(o merge.Opt, absent string) string {
	if !o.Set {
		return absent
	}
	const endless = 1 << 20
	return short(o.Value, endless)
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
