package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
)

// profile is a row of profiles: a named set of flags.
type profile struct {
	name, help string
	flags      []setting
	planned    bool // what is written needs a plan
}

// setting is a flag of a profile. Of its values the first that the command takes is set, unless the user
// gives the flag. A held flag takes no others.
type setting struct {
	flag   string
	values []string
}

const required = "required" // the value of plan by which a run that writes needs one

// fixedFlags lists the flags by which values of others, objects, or secrets may be lost: where a profile has one,
// its values hold.
var fixedFlags = []string{"plan", "policy", "guard", "recreate", "force-conflicts", "original", "rules", "strategy", "validate", "show-secrets", "yes", "fix"}

// readers lists the verbs that write nothing to a cluster. A profile that requires plans refuses all others
// but merge.
const readers = "diff explain drift absorb wait files replacements list view verify version completion schema view-last-applied options"

// deciding lists the flags by which a merge decides. To other readers they mean something else.
const deciding = "policy original rules strategy validate"

var profiles = []profile{
	{name: "agent", help: "for programs that write by themselves", flags: []setting{
		{"plan", []string{required}}, {"policy", []string{"strict", "live"}}, {"guard", []string{"refuse"}},
		{"recreate", []string{""}}, {"force-conflicts", []string{"false"}}, {"original", []string{"auto", "annotation", "none"}},
		{"rules", []string{""}}, {"strategy", []string{"auto"}}, {"validate", []string{"strict"}},
		{"show-secrets", []string{"false"}}, {"yes", []string{"false"}}, {"fix", []string{"false"}},
		{"notes", []string{"json"}}, {"output", []string{"outcome", "json", "plan"}},
	}},
}

var _ = registerFlags(flagRow{verbs: "every", name: "profile", group: "safety", at: func(c *call) any { return &c.env.profiled },
	help: "a named set of flags: agent (for programs: a plan before each write, nothing of others is lost, JSON), or a FILE with one",
	completes: always(func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		words := each(profiles, func(p profile) cobra.Completion { return cobra.CompletionWithDesc(p.name, p.help) })
		return complete.Beginning(words, typed), cobra.ShellCompDirectiveDefault
	})})

