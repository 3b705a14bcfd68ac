package cli

import (
	"fmt"

	"github.com/spf13/pflag"
)

// refused are kubectl apply's flags that do something else than merge, or that no
// merge can keep the promise of; naming one is an error that says where to go.
var refused = []string{
	"server-side", "force-conflicts", "prune", "prune-allowlist", "applyset", "all",
	"force", "cascade", "grace-period", "wait", "timeout", "subresource",
}

func addRefused(flags *pflag.FlagSet) {
	for _, name := range refused {
		flags.String(name, "", "not supported: use kubectl apply")
		flags.Lookup(name).NoOptDefVal = "true"
		_ = flags.MarkHidden(name)
	}
}

func checkRefused(flags *pflag.FlagSet) error {
	for _, name := range refused {
		if flags.Changed(name) {
			return fmt.Errorf("--%s: kubectl merge does not do this: use `kubectl apply --%s`", name, name)
		}
	}
	return nil
}
