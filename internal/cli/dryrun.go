package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/pflag"
)

// dryRun is the mode of --dry-run.
type dryRun string

// The dry runs, as kubectl names them.
const (
	dryNone   dryRun = "none"
	dryClient dryRun = "client" // nothing is sent
	dryServer dryRun = "server" // the server processes the requests but stores nothing
)

// dryRunFlag is the flag --dry-run.
type dryRunFlag struct {
	text  string
	given bool
}

func (f *dryRunFlag) String() string { return f.text }
func (f *dryRunFlag) Type() string   { return "string" }

// Set accepts any text; the verb validates it.
func (f *dryRunFlag) Set(text string) error {
	f.text, f.given = text, true
	return nil
}

func addDryRun(flags *pflag.FlagSet, value *dryRunFlag) {
	value.text = string(dryNone)
	flags.Var(value, "dry-run", `"none", "client" (print what would be created or changed, send nothing) or "server" (have the server try it, store nothing); bare: client`)
	flags.Lookup("dry-run").NoOptDefVal = string(dryClient)
}

func parseDryRun(text string) (dryRun, error) {
	if on, err := strconv.ParseBool(text); err == nil {
		if on {
			return dryClient, nil
		}
		return dryNone, nil
	}
	switch d := dryRun(text); d {
	case dryNone, dryClient, dryServer:
		return d, nil
	}
	return "", fmt.Errorf(`--dry-run=%s: must be "none", "server", or "client"`, text)
}

// spaced catches --dry-run client, which pflag reads as --dry-run and an argument, and
// --wait all.
func spaced(flags *pflag.FlagSet, args []string) error {
	for flag, values := range map[string][]string{"dry-run": {"none", "client", "server"}, "wait": {waitNone, waitWritten, waitAll}} {
		if flags.Changed(flag) && len(args) > 0 && slices.Contains(values, args[0]) {
			return fmt.Errorf("unexpected argument %q; did you mean `--%s=%s`?", args[0], flag, args[0])
		}
	}
	return nil
}

// suffix returns the text that kubectl prints after the outcome.
func (d dryRun) suffix() string {
	switch d {
	case dryClient:
		return " (dry run)"
	case dryServer:
		return " (server dry run)"
	}
	return ""
}

// showMode returns the mode of a verb that never writes: client or server.
func showMode(text string, live []string) (dryRun, error) {
	mode, err := parseDryRun(text)
	switch {
	case err != nil:
		return mode, err
	case mode == dryServer && len(live) > 0:
		return mode, errNoServer
	case mode == dryNone:
		return dryClient, nil
	}
	return mode, nil
}

var errNoServer = errors.New("--live: works without a server, and so cannot do --dry-run=server: leave out one of them")
