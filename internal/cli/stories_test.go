package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestVerbsHaveStories: every verb is played by a story.
func TestVerbsHaveStories(t *testing.T) {
	var all strings.Builder
	files, err := filepath.Glob("../../test/e2e/testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	stories := all.String()
	for _, cmd := range commands(newRoot(&env{IOStreams: genericiooptions.NewTestIOStreamsDiscard()})) {
		call := strings.Replace(cmd.CommandPath(), "kubectl merge", "kubectl-merge", 1)
		if cmd.Runnable() && !cmd.Hidden && !strings.Contains(stories, call) {
			t.Errorf("no story plays %q: write one in test/e2e/testdata", cmd.CommandPath())
		}
	}
}
