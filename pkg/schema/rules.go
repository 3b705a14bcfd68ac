package schema

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Rules are exceptions as data: which side wins at a path, and how a list is split. The
// user's (--rules) and the built-in ones share one format, a YAML list:
//
//	# the autoscaler sets replicas
//	- path: spec.replicas
//	  kind: Deployment
//	  namespace: prod-*
//	  winner: live
//	# an operator's list that its CRD calls atomic
//	- path: spec.template.endpoints
//	  kind: Widget
//	  apiGroup: example.com
//	  list: keyed
//	  keys: [name, port]
//	# only where the object has another field
//	- path: rules
//	  kind: ClusterRole
//	  winner: live
//	  when: {has: aggregationRule}
//	# only where a certain field manager has written the value that live has
//	- path: spec.replicas
//	  manager: kube-controller-manager
//	  winner: live
//	# of no concern here: live's value stays, and is not drift
//	- path: metadata.annotations.*
//	  manager: my-operator
//	  ignore: true
//	# a configuration file inside a value, which several people edit
//	- path: data["app.conf"]
//	  kind: ConfigMap
//	  text: lines
//	# a field whose values are as secret as a Secret's
//	- path: spec.template.data
//	  kind: ExternalSecret
//	  sensitive: true
//	# when kubectl merge --wait takes an object for ready, and what it does not wait for
//	- kind: Widget
//	  ready: .status.phase=Running
//	- kind: Job
//	  name: nightly-*
//	  wait: false
//	# short for path and winner, on every object
//	- .spec.template.spec.containers[*].resources: live
//
// winner is local, live, original or conflict; list is set, keyed or atomic. text is lines:
// changes in different lines are not a disagreement. A path is written as everywhere, with
// * for any run of characters in a name or value and [*] for any entry. A rule holds for
// its path and all below it; of several, the outermost counts, then the first. kind,
// apiGroup, name, namespace and manager take * too; a missing one fits every object. A rule
// with a manager holds for values of live that, by managedFields, no other manager owns any
// part of.
type Rules []Rule

// Rule is one rule of Rules.
type Rule struct {
	Path merge.Path // * in it stands for any run of characters

	Kind, Name, Namespace string  // patterns; "" fits all
	APIGroup              *string // nil fits all, "" is the core group

	Has merge.Path // the object has a value there; nil asks for nothing

	Winner string // one of winners, or ""
	List   string // one of splits, or ""
	Keys   []string

	Ignore  bool   // live's value stays as with winner: live, and is not compared
	Manager string // pattern; not "": only values that field managers of that name own, and no others
	Text    string // "lines", or "" for one value

	Sensitive bool // the values are hidden in what is reported, as a Secret's are

	NoWait bool   // the object is not waited for
	Ready  Wanted // the value that makes the object ready

	Line int    // where it is written
	text string // the path as the user wrote it

	listLine, keysLine int // where list and keys are written

	triple merge.Triple // of the object that the rule holds for; set by For, where there is a Manager
}

// winners and splits are the keywords of rules.
var (
	winners = map[string]merge.Choice{
		"local": merge.TakeLocal, "live": merge.TakeLive,
		"original": merge.TakeOriginal, "conflict": merge.LeaveConflict,
	}
	texts  = map[string]func(base, local, live string) (localWins, liveWins string, clean bool){"lines": byLines}
	splits = map[string]merge.Kind{"set": merge.Set, "keyed": merge.Keyed, "atomic": merge.List}
)

// ParseRules reads rules from YAML: a list of them, or a list under the key rules. Errors
// name the line, all of them at once. A text without rules gives none.
func ParseRules(text []byte) (Rules, error) {
	file, err := yamldoc.Parse(text)
	if err != nil {
		return nil, err
	}
	var p ruleParser
	for _, d := range file.Documents() {
		p.document(d.Root())
	}
	if len(p.errs) > 0 {
		return nil, errors.Join(p.errs...)
	}
	return p.rules, nil
}

// ruleParser collects rules and all errors.
type ruleParser struct {
	rules Rules
	errs  []error
}

func (p *ruleParser) wrong(line int, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("line %d: "+format, append([]any{line}, args...)...))
}

func (p *ruleParser) document(n yamldoc.Node) {
	line := n.Line()
	if values, ok := n.Mapping(); ok && len(values) == 1 {
		if key, _ := values[0].Key(); key == "rules" {
			n = values[0]
		}
	}
	entries, ok := n.List()
	if !ok && !n.IsNull() {
		p.wrong(line, "expected a list of rules, each beginning with \"- path:\"")
	}
	for _, e := range entries {
		p.rule(e)
	}
}

