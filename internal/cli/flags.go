package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
)

// flagRow is a row of flagRows: a flag of some verbs. Declaration, help, completion and the errors
// of values and combinations follow from it.
type flagRow struct {
	verbs       string // that take it, or every
	name, short string
	group       string          // key of its FlagGroup
	at          func(*call) any // its value
	def         any             // the default; nil: the zero value
	help        string          // %s: as lists has it, else the verb's inputs
	lists       func() string
	bare, off   string // the value if none is given, which "true" means, too, if "false" means off

	words     func() []string   // all its values, maybe with a tab and help
	likes     map[string]string // values of other programs, each with the one of words that is suggested
	completes completer         // of another value
	needs     []tie             // flags without which it has no effect
	excludes  []tie
	advice    string // it is refused, with this advice
	hidden    bool
}

// tie is one flag's need of another (of several, separated by spaces, one is enough), or its exclusion.
// The flag may have a value, as in policy=ask or policy!=ask; previewed is any that makes the run a preview.
type tie struct{ flag, why string }

const previewed = "preview"

// groupKey is the annotation of a flag that has its group.
const groupKey = "group"

// of returns words that are known beforehand.
func of(words ...string) func() []string { return func() []string { return words } }

// always is a completer that asks no server.
func always(f cobra.CompletionFunc) completer {
	return func(*complete.Server) cobra.CompletionFunc { return f }
}

// registerFlags adds rows to flagRows at program start.
func registerFlags(rows ...flagRow) bool {
	flagRows = append(flagRows, rows...)
	return true
}

// rowsOf maps verbs to the rows of their flags.
var rowsOf = sync.OnceValue(func() map[string][]*flagRow {
	out := map[string][]*flagRow{}
	for i := range flagRows {
		for name := range strings.FieldsSeq(flagRows[i].verbs) {
			out[name] = append(out[name], &flagRows[i])
		}
	}
	return out
})

// declare adds the verb's flags to the command.
func (c *call) declare() {
	c.rows = rowsOf()[c.verb.name()]
	for _, f := range c.rows {
		f.declare(c, c.cmd.Flags())
	}
	c.rows = append(c.rows[:len(c.rows):len(c.rows)], rowsOf()["every"]...)
}

func (f *flagRow) declare(c *call, flags *pflag.FlagSet) {
	help := f.help
	if strings.Contains(help, "%s") {
		fill := c.verb.inputs
		if f.lists != nil {
			fill = f.lists()
		}
		help = fmt.Sprintf(help, fill)
	}
	switch at := f.flagValue(c).(type) {
	case *bool:
		on, _ := f.def.(bool)
		flags.BoolVarP(at, f.name, f.short, on, help)
	case *string:
		text, _ := f.def.(string)
		flags.StringVarP(at, f.name, f.short, text, help)
	case *[]string:
		flags.StringSliceVarP(at, f.name, f.short, nil, help)
	case *int:
		n, _ := f.def.(int)
		flags.IntVarP(at, f.name, f.short, n, help)
	case *time.Duration:
		d, _ := f.def.(time.Duration)
		flags.DurationVarP(at, f.name, f.short, d, help)
	}
	flag := flags.Lookup(f.name)
	if f.group != "" {
		flag.Annotations = map[string][]string{groupKey: {f.group}}
	}
	flag.Hidden = f.hidden || f.advice != ""
	if f.bare != "" {
		flag.NoOptDefVal = f.bare
	}
	if !c.completes() {
		return
	}
	if complete := f.completion(c); complete != nil {
		_ = c.cmd.RegisterFlagCompletionFunc(f.name, complete) // fails only if it is registered already
	}
}

// flagValue returns where the flag's value is stored. That of a flag without effect is not.
func (f *flagRow) flagValue(c *call) any {
	if f.at == nil {
		return new(string)
	}
	return f.at(c)
}

// completion returns the completion of the flag's values, each of which passes complete.Safe.
func (f *flagRow) completion(c *call) cobra.CompletionFunc {
	switch {
	case f.words != nil:
		return complete.Safe(func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return complete.Words(f.words()...)(cmd, args, typed)
		})
	case f.completes != nil:
		return complete.Safe(f.completes(c.server()))
	}
	return nil
}

