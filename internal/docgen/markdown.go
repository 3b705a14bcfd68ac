package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/cli"
)

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
