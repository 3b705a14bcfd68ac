package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/docs/schemas"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
)

var _ = registerVerb(verb{
	use: "schema [NAME]", short: "Print the JSON schema of what is printed for programs",
	long: `Print the JSON schema of a document that this program prints: of a plan, an outcome, an error.
Without NAME, list them. They are the files of docs/schemas, of this version.`,
	example: "  kubectl merge schema\n  kubectl merge schema errors",
	args: always(func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var words []cobra.Completion
		eachSchema(func(name, title string, _ []byte) { words = append(words, cobra.CompletionWithDesc(name, title)) })
		return complete.Words(words...)(cmd, args, typed)
	}),
	run: func(c *call, _ context.Context) error {
		asked, names := strings.Join(c.args, " "), []string(nil)
		var list, text []byte
		eachSchema(func(name, title string, schema []byte) {
			names, list = append(names, name), fmt.Appendf(list, "%-9s %s\n", name, title)
			if name == asked {
				text = schema
			}
		})
		if asked == "" {
			text = list
		}
		if text == nil {
			return mark("usage", fmt.Errorf("%s: there is no such schema%s: kubectl merge schema lists them", asked, suggest.Hint(asked, names)))
		}
		_, err := c.Out.Write(text)
		return err
	},
})

// eachSchema calls each for the published schemas, by name.
func eachSchema(each func(name, title string, text []byte)) {
	files, _ := fs.Glob(schemas.Files, "*") // the pattern is right
	for _, file := range files {
		text, _ := schemas.Files.ReadFile(file) // it is embedded
		var head struct{ Title string }
		_ = json.Unmarshal(text, &head) // a test reads each
		name, _, _ := strings.Cut(file, ".")
		each(name, head.Title, text)
	}
}
