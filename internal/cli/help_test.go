package cli

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestHelp: the main command's help is two screens of 80 columns, and says where the rest is;
// --help=all has every flag, and --help of a group those of that group.
func TestHelp(t *testing.T) {
	_, short, _ := offline(t, "--help")
	if n := strings.Count(short, "\n"); n > 60 {
		t.Errorf("%d lines, at most 60:\n%s", n, short)
	}
	_, all, _ := offline(t, "--help=all")
	main := Reference()
	texts := map[string]string{"--help": short, "--help=all": all}
	for _, verb := range main.Verbs {
		name := strings.TrimPrefix(verb.CommandPath(), "kubectl merge ") + " --help"
		_, texts[name], _ = offline(t, strings.Fields(name)...)
	}
	for name, text := range texts {
		for line := range strings.Lines(text) {
			if utf8.RuneCountInString(line) > 81 {
				t.Errorf("%s: more than 80 columns: %s", name, line)
			}
		}
	}
	for _, want := range append(strings.Fields("--policy --prune --help=safety --help=all absorb"), "(original)", "(local)", "(live)") {
		if !strings.Contains(short, want) {
			t.Errorf("--help lacks %s", want)
		}
	}
	for _, f := range append(main.Flags, main.Shared...) {
		if !strings.Contains(all, f.Spelled()) {
			t.Errorf("--help=all lacks %s", f.Spelled())
		}
	}
	if _, safety, _ := offline(t, "diff", "--help=safety"); !strings.Contains(safety, "--dry-run") || strings.Contains(safety, "--policy") || strings.Contains(safety, "Usage") {
		t.Errorf("--help=safety: %s", safety)
	}
	if _, absorb, _ := offline(t, "absorb", "--help"); !strings.Contains(absorb, "\n  -w, --write") {
		t.Errorf("absorb --help: the flag that writes does not come first: %s", absorb)
	}
	if code, _, errs := offline(t, "--help=saftey"); code != failed || !strings.Contains(errs, "must be all, apply, show, safety, sets or connection; did you mean safety?") {
		t.Errorf("code %d, stderr %s", code, errs)
	}
}

// TestGroups: each flag is of one group, and the first of the help are flags.
func TestGroups(t *testing.T) {
	keys := map[string]bool{}
	for _, g := range flagGroups {
		keys[g.Key] = true
	}
	names := map[string]bool{}
	for _, f := range flagRows {
		names[f.name] = true
		if f.advice == "" && !f.hidden && !keys[f.group] {
			t.Errorf("--%s of %s: there is no group %q", f.name, f.verbs, f.group)
		}
	}
	for _, m := range mostUsed {
		if !names[m.name] {
			t.Errorf("there is no --%s", m.name)
		}
	}
	if len(mostUsed) != 11 {
		t.Errorf("%d flags come first, want the ten of merge, and --write", len(mostUsed))
	}
}

// TestNoArguments: without arguments, the error says what is missing, and where the help is.
func TestNoArguments(t *testing.T) {
	code, out, errs := offline(t)
	if want := "error: must specify one of -f and -k; -f - reads standard input\nSee 'kubectl merge --help' for usage\n"; code != failed || out != "" || errs != want {
		t.Errorf("code %d, stdout %q, stderr %q, want %q", code, out, errs, want)
	}
}
