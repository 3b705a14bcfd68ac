package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/yamldoc"
)

// The release build sets these with -ldflags -X; after a plain go build they are read from the
// module's build information.
var (
	version = ""
	commit  = ""
	date    = ""
)

// versionInfo is the output of the version verb.
type versionInfo struct {
	Version   string `json:"version"`
	Commit    string `json:"commit,omitempty"`
	Date      string `json:"date,omitempty"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

var _ = registerVerb(verb{
	use: "version", short: "Print the version of this program", example: "  kubectl merge version\n  kubectl merge version -o json",
	run: func(c *call, _ context.Context) error {
		v := thisVersion()
		switch c.output {
		case "json":
			return c.printJSON(v)
		case "yaml":
			data, err := yamlOf(v)
			if err == nil {
				_, err = c.Out.Write(data)
			}
			return err
		}
		text := "kubectl-merge " + v.Version
		if v.Commit != "" {
			text += " (" + v.Commit + ")"
		}
		_, err := fmt.Fprintf(c.Out, "%s %s %s\n", text, v.GoVersion, v.Platform)
		return err
	},
})

// yamlOf converts a JSON value to YAML.
func yamlOf(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	value, err := merge.ReadJSON(data)
	if err != nil {
		return nil, err
	}
	return yamldoc.Encode(value)
}

func thisVersion() versionInfo {
	v := versionInfo{Version: version, Commit: commit, Date: date, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if v.Version == "" && ok {
		v.Version = info.Main.Version
	}
	if v.Version == "" || v.Version == "(devel)" {
		v.Version = "devel"
	}
	return v
}
