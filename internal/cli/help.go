package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
)

// FlagGroup is a subject of flags. --help=KEY lists them, as the reference does below the title.
type FlagGroup struct {
	Key, Title string
	Flags      []FlagHelp
}

// flagGroups are the subjects, in the order of the help. The last has what no row groups: kubectl's own flags.
var flagGroups = []FlagGroup{
	{Key: "apply", Title: "What to apply"},
	{Key: "show", Title: "What to show"},
	{Key: "safety", Title: "Safety"},
	{Key: "sets", Title: "Sets and waiting"},
	{Key: "connection", Title: "Connection"},
}

// mostUsed are the flags that a command's help begins with, as far as it has them, in words that need no other page.
var mostUsed = []struct{ name, help string }{
	{"filename", "file, folder, URL or - (standard input) to merge"},
	{"kustomize", "kustomization folder to build and merge"},
	{"recursive", "read folders and all below them"},
	{"dry-run", "print the result, write nothing; =server tries it"},
	{"write", "write the files"},
	{"interactive", "show the diff, and ask before anything is written"},
	{"output", "print objects (yaml, json, …) or a report (diff, …)"},
	{"policy", "who wins: apply (the file), live, strict (exit 3), …"},
	{"applyset", "name of the set that is applied and pruned together"},
	{"prune", "delete what is in the set and no longer in the files"},
	{"wait", "wait until what was written is ready, or report why"},
}

// shortHelp is the number of flags up to which a command's help lists all of them.
const shortHelp = 12

// ByGroup returns the groups that have some of the flags, with these.
func ByGroup(flags []FlagHelp) []FlagGroup {
	groups := slices.Clone(flagGroups)
	for _, f := range flags {
		i := slices.IndexFunc(groups, func(g FlagGroup) bool { return g.Key == f.Group })
		if i < 0 {
			i = len(groups) - 1
		}
		groups[i].Flags = append(groups[i].Flags, f)
	}
	return slices.DeleteFunc(groups, func(g FlagGroup) bool { return len(g.Flags) == 0 })
}

// helpFlag is --help, which takes the key of a group, or all.
type helpFlag struct{ of string } // "" if it is not given, and short if without a value

const (
	helpShort = "short"
	helpAll   = "all"
)

// helpWords returns the values of --help, with help for completion.
func helpWords() []string {
	return append([]string{helpAll + "\tall flags"}, each(flagGroups, func(g FlagGroup) string { return g.Key + "\t" + g.Title })...)
}

// String returns a truth value: to cobra the flag is a switch.
func (h *helpFlag) String() string { return strconv.FormatBool(h.of != "") }

// Type returns bool, for the same reason.
func (h *helpFlag) Type() string { return "bool" }

// Set takes a truth value, all, or the key of a group.
func (h *helpFlag) Set(text string) error {
	if on, err := strconv.ParseBool(text); err == nil {
		h.of = map[bool]string{true: helpShort}[on]
		return nil
	}
	row := flagRow{name: "help", words: helpWords}
	h.of = text
	return row.among(text)
}

// declareHelp adds --help to a command, and completion of its values if that is asked for.
func declareHelp(cmd *cobra.Command, completed bool) {
	flag := cmd.Flags().VarPF(&helpFlag{}, "help", "h", "help for "+cmd.Name())
	flag.NoOptDefVal = "true"
	if !completed {
		return
	}
	_ = cmd.RegisterFlagCompletionFunc("help", complete.Safe(complete.Words(helpWords()...))) // fails only if it is registered already
}

// help prints the help of a command, on a terminal page by page and as wide as that.
func (e *env) help(cmd *cobra.Command, _ []string) {
	h := helpText{width: min(term.Width(e.Out), 100)}
	if h.width < 40 {
		h.width = 80
	}
	of := helpShort
	if f, ok := cmd.Flags().Lookup("help").Value.(*helpFlag); ok && f.of != "" {
		of = f.of
	}
	h.command(cmd, of)
	text := h.String()
	if e.rename != nil {
		text = e.rename(text)
	}
	out := cmd.OutOrStdout()
	if p := term.NewPager(out, pagers...); p != nil {
		defer func() { _ = p.Close() }() // the terminal is gone
		out = p
	}
	_, _ = io.WriteString(out, text)
}

// helpText is a help under construction.
type helpText struct {
	strings.Builder
	width int
}

