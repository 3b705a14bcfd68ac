package sweep

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/migrate"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
)

// The rules by which an outcome is another one than that of server-side apply alone.
const (
	ruleRepeated = "repeated keys: others have a key twice in a list, and server-side apply makes one entry of them"
	ruleSpelling = "spelling: others own the same value in another spelling, which is left to them, and is a conflict to the server"
	ruleLives    = "live's: rules of a ClusterRole that is aggregated, in the file or in live, are left to live"
	ruleNull     = "null: of a key of a map it is a removal, and to server-side apply an empty value"
	ruleHollow   = "empty lists: they have no owner, and stay in what is removed"
	ruleZero     = "zero values: a Go type has one where nothing is stated"
	ruleFilled   = "filled in: the server fills the value in again or allocates it, and its field manager alone does not"
	ruleRestored = "restored: the server restores the spec of a CertificateSigningRequest and records no owner of it, and its field manager alone does not"
	ruleNoKey    = "empty keys: a key that is stated as an empty text is applied as if it was left out"
	ruleHeld     = "empty values: of others, which hold an empty or absent map or list, and the file states it as empty"
	rulePruned   = "empty values: of others, which hold nothing but empty lists and maps there, are pruned beside what is applied"
	ruleLarge    = "large numbers: managedFields name an entry of a list as a float64, which is another one for an integer above 2^53"
	ruleNotes    = "annotations: an empty map is not applied where the last-applied annotation is"
)

// ruled: what is wrong has a rule, which is counted.
func (p *played) ruled(before map[string]any) {
	rule := ""
	switch {
	case p.wrong == "":
	case laws.Repeats(before, p.k.typ):
		rule = ruleRepeated
	case p.k.Kind.Kind == "ClusterRole" && (p.local["aggregationRule"] != nil || before["aggregationRule"] != nil):
		rule = ruleLives
	case slices.Contains([]string{"sound", "settled", "migrated to " + string(migrate.ToServerSide)}, p.law) && strings.Contains(p.wrong, large):
		rule = ruleLarge
	case p.law == "sound" && p.filled:
		rule = ruleFilled
	case p.law == "owned" && p.k.Kind.Kind == "CertificateSigningRequest":
		rule = ruleRestored
	case p.law == "kubectl" && emptyKey(p.local, p.k.typ):
		rule = ruleNoKey
	case p.law == "kubectl" && p.conflictedBefore():
		rule = ruleSpelling
	case p.law == "kubectl" && strings.Contains(p.wrong, "finds a conflict") && p.conflictsAreEmpty():
		rule = ruleHeld
	case p.law == "kubectl" && strings.Contains(shown(p.local), "null"):
		rule = ruleNull
	case p.law == "settled" && p.hollow:
		rule = ruleHollow
	case p.law == "kept" && p.hollow:
		rule = rulePruned
	case p.law == "settled" && p.k.Version != "v1", p.law == "sound" && p.zero, p.law == "kubectl" && p.k.Version != "v1" && strings.HasPrefix(p.wrong, "owns"):
		rule = ruleZero
	case p.law == "kubectl" && p.start == clientThenUpdate && strings.Contains(shown(p.local), `"annotations":{}`):
		rule = ruleNotes
	}
	if rule != "" {
		p.wrong, p.rules, p.refused = "", append(p.rules, rule), nil
	}
}

// conflictedBefore: every field of a conflict was one before.
func (p *played) conflictedBefore() bool {
	for _, word := range strings.Fields(p.wrong) {
		if strings.HasPrefix(word, ".") && !strings.Contains(p.conflicted, word) {
			return false
		}
	}
	return p.conflicted != ""
}

// conflictsAreEmpty: what the file states at each place of a new conflict is an empty map or list.
func (p *played) conflictsAreEmpty() bool {
	some := false
	for _, word := range strings.Fields(p.wrong) {
		if !strings.HasPrefix(word, ".") || strings.Contains(p.conflicted, word) {
			continue
		}
		path, err := merge.ParsePath(strings.TrimPrefix(word, "."))
		v, stated := merge.Lookup(p.local, path, p.k.typ)
		if some = true; err != nil || !stated || !hollow(v) {
			return false
		}
	}
	return some
}

// emptyKey: an entry of a list states one of its keys as an empty text.
func emptyKey(v any, typ *merge.Type) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if emptyKey(e, typ.Field(name).Type) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			m, _ := e.(map[string]any)
			for _, k := range keysIn(typ) {
				if m[k.Name] == "" {
					return true
				}
			}
			if emptyKey(e, typ.EntryType()) {
				return true
			}
		}
	}
	return false
}
