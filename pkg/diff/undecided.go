package diff

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// undecided reports what stays though it is not in local, because nobody knows whether
// it was applied: value by value where there is no original at all; in one line for the
// object where there is one by now, that never had them.
func (t Told) undecided() []Note {
	var out []Note
	for _, r := range t.Plan.Undecided {
		out = append(out, t.removal(r, NoteUndecided, " stays: not in local, and nobody knows what was applied before"))
	}
	switch {
	case len(out) > 0:
		out[len(out)-1].Ways = t.decisions(t.Plan.Undecided)
	case len(t.Adoptable) > 0:
		paths := make([]merge.Path, len(t.Adoptable))
		for i, r := range t.Adoptable {
			paths[i] = r.Path
		}
		out = append(out, Note{
			Object: t.Object, Kind: NoteUndecided, Paths: paths, Owner: t.Adoptable[0].Owner, Ways: t.decisions(t.Adoptable),
			Text: pathList(paths) + by(t.Adoptable[0].Owner) + ": still undecided: in live, and in no file so far",
		})
	}
	return out
}

// decisions are the ways to have what is undecided removed. managedFields are a way for
// what the object's creator set alone, and for nothing else.
func (t Told) decisions(undecided []merge.Removal) []string {
	var ways []string
	if slices.ContainsFunc(undecided, func(r merge.Removal) bool { return r.Path[len(r.Path)-1].Kind == merge.FieldStep }) {
		ways = append(ways, "to keep a field write it in the local file, to remove it write it there as null")
	}
	if len(t.Adoptable) > 0 {
		ways = append(ways, "to have removed what its creator or kubectl apply --server-side set: merge once with --original=managed-fields (kubectl merge diff with it shows that first)")
	}
	if len(t.Adoptable) < len(undecided) {
		ways = append(ways, "to have removed what you applied by other means: kubectl merge set-last-applied --create-annotation -f FILE, with the file as it was applied, and merge again")
	}
	return ways
}

// applied is the disagreement without an original that nobody is known to have applied.
func (t Told) applied(d merge.Disagreement) merge.Disagreement {
	if t.FromOwners && d.Winner != merge.OriginalSide {
		d.Original = merge.Opt{}
	}
	return d
}
