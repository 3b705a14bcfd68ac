package readme

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/cli"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/ready"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// pages are the texts for people, by name; of what is written by docgen the source
// is the help.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*.md", "test/*/README.md"} {
		files, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out[file] = string(text)
		}
	}
	return out
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks: what a page points to inside the repository is there, down to the
// heading.
func TestLinks(t *testing.T) {
	all := pages(t)
	for file, text := range all {
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			name, heading, _ := strings.Cut(match[1], "#")
			target := file
			if name != "" {
				target = filepath.Join(filepath.Dir(file), filepath.FromSlash(name))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: points to %s, which is not there", file, match[1])
			} else if heading != "" && !slices.Contains(headings(all[target]), heading) {
				t.Errorf("%s: points to %s, and there is no such heading", file, match[1])
			}
		}
	}
}

var notInAnchors = regexp.MustCompile(`[^a-z0-9 _-]`)

// headings are a page's, as GitHub names them in links.
func headings(text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if marks, title, ok := strings.Cut(line, " "); ok && strings.Trim(marks, "#") == "" && marks != "" {
			out = append(out, strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(title), ""), " ", "-"))
		}
	}
	return out
}

var (
	command = regexp.MustCompile(`kubectl merge((?: [^|>\x60\n]*)?)`)
	flagged = regexp.MustCompile(`^--([a-z][a-z-]*)`)
)

// TestCommands: the verbs and flags that the pages name are there.
func TestCommands(t *testing.T) {
	main := cli.Reference()
	flags := map[string][]string{} // by verb, "" for none
	for _, page := range append([]cli.Page{main}, main.Verbs...) {
		verb := strings.TrimSpace(strings.TrimPrefix(page.CommandPath(), main.CommandPath()))
		for _, f := range append(slices.Clone(page.Flags), main.Shared...) {
			flags[verb] = append(flags[verb], f.Name)
		}
		flags[verb] = append(flags[verb], "help")
	}
	for file, text := range pages(t) {
		for _, match := range command.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(match[1])
			verb := ""
			for n := min(len(words), 2); n > 0 && verb == ""; n-- { // a verb may be below another
				if name := strings.Join(words[:n], " "); flags[name] != nil {
					verb = name
				}
			}
			for _, word := range words {
				if f := flagged.FindStringSubmatch(word); f != nil && !slices.Contains(flags[verb], f[1]) {
					t.Errorf("%s: kubectl merge%s: there is no --%s", file, match[1], f[1])
				}
			}
		}
	}
}

// TestRules: the rules that the pages show are rules, and the plans are plans.
func TestRules(t *testing.T) {
	for file, text := range pages(t) {
		for _, block := range strings.Split(text, "```yaml\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			if strings.Contains(block, "kind: Plan\n") {
				if _, err := plandoc.Parse(file, []byte(block)); err != nil {
					t.Error(err)
				}
				continue
			}
			if !strings.Contains(block, "- path:") && !strings.Contains(block, "  ready: ") {
				continue
			}
			if rules, err := schema.ParseRules([]byte(block)); err != nil || len(rules) == 0 {
				t.Errorf("%s: %v in\n%s", file, err, block)
			}
		}
	}
}

// TestWait: docs/wait.md has the table by which objects are judged, and the reasons that
// end a wait.
func TestWait(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top, "docs/wait.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range ready.Rows {
		if row := "| " + r.Kind + " | " + r.When + " |\n"; !strings.Contains(string(text), row) {
			t.Errorf("docs/wait.md lacks %s", row)
		}
	}
	for _, r := range ready.Troubles {
		end := "after `--patience`"
		if r.Final {
			end = "at once"
		}
		if row := regexp.MustCompile("(?m)^\\|[^|]*`" + r.Reason + "`[^|]*\\| " + end + " \\|$"); !row.Match(text) {
			t.Errorf("docs/wait.md lacks %s", row)
		}
	}
}
