package term

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestPager: what has room on the screen is printed as it is, and more by the command.
func TestPager(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // has no sed
	}
	for _, tt := range []struct{ reason, command, text, want string }{
		{"there is room", "sed s/^/page:/", "a\n", "a\n"},
		{"there is none", "sed s/^/page:/", "a\nb\nc\n", "page:a\npage:b\npage:c\n"},
		{"one line of many rows", "sed s/^/page:/", "0123456789\n", "page:0123456789\n"},
	} {
		screen, err := os.Create(filepath.Join(t.TempDir(), "screen"))
		if err != nil {
			t.Fatal(err)
		}
		p := &Pager{to: screen, command: tt.command, width: 4, height: 3}
		if _, err := (paged{p, screen}).Write([]byte(tt.text)); err != nil { // a file is no terminal, for Stream
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(screen.Name())
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %q, want %q (%v)", tt.reason, got, tt.want, err)
		}
	}
}

// TestPagerCommand: the first variable that is set counts, though it is empty.
func TestPagerCommand(t *testing.T) {
	t.Setenv("A_PAGER", "")
	t.Setenv("B_PAGER", "more -s")
	for _, tt := range []struct {
		variables []string
		want      string
	}{
		{[]string{"A_PAGER", "B_PAGER"}, ""},
		{[]string{"NO_PAGER", "B_PAGER"}, "more -s"},
	} {
		if got := pagerCommand(tt.variables); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.variables, got, tt.want)
		}
	}
	if p := NewPager(&bytes.Buffer{}, "B_PAGER"); p != nil {
		t.Errorf("no terminal: %v", p)
	}
}