// advised returns the advice about a flag that is given, and refused; nil if none is.
func (c *call) advised() error {
	for _, f := range c.rows {
		if f.advice != "" && c.given(f.name) {
			return fmt.Errorf("--%s: %s", f.name, c.filled(f.advice))
		}
	}
	return nil
}

// spaced catches --dry-run client, which pflag reads as --dry-run and an argument, --wait all, and
// a flag from a text whose hyphens have become a dash.
func (c *call) spaced() error {
	if i := slices.IndexFunc(c.args, func(arg string) bool { return strings.HasPrefix(arg, "–") || strings.HasPrefix(arg, "—") }); i >= 0 {
		return fmt.Errorf("%q begins with a dash that is no hyphen, as texts have it: type two hyphens", c.args[i])
	}
	for _, f := range c.rows {
		_, counts := f.flagValue(c).(*int)
		if f.bare == "" || f.words == nil && !counts || !c.given(f.name) {
			continue
		}
		for _, arg := range c.args {
			if _, err := strconv.Atoi(arg); counts && err != nil {
				continue
			}
			if bad := f.among(f.meant(arg)); bad == nil {
				return fmt.Errorf("unexpected argument %q; did you mean `--%s=%s`?", arg, f.name, arg)
			} else if _, err := time.ParseDuration(arg); err == nil && f.name == "wait" {
				return bad
			}
		}
	}
	return nil
}

