package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var played = regexp.MustCompile(`(?m)^Tested by: \[([a-z-]+/[a-z-]+)\]\(\.\./test/e2e/testdata/([a-z-]+/[a-z-]+)\.txtar\)$`)

// TestCookbook holds docs/cookbook.md to the stories that it names: each recipe has
// one, each story is a recipe, and the commands of both are the same. So it is for
// the quick start, which is one story.
func TestCookbook(t *testing.T) {
	reported := map[string]bool{}
	for _, recipe := range strings.Split(docs(t, "cookbook.md"), "\n## ")[1:] {
		reported[holdToStory(t, recipe)] = true
	}
	reported[holdToStory(t, docs(t, "quick-start.md"))] = true
	for _, group := range []string{"cookbook", "quick-start"} {
		stories, err := filepath.Glob("testdata/" + group + "/*.txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, story := range stories {
			if !reported[story] {
				t.Errorf("%s is in no recipe", story)
			}
		}
	}
}

func docs(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// holdToStory finds every command of a recipe in the story that the recipe names,
// and gives the story's file.
func holdToStory(t *testing.T, recipe string) string {
	t.Helper()
	title, _, _ := strings.Cut(recipe, "\n")
	link := played.FindStringSubmatch(recipe)
	if link == nil || link[1] != link[2] {
		t.Errorf("%s: does not name the story that tests it (Tested by: [cookbook/…](…))", title)
		return ""
	}
	file := filepath.FromSlash("testdata/" + link[1] + ".txtar")
	story, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
	}
	for _, command := range commandsOf(recipe) {
		if !strings.Contains(string(story), " "+command+"\n") && !strings.Contains(string(story), " "+command+" --as=") {
			t.Errorf("%s: the story never says\n%s", title, command)
		}
	}
	return file
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
