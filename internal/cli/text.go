package cli

import (
	"strconv"
	"strings"
)

// helpAt begins the one line break that an error has: the pointer to the help that
// ends those about the command line.
const helpAt = "\nSee '"

// oneLine spells out whatever a terminal would obey, and keeps line breaks only
// before a pointer to the help.
func oneLine(text string) string {
	if at := strings.LastIndex(text, helpAt); at >= 0 && !strings.Contains(text[at+1:], "\n") {
		return plainly(text[:at]) + "\n" + plainly(text[at+1:])
	}
	return plainly(text)
}

// plainly is text as Go quotes it, without the quotes.
func plainly(text string) string {
	quoted := strconv.QuoteToGraphic(text)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
}

// longest is how much of an error is reported: beyond that it is somebody's input.
const longest = 4000

// errorText is an error's text for people.
func errorText(text string) string {
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest*3/4], "") + " … " + strings.ToValidUTF8(text[len(text)-longest/4:], "")
	}
	return oneLine(text)
}
