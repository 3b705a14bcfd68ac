package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
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
			return escape.WriteJSON(c.Out, v, "  ")
		case "yaml":
			return c.emit(yaml.Marshal(v))
		}
		text := "kubectl-merge " + v.Version
		if v.Commit != "" {
			text += " (" + v.Commit + ")"
		}
		_, err := fmt.Fprintf(c.Out, "%s %s %s\n", text, v.GoVersion, v.Platform)
		return err
	},
})

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

// program holds the names under which users call this program. A package manager, or a user who
// renames the executable, may give it another name (krew's names of plugins must be unique), and
// every command that a text suggests must work under that name.
type program struct {
	command string // as typed: kubectl merge
	file    string // the executable: kubectl-merge
}

var own = program{command: "kubectl merge", file: "kubectl-merge"}

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// programOf returns the program for the name of its executable. kubectl runs kubectl-a_b as
// `kubectl a-b` (k8s.io/kubectl, pkg/cmd, DefaultPluginHandler).
func programOf(executable string) program {
	file := filepath.Base(executable)
	if ext := filepath.Ext(file); strings.EqualFold(ext, ".exe") {
		file = strings.TrimSuffix(file, ext)
	}
	if !plainName.MatchString(file) {
		return own
	}
	if verb, plugin := strings.CutPrefix(file, "kubectl-"); plugin && verb != "" {
		return program{command: "kubectl " + strings.ReplaceAll(verb, "_", "-"), file: file}
	}
	return program{command: file, file: file}
}

// rename returns a function that replaces the original name by the program's; nil if they are equal.
func (p program) rename() func(string) string {
	if p == own {
		return nil
	}
	helper := "kubectl_complete-" + strings.TrimPrefix(p.file, "kubectl-")
	return strings.NewReplacer(own.command, p.command, "kubectl_complete-merge", helper, own.file, p.file).Replace
}
