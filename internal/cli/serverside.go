package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// serverSideFlags determine whether objects are written by server-side apply.
type serverSideFlags struct {
	on, force bool
	given     func(flag string) bool
}

func (f *serverSideFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "server-side", false, "write by server-side apply: what was applied last is what managedFields list for --field-manager (default kubectl), and --policy is strict unless it is given")
	flags.BoolVar(&f.force, "force-conflicts", false, "with --server-side, take over the fields on which local and live disagree: --policy=apply")
	f.given = flags.Changed
}

// addReading is add for a verb that writes nothing.
func (f *serverSideFlags) addReading(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "server-side", false, "the files are applied by server-side apply: what was applied last is what managedFields list for --field-manager (default kubectl)")
	f.given = flags.Changed
}

// policy returns the name of the policy that the flags ask for.
func (f *serverSideFlags) policy(p *planFlags, given bool) (string, error) {
	switch {
	case f.force && !f.on:
		return "", errors.New("--force-conflicts only works with --server-side")
	case !f.on:
		return p.policy, nil
	case p.strategy != "" && p.strategy != strategy.Strategies[0].Name:
		return "", fmt.Errorf("--strategy=%s: with --server-side the server merges, by the type of each field: leave one of them out", p.strategy)
	case f.force && given && p.policy != "apply":
		return "", fmt.Errorf("--force-conflicts means --policy=apply, and --policy=%s asks for something else: give one of them", p.policy)
	case f.force && !p.overwrite:
		return "", errors.New("--force-conflicts means --policy=apply, and --overwrite=false --policy=strict: give one of them")
	}
	switch from, _, _ := strings.Cut(p.original, "="); apply.From(from) {
	case apply.Auto, apply.ManagedFields:
	default:
		return "", fmt.Errorf("--original=%s: with --server-side what was applied last is what managedFields list: auto, or managed-fields[=MANAGER,…] for what kubectl and the managers that you name have set as well", p.original)
	}
	if f.force || given {
		return p.policy, nil
	}
	return "strict", nil
}

// manager returns the field manager; name is the flag's.
func (f *serverSideFlags) manager(name string) string {
	if f.on && !f.given("field-manager") {
		return apply.ServerManager
	}
	return name
}

func (f *serverSideFlags) writing() apply.Writing {
	if f.on {
		return apply.ServerSide{}
	}
	return apply.ClientSide{}
}
