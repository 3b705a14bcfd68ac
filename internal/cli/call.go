package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// verb is a row of verbs. Help, completion, the reference and the man pages follow from it, and
// from the rows of its flags.
type verb struct {
	use, short    string
	long, example string
	hidden        bool

	inputs   string // ends the help of -f: the objects to …
	previews bool   // it never writes
	failure  int    // exit code of errors; 0: failed

	takes func(c *call) error // checks the arguments; nil: any, noArgs of arguments: none
	run   func(c *call, ctx context.Context) error
	sum   func(c *call, s several) error // prints what it has found in several contexts; nil: it takes none
	args  completer                      // of its arguments; see also words
	words []string                       // that complete its only argument
	below []verb                         // verbs of the verb
}

// name returns the name by which rows of flags list the verb.
func (v verb) name() string {
	name, _, _ := strings.Cut(v.use, " ")
	return strings.TrimPrefix(name, "kubectl-")
}

// completer returns the completion of arguments, or of a flag's values.
type completer func(*complete.Server) cobra.CompletionFunc

// verbs lists the sub-commands. To add one, add a file with
//
//	var _ = registerVerb(verb{use: …, short: …, run: …})
var verbs []verb

// registerVerb adds a row to verbs at program start.
func registerVerb(v verb) bool {
	verbs = append(verbs, v)
	return true
}

// call is one call of a verb, with its flags and arguments.
type call struct {
	*env
	options
	cmd  *cobra.Command
	verb verb
	args []string
	mode dryRun // of the run, which a report or saved live objects make a preview
	rows []*flagRow

	// Derived from the flags.
	bound    binding
	until    time.Time      // see deadline
	refused  error          // of --guard=refuse in a preview, which is shown nevertheless
	asked    *term.Terminal // that -i asks on; nil: no question is asked
	local    *input         // what was read for the calls of several contexts; nil: nothing
	found    *found         // what this one of these calls finds, in place of printing it; nil: it is none
	released *live.Release  // that --original or --release names; nil: none

	// document prints what became of the run's objects, given those that were rolled back, by name. It is
	// called once that is over; nil: it is printed, or not asked for.
	document func(rolledBack map[string]write.Outcome) error
}

// command returns the command of a verb, and of those below it. A verb that the command line does
// not name has no flags: to declare those of all verbs takes three times as long as all else that is
// done before a verb begins.
func (e *env) command(v verb) *cobra.Command {
	cmd := &cobra.Command{Use: v.use, Short: v.short, Long: v.long, Example: v.example, Hidden: v.hidden, ValidArgs: v.words, Args: cobra.ArbitraryArgs}
	cmd.SuggestionsMinimumDistance = 2
	c := &call{env: e, cmd: cmd, verb: v}
	if e.says(cmd.Name()) {
		c.declare()
		declareHelp(cmd, e.completes())
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		c.args, e.ran = args, c
		return c.failed(c.run(cmd.Context()))
	}
	if v.failure != 0 {
		cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return c.failed(flagError(cmd, err)) })
	}
	if v.args != nil {
		cmd.ValidArgsFunction = complete.Safe(v.args(e.server()))
	} else if v.words == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, below := range v.below {
		cmd.AddCommand(e.command(below))
	}
	return cmd
}

// run checks the command line, and runs the verb.
func (c *call) run(ctx context.Context) error {
	err := cmp.Or(c.advised(), c.spaced())
	switch {
	case c.verb.takes != nil:
		err = cmp.Or(err, c.verb.takes(c))
	case c.verb.args == nil:
		err = cmp.Or(err, unexpected(c))
	}
	if err = cmp.Or(err, c.check()); err != nil {
		return mark("usage", errors.Join(err, c.emptied(c.inputs.Files...)))
	}
	if err = c.permitted(); err != nil {
		return err
	}
	if c.given("contexts") {
		return c.inContexts(ctx)
	}
	return c.verb.run(c, ctx)
}

// failed gives an error the exit code of the verb's errors, unless it has one of its own.
func (c *call) failed(err error) error {
	if err == nil || c.verb.failure == 0 || errors.As(err, new(*exit)) || exitCode(err) != failed {
		return err
	}
	return &exit{Code: c.verb.failure, Err: err}
}

// usage returns an error about the arguments, with a pointer to the help.
func (c *call) usage(text string) error {
	return mark("usage", fmt.Errorf("%s%s%s --help' for usage", text, helpAt, c.cmd.CommandPath()))
}

// exactly returns the check of a number of arguments, with the error of another number.
func exactly(n int, otherwise func(*call) error) func(*call) error {
	return func(c *call) error {
		if len(c.args) == n {
			return nil
		}
		return otherwise(c)
	}
}

// unexpected returns an error for arguments where none are taken.
var unexpected = exactly(0, func(c *call) error { return fmt.Errorf("unexpected argument %q", c.args[0]) })
