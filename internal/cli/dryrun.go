package cli

// dryRun is the mode of --dry-run.
type dryRun string

// The dry runs, as kubectl names them.
const (
	dryNone   dryRun = "none"
	dryClient dryRun = "client" // nothing is sent
	dryServer dryRun = "server" // the server processes the requests but stores nothing
)

// suffix returns the text that kubectl prints after the outcome.
func (d dryRun) suffix() string {
	switch d {
	case dryClient:
		return " (dry run)"
	case dryServer:
		return " (server dry run)"
	}
	return ""
}
