// Command docgen writes the reference of the command line, docs/cli.md, and the man
// pages, docs/man, from the help texts. It refuses to print anything that the help
// does not.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/cli"
)

//go:generate go run . ../../docs

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: docgen DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1], pages(cli.Reference())); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

// pages returns the texts by file name, relative to the folder docs.
func pages(main cli.Page) map[string]string {
	out := map[string]string{"cli.md": markdown(main)}
	for _, p := range append([]cli.Page{main}, main.Verbs...) {
		out["man/"+manName(p)+".1"] = manPage(p, main)
	}
	return out
}

// manName returns the name of a page for man: kubectl-merge-diff.
func manName(p cli.Page) string { return strings.ReplaceAll(p.CommandPath(), " ", "-") }

// write writes the pages into dir, and removes man pages of verbs that no longer exist.
func write(dir string, pages map[string]string) error {
	old, err := filepath.Glob(filepath.Join(dir, "man", "*.1"))
	errs := []error{err, os.MkdirAll(filepath.Join(dir, "man"), 0o755)}
	for _, file := range old {
		if pages["man/"+filepath.Base(file)] == "" {
			errs = append(errs, os.Remove(file))
		}
	}
	for name, text := range pages {
		errs = append(errs, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644))
	}
	return errors.Join(errs...)
}

// markdown returns the whole reference on one page.
func markdown(p cli.Page) string {
	var b strings.Builder
	b.WriteString("# Command line reference\n\nWritten by `make docs` from the commands' own help, and held to it by a test.\n\n")
	b.WriteString("| command | does |\n|---|---|\n")
	for _, one := range append([]cli.Page{p}, p.Verbs...) {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", one.CommandPath(), anchor(one.CommandPath()), cell(one.Short))
	}
	for _, one := range append([]cli.Page{p}, p.Verbs...) {
		markdownPage(&b, one)
	}
	b.WriteString("\n## Connection and logging\n\nEvery command takes these flags of kubectl.\n\n")
	flagTable(&b, p.Shared)
	return b.String()
}

func markdownPage(b *strings.Builder, p cli.Page) {
	fmt.Fprintf(b, "\n## %s\n\n    %s\n\n%s\n", p.CommandPath(), p.UseLine(), plain(prose(p)))
	if p.Example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", unindented(p.Example))
	}
	for _, g := range cli.ByGroup(p.Flags) {
		fmt.Fprintf(b, "\n**%s**\n\n", g.Title)
		flagTable(b, g.Flags)
	}
}

// plain returns a text in which Markdown sees no HTML.
func plain(text string) string { return strings.ReplaceAll(text, "<", "&lt;") }

// prose returns the long text, or the short one as a sentence.
func prose(p cli.Page) string { return cmp.Or(p.Long, p.Short+".") }

func flagTable(b *strings.Builder, flags []cli.FlagHelp) {
	b.WriteString("| flag | default | |\n|---|---|---|\n")
	for _, f := range flags {
		def := ""
		if f.Default != "" {
			def = "`" + f.Default + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", spelled(f), def, cell(f.Help))
	}
}

// spelled returns a flag as a user types it: -o, --output=string.
func spelled(f cli.FlagHelp) string {
	if f.Short != "" {
		return "-" + f.Short + ", " + f.Spelled()
	}
	return f.Spelled()
}

// cell escapes a text for a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(text)
}

func unindented(example string) string {
	return strings.TrimPrefix(strings.ReplaceAll(example, "\n  ", "\n"), "  ")
}

// anchor returns GitHub's anchor of a heading.
func anchor(heading string) string { return strings.ReplaceAll(strings.ToLower(heading), " ", "-") }

// manPage returns one command's page in roff, man(7). It has no date: the same help gives the same
// bytes.
func manPage(p, main cli.Page) string {
	var b strings.Builder
	name := manName(p)
	fmt.Fprintf(&b, ".\\\" written by make docs; change the command's help instead\n.TH %s 1 \"\" kubectl-merge \"kubectl merge\"\n", quoted(strings.ToUpper(name)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roffText(name), roffText(p.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", line(p.UseLine()))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", paragraphs(prose(p)))
	if len(p.Verbs) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, v := range p.Verbs {
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR(1)\n%s\n", roffText(manName(v)), line(v.Short))
		}
	}
	if len(p.Flags) > 0 {
		b.WriteString(".SH OPTIONS\n")
		for _, g := range cli.ByGroup(p.Flags) {
			fmt.Fprintf(&b, ".SS %s\n", roffText(g.Title))
			options(&b, g.Flags)
		}
	}
	if len(p.Shared) > 0 {
		b.WriteString(".SH CONNECTION AND LOGGING OPTIONS\nThese are kubectl's, and all of the commands take them.\n")
		options(&b, p.Shared)
	}
	if p.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", lines(unindented(p.Example)))
	}
	b.WriteString(".SH SEE ALSO\n")
	if p.CommandPath() != main.CommandPath() {
		fmt.Fprintf(&b, "\\fB%s\\fR(1), whose connection options work here too;\n", roffText(manName(main)))
	}
	b.WriteString("\\fBkubectl\\fR(1)\n")
	return b.String()
}

func options(b *strings.Builder, flags []cli.FlagHelp) {
	for _, f := range flags {
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR\n%s\n", roffText(spelled(f)), line(f.Help))
		if f.Default != "" {
			fmt.Fprintf(b, "(default %s)\n", roffText(f.Default))
		}
	}
}

// paragraphs returns text that man fills, apart from indented lines, which are not filled.
func paragraphs(long string) string {
	var b strings.Builder
	for i, p := range strings.Split(strings.TrimSpace(long), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(p, " ") {
			fmt.Fprintf(&b, ".nf\n%s\n.fi\n", lines(p))
			continue
		}
		fmt.Fprintf(&b, "%s\n", lines(p))
	}
	return b.String()
}

func lines(of string) string {
	all := strings.Split(of, "\n")
	for i, one := range all {
		all[i] = line(one)
	}
	return strings.Join(all, "\n")
}

// line returns one line of text, which must not begin like a request.
func line(of string) string {
	escaped := roffText(strings.ReplaceAll(of, "\n", " "))
	if strings.HasPrefix(escaped, ".") || strings.HasPrefix(escaped, "'") {
		return `\&` + escaped
	}
	return escaped
}

// roffText escapes characters with a meaning in roff; a dash is a minus, so that an option can be
// copied from the page.
func roffText(of string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", `\[u2026]`, "·", `\[pc]`).Replace(of)
}

func quoted(of string) string { return `"` + strings.ReplaceAll(roffText(of), `"`, `\(dq`) + `"` }
