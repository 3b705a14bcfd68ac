package cli

import (
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

// helpAt begins the only line break in an error: the pointer to the help that ends errors about the
// command line.
const helpAt = "\nSee '"

// oneLine is escape.Line for an error's text: it keeps the line break before a pointer to
// the help.
func oneLine(text string) string {
	if at := strings.LastIndex(text, helpAt); at >= 0 && !strings.Contains(text[at+1:], "\n") {
		return escape.Line(text[:at]) + "\n" + escape.Line(text[at+1:])
	}
	return escape.Line(text)
}

// longest is how much of an error is reported: a longer text is quoted input.
const longest = 4000

// errorText returns an error's text for people.
func errorText(text string) string {
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest*3/4], "") + " … " + strings.ToValidUTF8(text[len(text)-longest/4:], "")
	}
	return oneLine(text)
}