// profileNamed returns a profile, "" for none, by its name or that of its file.
func profileNamed(ctx context.Context, name string) (profile, error) {
	names := each(profiles, func(p profile) string { return p.name })
	if i := slices.Index(names, name); i >= 0 {
		return profiles[i], nil
	}
	switch {
	case name == "":
		return profile{}, nil
	case !strings.ContainsAny(name, `./\`):
		return profile{}, fmt.Errorf("--profile=%s: must be %s, or a file such as ./profile.yaml%s", name, strings.Join(names, " or "), suggest.Hint(name, names))
	}
	text, err := source.ReadNamed(ctx, name)
	if err != nil {
		return profile{}, fmt.Errorf("--profile: %w: check the name after --profile", err)
	}
	p, err := parseProfile(text)
	if err != nil {
		return profile{}, fmt.Errorf("--profile: %s: %w", name, err)
	}
	return p, nil
}

// parseProfile reads a profile: {name: NAME, flags: {FLAG: VALUE, FLAG: [VALUE, …]}}.
func parseProfile(text []byte) (profile, error) {
	docs, err := source.Decode(text)
	if err != nil {
		return profile{}, err
	}
	var doc map[string]any
	if len(docs) == 1 {
		doc, _ = docs[0].Value.(map[string]any)
	}
	name, _ := doc["name"].(string)
	flags, _ := doc["flags"].(map[string]any)
	if name == "" || flags == nil || len(doc) > 2 {
		return profile{}, errors.New("must have a name, and flags, and nothing else: {name: mine, flags: {guard: refuse}}")
	}
	p := profile{name: name}
	var errs []error
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		values, list := flags[flag].([]any)
		if !list {
			values = []any{flags[flag]}
		}
		s := setting{flag: flag, values: each(values, func(v any) string { return fmt.Sprint(v) })}
		p.flags, errs = append(p.flags, s), append(errs, s.check())
	}
	return p, errors.Join(errs...)
}

// check returns an error unless some verb takes each value of the flag.
func (s setting) check() error {
	own := slices.DeleteFunc(slices.Clone(flagRows), func(f flagRow) bool { return f.advice != "" || f.name == "profile" })
	names := object.Each(own, func(f flagRow) string { return f.name })
	if !slices.Contains(names, s.flag) {
		return fmt.Errorf("flags.%s: there is no such flag of this program%s", s.flag, suggest.Hint(s.flag, names))
	}
	for _, v := range s.values {
		if !slices.ContainsFunc(flagRows, func(f flagRow) bool { return f.name == s.flag && f.takes(v) }) {
			return fmt.Errorf("flags.%s: no command takes %s", s.flag, v)
		}
	}
	if len(s.values) == 0 {
		return fmt.Errorf(`flags.%s: has no value: "" is none`, s.flag)
	}
	return nil
}

// takes reports whether a flag takes a value, as far as its row states that.
func (f *flagRow) takes(value string) bool {
	p, _ := printerNamed(value)
	return f.advice == "" && (f.words == nil || value == "" || f.among(value) == nil) && (f.name != "output" || !p.merges || f.words != nil || strings.Contains(f.verbs, "merge"))
}

// apply sets the profile's flags of a command, and holds those that the user gives.
func (p *profile) apply(cmd *cobra.Command) error {
	verb := "merge"
	if cmd.HasParent() {
		verb = cmd.Name()
	}
	rows := slices.Concat(rowsOf()[verb], rowsOf()["every"])
	among := func(names, name string) bool { return slices.Contains(strings.Fields(names), name) }
	var errs []error
	for _, s := range p.flags {
		if s.flag == "plan" && s.values[0] == required {
			p.planned = true
		} else if among(deciding, s.flag) && among(readers, verb) && !among(plans, verb) {
			continue
		} else if i := slices.IndexFunc(rows, func(f *flagRow) bool { return f.name == s.flag }); i >= 0 {
			errs = append(errs, p.set(s, rows[i], cmd.Flags().Lookup(s.flag)))
		}
	}
	return errors.Join(errs...)
}

// set sets one flag, or holds it.
func (p *profile) set(s setting, row *flagRow, flag *pflag.Flag) error {
	if is := row.meant(plainValue(flag)); flag.Changed {
		if slices.Contains(fixedFlags, s.flag) && !slices.Contains(s.values, is) {
			takes := cmp.Or(strings.Join(s.values, " or "), "none")
			return mark("refused-by-profile", fmt.Errorf("--%s=%s cannot be combined with --profile=%s: it takes %s: leave one of them out", s.flag, is, p.name, takes))
		}
		return nil
	}
	i := slices.IndexFunc(s.values, row.takes)
	if i < 0 || s.values[i] == plainValue(flag) {
		return nil
	}
	if err := flag.Value.Set(s.values[i]); err != nil {
		return fmt.Errorf("--profile=%s: %s: %w", p.name, s.flag, err)
	}
	flag.Changed = true // though pflag's Visit leaves it out
	return nil
}

// plainValue returns a flag's value, of a list without its brackets.
func plainValue(f *pflag.Flag) string {
	text := f.Value.String()
	if _, list := f.Value.(pflag.SliceValue); list {
		return text[1 : len(text)-1]
	}
	return text
}

// permitted returns an error if the verb would write, and the profile requires a plan for that.
func (c *call) permitted() error {
	switch name := c.verb.name(); {
	case !c.profile.planned || c.plan != "" || c.mode != dryNone || slices.Contains(strings.Fields(readers), name):
		return nil
	case name == "merge":
		return mark("plan-required", fmt.Errorf("--profile=%s: a run that writes needs a plan: make one with kubectl merge diff -o plan, and give it with --plan", c.profile.name))
	}
	return mark("refused-by-profile", fmt.Errorf("--profile=%s: %s takes no plan, and each write needs one: leave it to a person", c.profile.name, c.cmd.CommandPath()))
}

// unrecreated returns an error if the run is bound to a plan that recreates objects, and the profile does not.
func (c *call) unrecreated() error {
	kinds := c.bound.recreated()
	if len(kinds) == 0 || !slices.ContainsFunc(c.profile.flags, func(s setting) bool { return s.flag == "recreate" && s.values[0] == "" }) {
		return nil
	}
	return mark("refused-by-profile", fmt.Errorf("--plan: %s: recreates objects (%s), and --profile=%s does not", c.plan, strings.Join(kinds, ", "), c.profile.name))
}

const (
	// minHeap is how large the heap may become, in bytes, before a garbage collection. The
	// default is 4 MB, which the libraries half fill before main begins. A command for one object
	// would then spend a seventh of its CPU time on collecting.
	minHeap      = 24 << 20
	usualPercent = 100
)

// lowMemory maps numbers of objects to the heap's growth between collections, in percent: it saves
// memory at the cost of about a tenth more time.
var lowMemory = map[int]int{8000: 50, 50_000: 33}

// collector sets the garbage collector for a run; its methods may be called at any time. GOGC in
// the environment takes precedence.
type collector struct {
	once    sync.Once
	mu      sync.Mutex
	percent int
}

// heap is the process's collector.
var heap = &collector{percent: usualPercent}

// grow lets the heap grow to minHeap before the first collection, and again after each one.
func (c *collector) grow() {
	if os.Getenv("GOGC") != "" {
		return
	}
	c.once.Do(func() {
		c.adjust()
		c.watch()
	})
}

// watch sets the percentage after each collection. A finalizer runs once for each collection that
// its object did not outlive.
func (c *collector) watch() {
	runtime.SetFinalizer(new(*collector), func(**collector) {
		c.adjust()
		c.watch()
	})
}

// adjust sets the percentage for the memory in use after the last collection.
func (c *collector) adjust() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	c.mu.Lock()
	defer c.mu.Unlock()
	debug.SetGCPercent(percentage(live[0].Value.Uint64(), c.percent))
}

// percentage returns how much the heap may grow until it is collected: up to minHeap, or by
// percent if that is more. 100 % are at least leastHeap.
func percentage(live uint64, percent int) int {
	const leastHeap = 4 << 20
	if live >= minHeap {
		return percent
	}
	return max(percent, int(min((minHeap-live)*100/max(live, 1), minHeap/leastHeap*100)))
}

// reading sets the percentage by the number of objects read so far.
func (c *collector) reading(objects int) {
	percent, set := lowMemory[objects]
	if !set || os.Getenv("GOGC") != "" {
		return
	}
	c.mu.Lock()
	c.percent = percent
	c.mu.Unlock()
	c.adjust()
}
