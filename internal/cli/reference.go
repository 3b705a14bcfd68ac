package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/util/homedir"
)

// Page is the help of one command, for the reference and the man pages.
type Page struct {
	Command string // kubectl merge diff
	Usage   string
	Short   string // one line
	Long    string // paragraphs of plain text; "" where Short is enough
	Example string // lines of a shell, indented by two
	Flags   []FlagHelp
	Shared  []FlagHelp // of the main command: the flags that all of them take
	Verbs   []Page     // of the main command: all below it
}

// FlagHelp is the help of one flag.
type FlagHelp struct {
	Name    string
	Short   string // one letter, or ""
	Value   string // what it takes, in a word; "" for a switch
	Bare    string // the value it has when given without one; "" where it needs one
	Default string // "" for the type's zero
	Help    string
}

// Reference is the main command's page, with its verbs in the order of the help. It
// does not depend on who asks: the user's home is spelled $HOME.
func Reference() Page {
	root := newRoot(&env{IOStreams: genericiooptions.NewTestIOStreamsDiscard()})
	page := pageOf(root)
	page.Shared = flagsOf(root.PersistentFlags())
	for _, verb := range commands(root)[1:] {
		if verb.IsAvailableCommand() {
			page.Verbs = append(page.Verbs, pageOf(verb))
		}
	}
	return page
}

// commands are a command and all below it, each before its own.
func commands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, verb := range cmd.Commands() {
		all = append(all, commands(verb)...)
	}
	return all
}

func pageOf(cmd *cobra.Command) Page {
	return Page{
		Command: cmd.CommandPath(),
		Usage:   cmd.UseLine(),
		Short:   cmd.Short,
		Long:    cmd.Long,
		Example: cmd.Example,
		Flags:   flagsOf(cmd.LocalNonPersistentFlags()),
	}
}

func flagsOf(flags *pflag.FlagSet) []FlagHelp {
	var out []FlagHelp
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" || f.Name == "help" {
			return
		}
		value, help := pflag.UnquoteUsage(f)
		one := FlagHelp{Name: f.Name, Short: f.Shorthand, Value: value, Bare: f.NoOptDefVal, Default: homeless(f.DefValue), Help: help}
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

// homeless puts $HOME in place of the home of whoever runs this.
func homeless(text string) string {
	if home := homedir.HomeDir(); home != "" && strings.HasPrefix(text, home+string(os.PathSeparator)) {
		return filepath.ToSlash("$HOME" + strings.TrimPrefix(text, home))
	}
	return text
}
