package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var played = regexp.MustCompile(`(?m)^Played: \[cookbook/([a-z-]+)\]\(\.\./test/e2e/testdata/cookbook/([a-z-]+)\.txtar\)$`)

// TestCookbook holds docs/cookbook.md to the stories that it names: each recipe has
// one, each story is a recipe, and the commands of both are the same.
func TestCookbook(t *testing.T) {
	text, err := os.ReadFile("../../docs/cookbook.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	recipes := strings.Split(string(text), "\n## ")
	for _, recipe := range recipes[1:] {
		title, _, _ := strings.Cut(recipe, "\n")
		link := played.FindStringSubmatch(recipe)
		if link == nil || link[1] != link[2] {
			t.Errorf("%s: does not say which story plays it (Played: [cookbook/…](…))", title)
			continue
		}
		told[link[1]+".txtar"] = true
		story, err := os.ReadFile(filepath.Join("testdata/cookbook", link[1]+".txtar"))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, command := range commandsOf(recipe) {
			if !strings.Contains(string(story), " "+command+"\n") && !strings.Contains(string(story), " "+command+" --as=") {
				t.Errorf("%s: the story never says\n%s", title, command)
			}
		}
	}
	stories, err := filepath.Glob("testdata/cookbook/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range stories {
		if !told[filepath.Base(story)] {
			t.Errorf("%s is in no recipe of docs/cookbook.md", story)
		}
	}
}

// commandsOf are the commands of a recipe's shell blocks that a story can play:
// those of kubectl and git, without what the shell does with their output.
func commandsOf(recipe string) []string {
	var out []string
	for _, block := range strings.Split(recipe, "```sh\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for _, line := range strings.Split(block, "\n") {
			line, _, _ = strings.Cut(line, " >")
			if strings.HasPrefix(line, "kubectl ") || strings.HasPrefix(line, "git ") {
				out = append(out, strings.TrimSpace(line))
			}
		}
	}
	return out
}