// check returns the errors of values and combinations of flags, and sets the mode.
func (c *call) check() error {
	var errs []error
	for _, f := range c.rows {
		if flag := c.cmd.Flags().Lookup(f.name); flag != nil && flag.Changed {
			errs = append(errs, f.check(c, flag))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := c.setMode(); err != nil {
		return err
	}
	for _, f := range c.rows {
		if c.effective(f.name) {
			errs = append(errs, f.ties(c))
		}
	}
	return errors.Join(errs...)
}

// maybeEmpty lists the flags without fixed words that may be given with nothing, as kubectl's may, or that name
// what is missing themselves. All others would have no effect then, unnoticed, and many of them protect.
var maybeEmpty = []string{"selector", "output", "template", "field-manager"}

// check returns the error of a flag's value. It replaces true and false.
func (f *flagRow) check(c *call, flag *pflag.Flag) error {
	text := flag.Value.String()
	if f.words == nil && plainValue(flag) == "" && !slices.Contains(maybeEmpty, f.name) {
		return fmt.Errorf("--%s: is empty: set the variable that is to hold its value, or leave the flag out", f.name)
	}
	if meant := f.meant(text); meant != text {
		text = meant
		_ = flag.Value.Set(text) // it takes any text
	}
	least := 0
	if f.name == "concurrency" {
		least = 1
	}
	switch at := f.flagValue(c).(type) {
	case *int:
		if *at < least {
			return fmt.Errorf("--%s=%s: must be at least %d", f.name, text, least)
		}
	case *time.Duration:
		if *at < 0 {
			return fmt.Errorf("--%s=%s: must not be negative", f.name, text)
		}
	case *string:
		switch {
		case f.words != nil && text != flag.DefValue:
			return f.among(text)
		case f.name == "field-manager" && (text == "" || len(text) > validation.FieldManagerMaxLength):
			return fmt.Errorf("--%s: has %d bytes; a manager's name has 1 to %d: leave the flag out, or shorten the name", f.name, len(text), validation.FieldManagerMaxLength)
		}
	}
	return nil
}

// meant returns the word that a value stands for: true and false do for those of some flags, JSON for json.
func (f *flagRow) meant(text string) string {
	if on, err := strconv.ParseBool(text); err == nil && f.off != "" {
		return map[bool]string{true: f.bare, false: f.off}[on]
	}
	if f.name == "output" && !strings.Contains(text, "=") { // as kubectl's, in any case of letters
		return strings.ToLower(text)
	}
	return text
}

// among returns an error unless a text is one of the flag's words, if it has some.
func (f *flagRow) among(text string) error {
	if f.words == nil {
		return nil
	}
	words := each(f.words(), wordOf)
	if slices.Contains(words, text) {
		return nil
	}
	stem, _, _ := strings.Cut(text, ".") // of plan.yaml
	last, alone, near := len(words)-1, "", cmp.Or(f.likes[text], stem)
	if f.bare != "" {
		alone = fmt.Sprintf(" (--%s alone: %s)", f.name, f.bare)
	}
	if _, err := time.ParseDuration(text); err == nil && f.name == "wait" {
		alone += "; how long is --timeout=" + text
	}
	return fmt.Errorf("--%s=%s: must be %s or %s%s%s", f.name, text, strings.Join(words[:last], ", "), words[last], alone, suggest.Hint(near, words))
}

// ties returns the errors of a flag's combinations with others.
func (f *flagRow) ties(c *call) error {
	var errs []error
	for _, t := range f.needs {
		if one := strings.Split(t.flag, " "); !slices.ContainsFunc(one, c.has) {
			errs = append(errs, fmt.Errorf("--%s needs --%s: %s", f.name, strings.Join(one, " or --"), c.filled(t.why)))
		}
	}
	for _, t := range f.excludes {
		if c.has(t.flag) {
			errs = append(errs, fmt.Errorf("%s cannot be combined with %s: %s", c.spelled(f.name), c.spelled(t.flag), t.why))
		}
	}
	return errors.Join(errs...)
}

// filled returns an advice with the labels that the user has selected for %l.
func (c *call) filled(advice string) string {
	return strings.ReplaceAll(advice, "%l", cmp.Or(c.inputs.Selector, "SELECTOR"))
}

// given reports whether a flag is on the command line.
func (c *call) given(name string) bool { return c.cmd != nil && c.cmd.Flags().Changed(name) }

// effective reports whether a flag is given with a value that has an effect.
func (c *call) effective(name string) bool {
	flag := c.cmd.Flags().Lookup(name)
	if flag == nil || !flag.Changed {
		return false
	}
	return flag.Value.Type() == "int" || flag.Value.Type() == "duration" || flag.Value.String() != flag.DefValue
}

// has reports whether the flag of a tie is given, if need be with its value.
func (c *call) has(flag string) bool {
	name, want, valued := strings.Cut(flag, "=")
	name, other := strings.CutSuffix(name, "!")
	switch {
	case name == previewed:
		return c.mode != dryNone
	case !valued:
		return c.effective(name)
	case c.cmd.Flags().Lookup(name) == nil:
		return false
	}
	is := c.cmd.Flags().Lookup(name).Value.String() == want
	return is != other && (!other || c.given(name))
}

// spelled returns a flag as it is given.
func (c *call) spelled(tied string) string {
	name, _, valued := strings.Cut(tied, "=")
	name = strings.TrimSuffix(name, "!")
	flag := c.cmd.Flags().Lookup(name)
	switch {
	case name == previewed:
		return "a preview"
	case valued || flag.Value.Type() == "bool" && flag.DefValue == "true":
		return "--" + name + "=" + flag.Value.String()
	}
	return "--" + name
}

// swallowed returns the error of a flag that has taken the next flag for its value, since its own
// is missing: --recreate --live x; or the rest of a longer one that has one dash: -output=yaml. nil
// if none has.
func swallowed(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		i := slices.IndexFunc(values, func(v string) bool { return isFlag(flags, v) })
		if i >= 0 && err == nil {
			err = fmt.Errorf("--%s: its value is missing: %s, which follows it, is a flag", f.Name, values[i])
		}
		for _, v := range values {
			rest, _, _ := strings.Cut(v, "=")
			if f.Shorthand == "" || len(rest) < 3 || strings.ContainsAny(rest, "./") {
				continue // no flag begins so, and finding the nearest takes time
			}
			if long := nearestFlag(flags, f.Shorthand+rest); strings.HasPrefix(long, f.Shorthand+rest) {
				err = cmp.Or(err, fmt.Errorf("-%s%s: a flag of more than one letter has two dashes: --%s", f.Shorthand, rest, long))
			}
		}
	})
	return err
}

// selects returns the error of a --selector with no possible label; nil if the flags have none.
func selects(flags *pflag.FlagSet) error {
	f := flags.Lookup("selector")
	if f == nil || !f.Changed {
		return nil
	}
	_, err := source.ParseSelector(f.Value.String())
	return err
}

// isFlag reports whether a word is one of the flags: --live, --live=x, -f.
func isFlag(flags *pflag.FlagSet, word string) bool {
	if name, long := strings.CutPrefix(word, "--"); long {
		name, _, _ = strings.Cut(name, "=")
		return flags.Lookup(name) != nil
	}
	name, short := strings.CutPrefix(word, "-")
	return short && len(name) == 1 && flags.ShorthandLookup(name) != nil
}