// ruleKeys maps the keys of a rule to the functions that read their values.
var ruleKeys = map[string]func(*ruleParser, *Rule, yamldoc.Node){
	"path":      func(p *ruleParser, r *Rule, n yamldoc.Node) { r.text = p.word(n); r.Path = p.path(r.text, n.Line()) },
	"kind":      func(p *ruleParser, r *Rule, n yamldoc.Node) { r.Kind = kindNamed(p.word(n)) },
	"name":      func(p *ruleParser, r *Rule, n yamldoc.Node) { r.Name = p.word(n) },
	"namespace": func(p *ruleParser, r *Rule, n yamldoc.Node) { r.Namespace = p.word(n) },
	"apiGroup":  func(p *ruleParser, r *Rule, n yamldoc.Node) { w := p.scalarText(n); r.APIGroup = &w },
	"winner":    func(p *ruleParser, r *Rule, n yamldoc.Node) { r.Winner = oneWord(p, n, "winner", winners) },
	"list": func(p *ruleParser, r *Rule, n yamldoc.Node) {
		r.List, r.listLine = oneWord(p, n, "list", splits), n.Line()
	},
	"keys":      (*ruleParser).keys,
	"ignore":    func(p *ruleParser, r *Rule, n yamldoc.Node) { r.Ignore = p.alwaysTrue(n, "ignore") },
	"manager":   func(p *ruleParser, r *Rule, n yamldoc.Node) { r.Manager = p.word(n) },
	"sensitive": func(p *ruleParser, r *Rule, n yamldoc.Node) { r.Sensitive = p.alwaysTrue(n, "sensitive") },
	"text":      func(p *ruleParser, r *Rule, n yamldoc.Node) { r.Text = oneWord(p, n, "text", texts) },
	"when":      (*ruleParser).when,
	"ready":     (*ruleParser).ready,
	"wait":      (*ruleParser).wait,
}

func (p *ruleParser) rule(n yamldoc.Node) {
	values, ok := n.Mapping()
	if !ok {
		p.wrong(n.Line(), "expected a rule, such as \"path: spec.replicas\" and \"winner: live\"")
		return
	}
	r := Rule{Line: n.Line()}
	before := len(p.errs)
	p.fields(values, ruleKeyNames, func(key string, value yamldoc.Node) bool {
		if read, ok := ruleKeys[key]; ok {
			read(p, &r, value)
			return true
		}
		winner, _ := value.Scalar()
		if _, known := winners[winner]; len(values) != 1 || !known {
			return false
		}
		_, line := value.Key()
		r.Path, r.text, r.Winner = p.path(key, line), key, winner // the short form
		return true
	})
	if len(p.errs) == before {
		p.check(r)
	}
	if len(p.errs) == before {
		p.rules = append(p.rules, r)
	}
}

// check refuses rules that have no effect or contradict themselves.
func (p *ruleParser) check(r Rule) {
	switch {
	case r.waits() && (r.Path != nil || r.Winner != "" || r.List != "" || r.Text != "" || r.Sensitive || r.Ignore || r.Manager != "" || r.NoWait && r.Ready.Path != nil):
		p.wrong(r.Line, "a rule with ready or wait has only these, one of them, and the objects that it is for: kind, apiGroup, name, namespace")
	case r.waits():
	case r.Path == nil:
		p.wrong(r.Line, "the rule has no path")
	case r.Sensitive && len(r.Path) == 0:
		p.wrong(r.Line, "sensitive: true needs the path of a field")
	case r.Text != "" && len(r.Has) > 0:
		p.wrong(r.Line, "when decides which side wins, not how a text is merged")
	case r.Winner == "" && r.List == "" && r.Text == "" && !r.Sensitive && !r.Ignore:
		p.wrong(r.Line, "the rule has no effect: it needs winner (%s), list (%s), text: lines, ignore: true or sensitive: true", words(winners), words(splits))
	case r.Ignore && r.Winner != "" && r.Winner != "live":
		p.wrong(r.Line, "ignore: true leaves live as it is, and winner: %s does not: write one of them", r.Winner)
	case r.Manager != "" && (r.List != "" || r.Text != "" || r.Sensitive):
		p.wrong(r.Line, "manager is for winner and ignore: how a list is split, a text is merged, and what is hidden, is the same whoever wrote it")
	case r.List == "keyed" && len(r.Keys) == 0:
		p.wrong(r.Line, "list: keyed needs keys, such as keys: [name]")
	case r.List != "keyed" && len(r.Keys) > 0:
		p.wrong(r.Line, "keys are for list: keyed: they identify its entries")
	case r.List != "" && len(r.Has) > 0:
		p.wrong(r.Line, "when decides which side wins, not how a list is split")
	case r.List != "" && slices.ContainsFunc(r.Path, func(s merge.Step) bool { return s.Kind != merge.FieldStep }):
		p.wrong(r.Line, "a list is split alike in every entry: write [*] in the path")
	}
}

