package main

import (
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/cli"
)

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
