package diff

// The colors of git diff, for a terminal.
const (
	Bold   = "\x1b[1m"
	Red    = "\x1b[31m"
	Green  = "\x1b[32m"
	Yellow = "\x1b[33m"
	Cyan   = "\x1b[36m"

	reset = "\x1b[0m"
)

// Paint returns a text in a color, if on is set; color "" is none.
func Paint(text, color string, on bool) string {
	if !on || color == "" || text == "" {
		return text
	}
	return color + text + reset
}
