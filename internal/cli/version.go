package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
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

var _ = registerVerb(verb{open: newVersion, args: noArgs, flags: map[string]cobra.CompletionFunc{"output": complete.Words("json", "yaml")}})

func newVersion(e *env) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: "  kubectl merge version\n  kubectl merge version -o json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.printVersion(output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml")
	return cmd
}

func (e *env) printVersion(output string) error {
	v := thisVersion()
	switch output {
	case "":
		text := "kubectl-merge " + v.Version
		if v.Commit != "" {
			text += " (" + v.Commit + ")"
		}
		_, err := fmt.Fprintf(e.Out, "%s %s %s\n", text, v.GoVersion, v.Platform)
		return err
	case "json":
		data, err := json.MarshalIndent(v, "", "  ")
		if err == nil {
			_, err = fmt.Fprintf(e.Out, "%s\n", data)
		}
		return err
	case "yaml":
		data, err := yamlOf(v)
		if err == nil {
			_, err = e.Out.Write(data)
		}
		return err
	}
	return fmt.Errorf("--output=%s: there are json and yaml", output)
}

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
