package files

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/yamldoc"
)

// Diff is the unified diff of a file that changes, conflict markers left out. The
// values of Secrets are masked unless secrets is set, and control
// characters are escaped.
func (c Changed) Diff(secrets bool) (string, error) {
	old, now := "", string(c.Plain)
	from, to := "/dev/null", "/dev/null"
	if c.File != nil {
		from, old = "a/"+c.Name, string(c.File.YAML.Text())
	}
	if c.Text != nil {
		to = "b/" + c.Name
	}
	if !secrets {
		var err error
		if old, now, err = masked(old, now); err != nil {
			return "", fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return diff.Text(visible(from), visible(to), visible(old), visible(now), 3), nil
}

// masked hides the values of Secrets in the old and the new text of a file.
func masked(old, now string) (string, string, error) {
	a, err := yamldoc.Parse([]byte(old))
	if err != nil {
		return "", "", err
	}
	b, err := yamldoc.Parse([]byte(now))
	if err != nil {
		return "", "", err
	}
	was, will := byIdentity(a), byIdentity(b)
	if old, err = mask(a, func(i id, v any) any { m, _ := diff.Mask(v, will[i]); return m }); err != nil {
		return "", "", err
	}
	now, err = mask(b, func(i id, v any) any { _, m := diff.Mask(was[i], v); return m })
	return old, now, err
}

func byIdentity(f *yamldoc.File) map[id]any {
	out := map[id]any{}
	for _, d := range f.Documents() {
		i, _ := identify(d.Value())
		out[i] = d.Value()
	}
	return out
}

func mask(f *yamldoc.File, hide func(id, any) any) (string, error) {
	texts := map[*yamldoc.Document][]byte{}
	for _, d := range f.Documents() {
		if d.Empty() {
			continue
		}
		i, _ := identify(d.Value())
		text, err := d.Edit(yamldoc.Edit{Want: hide(i, d.Value())})
		if err != nil {
			return "", err
		}
		texts[d] = text
	}
	return string(f.Assemble(texts, nil)), nil
}

// visible escapes control characters.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || r == '\t' || r == '\r' || strconv.IsPrint(r) || strconv.IsGraphic(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}
