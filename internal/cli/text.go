package cli

import (
	"strconv"
	"strings"
)

// oneLine spells out whatever a terminal would obey, and keeps line breaks only
// before a pointer to the help.
func oneLine(text string) string {
	text, help, found := strings.Cut(text, "\nSee '")
	quoted := strconv.QuoteToGraphic(text)
	text = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
	if found {
		text += "\nSee '" + help
	}
	return text
}
