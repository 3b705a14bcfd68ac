package readme

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostWords is the longest that a sentence of shortPages may be, and limits are the most
// words of whole pages.
const mostWords = 30

var (
	shortPages = []string{
		"README.md", "docs/alternatives.md", "docs/drift.md", "docs/performance.md", "docs/plan.md", "docs/prune.md",
		"docs/files.md", "docs/releasing.md", "docs/semantics.md", "docs/server-side.md", "docs/wait.md",
	}
	limits = map[string]int{"README.md": 1000, "docs/performance.md": 1500}
)

// TestSentences: what people read first can be read once. A sentence ends with a full stop, or
// where a paragraph, an item of a list or a cell of a table ends; code is one word.
func TestSentences(t *testing.T) {
	for _, page := range shortPages {
		text, err := os.ReadFile(filepath.Join(top, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sentences(string(text)) {
			if n := words(s); n > mostWords {
				t.Errorf("%s: %d words, at most %d: %s", page, n, mostWords, s)
			}
		}
		if n := len(strings.Fields(string(text))); limits[page] > 0 && n > limits[page] {
			t.Errorf("%s has %d words, at most %d", page, n, limits[page])
		}
	}
	long := "one two three four five six seven eight nine ten " // the measure is true
	if s := sentences("# Title\n\n" + long + long + "\n" + long + "[and one](x.md).\n\n```\n" + long + long + long + long + "\n```\n"); len(s) != 1 || words(s[0]) != 32 {
		t.Errorf("of 32 words: %q", s)
	}
}

var (
	codeSpan    = regexp.MustCompile("`[^`]*`")
	linkText    = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	sentenceEnd = regexp.MustCompile(`[.!?]([\s*)"]|$)`)
	cellBorder  = regexp.MustCompile(`[^\\]\|`)
	itemMark    = regexp.MustCompile(`^([-*]|\d+\.) `)
	word        = regexp.MustCompile(`[\pL\pN]`)
)

// sentences are those of a page's paragraphs, items and cells, without code, headings and comments.
func sentences(text string) []string {
	var out []string
	for _, p := range paragraphs(text) {
		p = linkText.ReplaceAllString(codeSpan.ReplaceAllString(p, "x"), "$1")
		out = append(out, sentenceEnd.Split(p, -1)...)
	}
	return nonEmpty(out)
}

func paragraphs(text string) []string {
	var out, open []string
	closeOpen := func() {
		out = append(out, strings.Join(open, " "))
		open = nil
	}
	code := false
	for line := range strings.Lines(text) {
		s := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(s, "```"):
			code = !code
			closeOpen()
		case code, strings.HasPrefix(s, "<!--"), open == nil && strings.HasPrefix(line, "    "):
		case s == "", strings.HasPrefix(s, "#"):
			closeOpen()
		case strings.HasPrefix(s, "|"):
			closeOpen()
			out = append(out, cellBorder.Split(s, -1)...)
		default:
			if itemMark.MatchString(s) {
				closeOpen()
			}
			open = append(open, itemMark.ReplaceAllString(s, ""))
		}
	}
	closeOpen()
	return out
}

func nonEmpty(all []string) []string {
	var out []string
	for _, s := range all {
		if words(s) > 0 {
			out = append(out, strings.TrimSpace(s))
		}
	}
	return out
}

func words(sentence string) int {
	n := 0
	for _, w := range strings.Fields(sentence) {
		if word.MatchString(w) {
			n++
		}
	}
	return n
}
