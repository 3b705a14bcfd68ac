package readme

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestClaims: each claim of SECURITY.md ends with links to what tests it, and each row of
// docs/trust.md names it; the tests and stories are there, and the command of a row runs
// them.
func TestClaims(t *testing.T) {
	claims := 0
	for heading, text := range sections(t, "SECURITY.md") {
		switch heading {
		case "", "Reporting", "Limits": // promise nothing that a test could hold
			continue
		}
		for _, claim := range items(text) {
			claims++
			tests := testsBehind.FindString(claim)
			if tests == "" {
				t.Errorf("SECURITY.md: %s: no test holds this: %s", heading, claim)
			}
			for _, m := range linked.FindAllStringSubmatch(tests, -1) {
				held(t, "SECURITY.md", m[1], m[2])
			}
		}
	}
	for heading, text := range sections(t, "docs/trust.md") {
		for _, row := range rows(text) {
			claims++
			holdsRow(t, heading, row)
		}
	}
	if claims < 60 {
		t.Errorf("only %d claims were found", claims)
	}
}

var (
	testsBehind = regexp.MustCompile(`\((\[[^\]]+\]\([^)]+\)(, )?)+\)$`)
	linked      = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)
	named       = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`")
	story       = regexp.MustCompile("story `([a-z-]+/[a-z-]+)`")
	alone       = regexp.MustCompile(`go test((?: \./[^\s\x60]+)+)(?: -run '?([^'\x60\s]+)'?)?`)
)

// sections are the parts of a page, by their headings; "" has the text before the first.
func sections(t *testing.T, page string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, page))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i, part := range strings.Split("\n"+string(text), "\n## ") {
		heading, rest, _ := strings.Cut(part, "\n")
		if i == 0 {
			heading = ""
		}
		out[heading] = rest
	}
	return out
}

// items are the entries of a list, each on one line, and its paragraphs.
func items(text string) []string {
	var out []string
	for _, part := range regexp.MustCompile(`\n\n|\n- |^- `).Split(strings.TrimSpace(text), -1) {
		if part = strings.Join(strings.Fields(part), " "); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// rows are those of a page's tables that have a column of tests.
func rows(text string) [][]string {
	var out [][]string
	column := -1
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			column = -1
			continue
		}
		cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00"), "|")
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", "|")
		}
		switch {
		case strings.HasPrefix(cells[0], "---"):
		case column >= 0:
			out = append(out, append([]string{cells[column]}, cells...))
		default:
			for i, cell := range cells {
				if cell == "test" || cell == "target" {
					column = i
				}
			}
		}
	}
	return out
}

// holdsRow: the first cell, that of the tests, names some that are there, and the
// command in the row runs them.
func holdsRow(t *testing.T, heading string, cells []string) {
	t.Helper()
	tests := named.FindAllStringSubmatch(cells[0], -1)
	stories := story.FindAllStringSubmatch(cells[0], -1)
	if len(tests)+len(stories) == 0 && !strings.Contains(cells[0], "the workflow") {
		t.Errorf("docs/trust.md: %s: no test holds this: %s", heading, cells[1])
	}
	for _, m := range stories {
		held(t, "docs/trust.md", m[1], filepath.Join("test/e2e/testdata", m[1]+".txtar"))
	}
	commands := alone.FindAllStringSubmatch(strings.Join(cells[1:], " "), -1)
	for _, m := range tests {
		packages := packagesOf(t, m[1])
		if len(packages) == 0 {
			t.Errorf("docs/trust.md: %s: there is no %s", heading, m[1])
		}
		runs := len(commands) == 0
		for _, c := range commands {
			for _, pkg := range strings.Fields(c[1]) {
				test, _, _ := strings.Cut(c[2], "/") // what follows names a subtest
				runs = runs || packages[strings.TrimPrefix(pkg, "./")] && regexp.MustCompile(test).MatchString(m[1])
			}
		}
		if !runs {
			t.Errorf("docs/trust.md: %s: %s is not run by %q", heading, m[1], commands)
		}
	}
}

// held: the file has the test, or is the story or page that is named.
func held(t *testing.T, page, name, file string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, file))
	switch {
	case err != nil:
		t.Errorf("%s: %s: %v", page, name, err)
	case strings.HasPrefix(name, "Test") && !strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)"):
		t.Errorf("%s: %s is not in %s", page, name, file)
	case !strings.HasPrefix(name, "Test") && file != "test/e2e/testdata/"+name+".txtar":
		t.Errorf("%s: %s is no story of the name %s", page, file, name)
	}
}

// packagesOf are the folders of the packages that have a test of a name.
func packagesOf(t *testing.T, name string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, dir := range []string{"internal", "pkg", "test", "packaging"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(path string, e os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil && regexp.MustCompile(`\nfunc `+name+`\([tf] \*testing\.[TF]\)`).Match(text) {
				below, _ := filepath.Rel(top, filepath.Dir(path))
				out[filepath.ToSlash(below)] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
