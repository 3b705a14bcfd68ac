package cli

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/pflag"
)

// refused maps flags to advice: kubectl apply's flags that do something other than merge, or whose
// promise no merge can keep, and flags of earlier versions. Their use is an error with that advice.
var refused = map[string]string{
	"force":                  "no object is deleted that can be changed: use `--recreate=KIND`, for objects of which a field can be set only once",
	"grace-period":           "is for --force, and no object is deleted: use `kubectl delete --grace-period`, and merge again",
	"replacements":           "is a step of its own: `kubectl merge replacements FILE -f … | kubectl merge -f -`; `--from-live` of that command takes sources from the cluster",
	"replacements-from-live": "is `--from-live` of `kubectl merge replacements FILE -f … | kubectl merge -f -`",
	"subresource":            "only the object itself is written: use `kubectl patch --subresource`",
}

func addRefused(flags *pflag.FlagSet) {
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		flags.String(name, "", "not supported: "+refused[name])
		flags.Lookup(name).NoOptDefVal = "true"
		_ = flags.MarkHidden(name)
	}
}

func checkRefused(flags *pflag.FlagSet) error {
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		if flags.Changed(name) {
			return fmt.Errorf("--%s: %s", name, refused[name])
		}
	}
	return nil
}
