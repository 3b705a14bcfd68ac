package cli

import (
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

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

// renamed makes the command's help and completion scripts use the program's name.
func renamed(root *cobra.Command, p program) {
	rename := p.rename()
	if rename == nil {
		return
	}
	root.Use = rename(root.Use)
	root.Annotations[cobra.CommandDisplayNameAnnotation] = p.command
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		cmd.SetOut(renamer{out, rename})
		help(cmd, args)
		cmd.SetOut(out)
	})
}

// renamer renames in whole texts.
type renamer struct {
	to     io.Writer
	rename func(string) string
}

// Write writes a text.
func (r renamer) Write(text []byte) (int, error) {
	if _, err := io.WriteString(r.to, r.rename(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