// command writes the help of a command: with its most used flags, all of them, or those of a group.
func (h *helpText) command(cmd *cobra.Command, of string) {
	flags, shared := flagsOf(cmd.LocalNonPersistentFlags()), flagsOf(cmd.Root().PersistentFlags())
	if of != helpShort && of != helpAll {
		h.groups(append(flags, shared...), of)
		return
	}
	h.filled(cmp.Or(cmd.Long, cmd.Short+"."))
	h.heading("Usage")
	if cmd.Runnable() {
		h.lines("  " + strings.Join(fill(cmd.UseLine(), h.width-6), "\n      "))
	}
	if cmd.HasAvailableSubCommands() {
		h.lines("  " + cmd.CommandPath() + " COMMAND")
	}
	if cmd.HasExample() {
		h.heading("Examples")
		h.lines(cmd.Example)
	}
	h.verbs(cmd)
	switch {
	case of == helpAll:
		h.groups(append(flags, shared...), "")
	case len(flags) <= shortHelp:
		h.groups(flags, "")
		h.lines("", "kubectl's flags (-n, --context, -v and others) work, too: --help=connection.")
	default:
		h.mostUsed(cmd, flags)
	}
	if cmd.HasAvailableSubCommands() {
		h.lines("", fmt.Sprintf("%q prints more about a command.", cmd.CommandPath()+" COMMAND --help"))
	}
}

func (h *helpText) verbs(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	h.heading("Commands")
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() {
			h.row(below.Name(), 19, below.Short)
		}
	}
}

// mostUsed lists ten flags, and by which --help the others are listed.
func (h *helpText) mostUsed(cmd *cobra.Command, flags []FlagHelp) {
	h.heading("Most used flags")
	shown := map[string]bool{}
	for _, row := range mostUsed {
		i := slices.IndexFunc(flags, func(f FlagHelp) bool { return f.Name == row.name })
		if i < 0 {
			continue
		}
		f := flags[i]
		shown[f.Name] = true
		if !cmd.HasParent() {
			f.Help, f.Default = row.help, ""
		}
		h.flag(f)
	}
	h.heading("More flags (--help=all explains all of them)")
	for _, g := range ByGroup(slices.DeleteFunc(flags, func(f FlagHelp) bool { return shown[f.Name] })) {
		h.row("--help="+g.Key, 19, strings.Join(each(g.Flags, func(f FlagHelp) string { return f.Name }), ", "))
	}
	h.row("--help=connection", 19, "kubectl's: namespace, context, kubeconfig, as, v, …")
}

// groups lists flags by group; only one group if it is named.
func (h *helpText) groups(flags []FlagHelp, only string) {
	for _, g := range ByGroup(flags) {
		if only != "" && g.Key != only {
			continue
		}
		h.heading(g.Title)
		for _, f := range g.Flags {
			h.flag(f)
		}
	}
}

func (h *helpText) flag(f FlagHelp) {
	name := "    "
	if f.Short != "" {
		name = "-" + f.Short + ", "
	}
	name += f.Spelled()
	help := f.Help
	if f.Default != "" && !strings.Contains(help, "default") {
		help += " (default " + f.Default + ")"
	}
	h.row(name, 24, help)
}

// row writes a name, and what it is in a column of its own.
func (h *helpText) row(name string, column int, help string) {
	lines := fill(help, h.width-column-3)
	if utf8.RuneCountInString(name) > column-1 {
		h.lines("  " + name)
		name = ""
	}
	for _, line := range lines {
		h.lines(strings.TrimRight(fmt.Sprintf("  %-*s %s", column, name, line), " "))
		name = ""
	}
}

// filled writes paragraphs, broken at the width; indented ones are tables of two columns.
func (h *helpText) filled(text string) {
	for i, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			h.lines("")
		}
		if strings.HasPrefix(p, " ") {
			h.table(strings.Split(p, "\n"))
		} else {
			h.lines(fill(p, h.width)...)
		}
	}
}

// table writes rows of a name and, behind two spaces or more, what it is; further lines of that are
// indented more than a row.
func (h *helpText) table(lines []string) {
	var names, texts []string
	column, indent := 0, len(lines[0])-len(strings.TrimLeft(lines[0], " "))
	for _, line := range lines {
		name, text, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if len(line)-len(strings.TrimLeft(line, " ")) > indent {
			texts[len(texts)-1] += " " + strings.TrimSpace(line)
			continue
		}
		names, texts = append(names, name), append(texts, strings.TrimSpace(text))
		column = max(column, utf8.RuneCountInString(name)+1)
	}
	for i, name := range names {
		h.row(name, column, texts[i])
	}
}

func (h *helpText) heading(title string) {
	if h.Len() > 0 {
		h.lines("")
	}
	h.lines(title + ":")
}

func (h *helpText) lines(lines ...string) {
	for _, line := range lines {
		h.WriteString(line + "\n")
	}
}

// fill breaks a text between words into lines of at most width characters. A longer word is a line.
func fill(text string, width int) []string {
	return term.Fill(strings.Split(strings.Join(strings.Fields(text), " "), " "), width, "")
}