// fields visits the values of a mapping, and refuses unknown keys.
func (p *ruleParser) fields(values []yamldoc.Node, known []string, read func(key string, value yamldoc.Node) bool) {
	for _, v := range values {
		key, line := v.Key()
		if read(key, v) {
			continue
		}
		near := suggest.Name(key, known)
		if key == "policy" && slices.Contains(known, "winner") {
			near = "winner"
		}
		if near != "" {
			p.wrong(line, "unknown key %q: did you mean %s?", key, near)
		} else {
			p.wrong(line, "unknown key %q: a rule has %s", key, strings.Join(known, ", "))
		}
	}
}

func (p *ruleParser) path(text string, line int) merge.Path {
	path, err := merge.ParsePath(text)
	if err != nil && text != "" {
		p.wrong(line, "%w", err)
	}
	return path
}

func (p *ruleParser) scalarText(n yamldoc.Node) string {
	text, ok := n.Scalar()
	if !ok {
		p.wrong(n.Line(), "expected a word")
	}
	return text
}

func (p *ruleParser) word(n yamldoc.Node) string {
	before := len(p.errs)
	w := p.scalarText(n)
	if w == "" && len(p.errs) == before {
		p.wrong(n.Line(), "is empty: leave it out, or write *")
	}
	return w
}

func oneWord[V any](p *ruleParser, n yamldoc.Node, key string, allowed map[string]V) string {
	w := p.scalarText(n)
	way := ""
	if w == "ignore" {
		way = "; ignore: true, as a key of its own, leaves a field to live"
	}
	if _, ok := allowed[w]; !ok && w != "" {
		p.wrong(n.Line(), "%s: %q is none of %s%s", key, w, words(allowed), way)
	}
	return w
}

func (p *ruleParser) keys(r *Rule, n yamldoc.Node) {
	entries, _ := n.List()
	r.keysLine = n.Line()
	if len(entries) == 0 {
		p.wrong(n.Line(), "keys: expected a list of field names, such as [name, port]")
	}
	for _, e := range entries {
		r.Keys = append(r.Keys, p.word(e))
	}
}

// shortNames are those that the API server has for built-in kinds (kubectl api-resources).
var shortNames = map[string]string{
	"cm": "ConfigMap", "cj": "CronJob", "crd": "CustomResourceDefinition", "deploy": "Deployment", "ds": "DaemonSet",
	"ep": "Endpoints", "hpa": "HorizontalPodAutoscaler", "ing": "Ingress", "limits": "LimitRange", "netpol": "NetworkPolicy",
	"no": "Node", "ns": "Namespace", "pc": "PriorityClass", "pdb": "PodDisruptionBudget", "po": "Pod", "pv": "PersistentVolume",
	"pvc": "PersistentVolumeClaim", "quota": "ResourceQuota", "rc": "ReplicationController", "rs": "ReplicaSet",
	"sa": "ServiceAccount", "sc": "StorageClass", "sts": "StatefulSet", "svc": "Service",
}

// kindNamed returns the built-in kind of which a word is the plural or the short name; else the word.
func kindNamed(word string) string {
	if word == "" || word != strings.ToLower(word) { // a kind, as all built-in rules have it
		return word
	}
	if i := slices.IndexFunc(builtinKinds(), func(k Kind) bool { return k.Resource == word }); i >= 0 {
		return builtinKinds()[i].Kind
	}
	return cmp.Or(shortNames[word], word)
}

// alwaysTrue reads the value of a key for which only true is valid.
func (p *ruleParser) alwaysTrue(n yamldoc.Node, key string) bool {
	if text, _ := n.Scalar(); text != "true" {
		p.wrong(n.Line(), "%s: there is only true; leave the key out otherwise", key)
	}
	return true
}

func (p *ruleParser) when(r *Rule, n yamldoc.Node) {
	values, ok := n.Mapping()
	if !ok {
		p.wrong(n.Line(), "when: expected a condition, such as {has: aggregationRule}")
	}
	p.fields(values, []string{"has"}, func(key string, value yamldoc.Node) bool {
		if key == "has" {
			r.Has = p.path(p.word(value), value.Line())
		}
		return key == "has"
	})
}

func words[V any](m map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

var ruleKeyNames = []string{"path", "kind", "apiGroup", "name", "namespace", "winner", "list", "keys", "text", "ignore", "manager", "sensitive", "when", "ready", "wait"}
