package diff

import "github.com/kubectl-merge/kubectl-merge/pkg/merge"

// Masked returns the values that local and live have at a path, masked where they are a
// Secret's or a rule calls them sensitive. Where they differ, live's is "*** (before)" and
// local's is "*** (after)".
func (r Report) Masked(p merge.Path, local, live merge.Opt) (l, v merge.Opt) {
	s := r.mask(p, sides{local: local, live: live})
	return s.local, s.live
}

// Beside spells values of one place on one line of about n characters each, so that two
// different ones never read alike; an absent value is "-".
func Beside(n int, values ...merge.Opt) []string {
	texts := beside(n, values...)
	for i, o := range values {
		if !o.Set {
			texts[i] = "-"
		}
	}
	return texts
}

// Code returns a text so that Markdown prints it to the letter, on one line.
func Code(s string) string { return code(s) }
