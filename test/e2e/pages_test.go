package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// played is the line by which a page, or a section of it, names the story that plays its
// shell blocks.
var played = regexp.MustCompile(`(?m)^Tested by: \[([a-z-]+/[a-z-]+)\]\((?:\.\./)*test/e2e/testdata/([a-z-]+/[a-z-]+)\.txtar\)$`)

// notPlayed are the lines of shell blocks that no story can play, by their page and how
// they begin, and why.
var notPlayed = []struct{ page, begins, why string }{
	{"CONTRIBUTING.md", "make ", "the tests themselves"},
	{"README.md", "git clone ", "needs a network"},
	{"SECURITY.md", "kubectl completion fish", "TestCompletionObeysNothing loads it in fish"},
	{"docs/cookbook.md", "gh ", "needs GitHub; the story integrations/github has a comment written"},
	{"docs/install.md", "kubectl krew ", "needs krew; `make release-check` installs the archive as krew does"},
	{"docs/install.md", "gh ", "needs GitHub"},
	{"docs/install.md", "brew ", "needs Homebrew"},
	{"docs/install.md", "scoop ", "needs Scoop"},
	{"docs/install.md", "nix ", "needs Nix"},
	{"docs/install.md", "sha256sum ", "needs a release; `make release-check` compares the checksums"},
	{"docs/install.md", "tar ", "needs a release; `make release-check` unpacks it"},
	{"docs/install.md", "sudo ", "needs a release, and root"},
	{"docs/install.md", "go install ", "needs a network"},
	{"docs/install.md", "kubectl completion fish", "TestCompletedPaths loads it in fish"},
	{"docs/install.md", "kubectl merge completion fish", "TestCompletedPaths loads it in fish"},
	{"docs/install.md", "kubectl merge explain -f web.yaml spec.template.spec.containers[<TAB>", "TestCompletedPaths presses the key"},
	{"docs/install.md", "kubectl merge disown deployment/web 'metadata.annotations[\"<TAB>", "TestCompletedPaths presses the key"},
	{"docs/library.md", "go get ", "needs a network"},
	{"test/e2e/README.md", "", "the tests themselves"},
}

// TestPages has each line of each shell block of the pages in the story that its section or
// its page names, or in notPlayed. Blocks of the form console are run by test/readme, and
// docs/cli.md is the help, of which TestExamples runs the examples.
func TestPages(t *testing.T) {
	used, reported := map[int]bool{}, map[string]bool{}
	for _, page := range pages(t) {
		text := docs(t, "../"+page)
		whole := storiesOf(t, page, text, reported)
		for _, section := range strings.Split(text, "\n## ") {
			title, _, _ := strings.Cut(section, "\n")
			stories := storiesOf(t, page+": "+title, section, reported)
			if len(stories) == 0 && len(whole) == 1 {
				stories = whole
			}
			for _, line := range shellLines(section) {
				if row := excused(page, line); row >= 0 {
					used[row] = true
				} else if !slices.ContainsFunc(stories, func(story string) bool { return plays(story, line) }) {
					t.Errorf("%s: %s: no story that is named (Tested by: …) plays\n%s", page, title, line)
				}
			}
		}
	}
	for i, row := range notPlayed {
		if !used[i] {
			t.Errorf("%s has no line that begins with %q", row.page, row.begins)
		}
	}
	for _, group := range []string{"cookbook", "quick-start", "pages"} {
		files, err := filepath.Glob("testdata/" + group + "/*.txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !reported[file] {
				t.Errorf("no page names %s", file)
			}
		}
	}
}

// pages are the texts for people, as paths from the top of the repository.
func pages(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*.md", "integrations/*/*.md", "test/e2e/*.md"} {
		files, err := filepath.Glob(filepath.Join("../..", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if page := strings.TrimPrefix(filepath.ToSlash(file), "../../"); page != "docs/cli.md" {
				out = append(out, page)
			}
		}
	}
	return out
}

// docs is the text of a page of docs.
func docs(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// storiesOf are the texts of the stories that a part of a page names; their files are added to reported.
func storiesOf(t *testing.T, where, text string, reported map[string]bool) []string {
	t.Helper()
	var out []string
	for _, link := range played.FindAllStringSubmatch(text, -1) {
		file := filepath.FromSlash("testdata/" + link[2] + ".txtar")
		story, err := os.ReadFile(file)
		if err != nil || link[1] != link[2] {
			t.Errorf("%s: names %s, and points to %s: %v", where, link[1], link[2], err)
		}
		reported[file] = true
		out = append(out, string(story))
	}
	return out
}

// plays: a line of the story runs the command, or a script of the story has it.
func plays(story, line string) bool {
	return strings.Contains(story, " "+line+"\n") || strings.Contains(story, " "+line+" --as=") || strings.Contains(story, "\n"+line+"\n") ||
		strings.Contains(story, "\n"+line+" > ")
}

func excused(page, line string) int {
	return slices.IndexFunc(notPlayed, func(row struct{ page, begins, why string }) bool {
		return row.page == page && strings.HasPrefix(line, row.begins)
	})
}

var (
	fence    = regexp.MustCompile("^ *```([a-z]*)$")
	commands = regexp.MustCompile(`^(\$ )?([A-Z0-9_]+=\S+ )?(kubectl|go|git|make|gh|sudo|brew|source|curl) `)
	comment  = regexp.MustCompile(`(^|\s+)# .*$`)
)

// shellLines are the commands of a text's shell blocks: those that are marked as such, and
// those that are not marked, or indented only, and begin with a command.
func shellLines(text string) []string {
	var out, block []string
	form, open := "", false
	end := func() {
		if shell := form == "sh" || form == "bash" || form == "fish"; shell || form == "" && len(block) > 0 && commands.MatchString(block[0]) {
			out = append(out, block...)
		}
		block, form = nil, ""
	}
	for _, line := range strings.Split(text, "\n") {
		mark := fence.FindStringSubmatch(line)
		switch {
		case mark != nil:
			end()
			if open = !open; open {
				form = mark[1]
			}
		case open || strings.HasPrefix(line, "    "):
			if line = commandOf(line); line != "" {
				block = append(block, line)
			}
		default:
			end()
		}
	}
	end()
	return out
}

// commandOf is a line without its comment and, of a command that a story runs without a shell,
// without what the shell does with the output. The program from source is the program.
func commandOf(line string) string {
	line = strings.TrimSpace(comment.ReplaceAllString(line, ""))
	if rest, ok := strings.CutPrefix(line, "go run ./cmd/kubectl-merge "); ok {
		line = "kubectl merge " + rest
	}
	if strings.HasPrefix(line, "kubectl ") || strings.HasPrefix(line, "git ") {
		line, _, _ = strings.Cut(line, " > ")
	}
	return line
}
