package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/util/homedir"

	"github.com/kubectl-merge/kubectl-merge/docs/schemas"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
)

// Page is the help of one command, for the reference and the man pages.
type Page struct {
	*cobra.Command
	Flags  []FlagHelp
	Shared []FlagHelp // of the main command: flags that all verbs take
	Verbs  []Page     // of the main command: all below it
}

// FlagHelp is the help of one flag.
type FlagHelp struct {
	Name    string
	Group   string // key of its FlagGroup
	Short   string // one letter, or ""
	Value   string // name of its value; "" for a switch
	Bare    string // its value when given without one; "" if it needs one
	Default string // "" for the type's zero
	Help    string
}

// Reference returns the main command's page, with its verbs in the order of the help. It does not
// depend on the environment: the user's home is written as $HOME.
func Reference() Page {
	root := newRoot(&env{IOStreams: genericiooptions.NewTestIOStreamsDiscard()})
	page := Page{Command: root, Flags: flagsOf(root.LocalNonPersistentFlags()), Shared: flagsOf(root.PersistentFlags())}
	for _, verb := range commands(root)[1:] {
		if verb.IsAvailableCommand() {
			page.Verbs = append(page.Verbs, Page{Command: verb, Flags: flagsOf(verb.LocalNonPersistentFlags())})
		}
	}
	return page
}

// commands returns a command and all below it, each before its own.
func commands(cmd *cobra.Command) []*cobra.Command {
	return append([]*cobra.Command{cmd}, slices.Concat(each(cmd.Commands(), commands)...)...)
}

func flagsOf(flags *pflag.FlagSet) (out []FlagHelp) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" || f.Name == "help" {
			return
		}
		value, help := pflag.UnquoteUsage(f)
		one := FlagHelp{Name: f.Name, Group: flagGroups[len(flagGroups)-1].Key, Short: f.Shorthand, Value: value, Bare: f.NoOptDefVal, Default: homeless(f.DefValue), Help: help}
		if group := f.Annotations[groupKey]; group != nil {
			one.Group = group[0]
		}
		switch {
		case f.Value.Type() == "bool":
			one.Value, one.Bare = "", ""
			one.Default = strings.TrimPrefix(one.Default, "false")
		case one.Default == "[]", one.Default == "0", one.Default == "0s":
			one.Default = ""
		}
		out = append(out, one)
	})
	return out
}

// Spelled returns a long flag as a user types it: --output=string; --dry-run[=string].
func (f FlagHelp) Spelled() string {
	switch {
	case f.Bare != "":
		return "--" + f.Name + "[=" + f.Value + "]"
	case f.Value != "":
		return "--" + f.Name + "=" + f.Value
	}
	return "--" + f.Name
}

// homeless replaces the user's home by $HOME.
func homeless(text string) string {
	if home := homedir.HomeDir(); home != "" && strings.HasPrefix(text, home+string(os.PathSeparator)) {
		return filepath.ToSlash("$HOME" + strings.TrimPrefix(text, home))
	}
	return text
}

var _ = registerVerb(verb{
	use: "schema [NAME]", short: "Print the JSON schema of what is printed for programs",
	long: `Print the JSON schema of a document that this program prints: of a plan, an outcome, an error.
Without NAME, list them. They are the files of docs/schemas, of this version.`,
	example: "  kubectl merge schema\n  kubectl merge schema errors",
	args: always(func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var words []cobra.Completion
		eachSchema(func(name, title string, _ []byte) { words = append(words, cobra.CompletionWithDesc(name, title)) })
		return complete.Words(words...)(cmd, args, typed)
	}),
	run: func(c *call, _ context.Context) error {
		asked, names := strings.Join(c.args, " "), []string(nil)
		var list, text []byte
		eachSchema(func(name, title string, schema []byte) {
			names, list = append(names, name), fmt.Appendf(list, "%-9s %s\n", name, title)
			if name == asked {
				text = schema
			}
		})
		if asked == "" {
			text = list
		}
		if text == nil {
			return mark("usage", fmt.Errorf("%s: there is no such schema%s: kubectl merge schema lists them", asked, suggest.Hint(asked, names)))
		}
		_, err := c.Out.Write(text)
		return err
	},
})

// eachSchema calls each for the published schemas, by name.
func eachSchema(each func(name, title string, text []byte)) {
	files, _ := fs.Glob(schemas.Files, "*") // the pattern is right
	for _, file := range files {
		text, _ := schemas.Files.ReadFile(file) // it is embedded
		var head struct{ Title string }
		_ = json.Unmarshal(text, &head) // a test reads each
		name, _, _ := strings.Cut(file, ".")
		each(name, head.Title, text)
	}
}
