package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/source"
)

// swallowed returns the error of a flag that has taken the next flag for its value, since its own
// is missing: --recreate --live x. nil if none has.
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
