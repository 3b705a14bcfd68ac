package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestReasons: docs/programs.md and the schema of errors list the reasons of the table, in its order, with
// what it says of retries and of what comes next.
func TestReasons(t *testing.T) {
	page, err := os.ReadFile("../../docs/programs.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, documented []string
	for _, r := range reasons {
		want = append(want, r.name)
		cells := regexp.MustCompile("(?m)^\\| `" + r.name + "` \\| [^|]+ \\| ([^|]*)\\| ([^|]*)\\|$").FindSubmatch(page)
		if cells == nil || (len(cells[1]) > 0) != r.wait || (len(cells[2]) > 0) != (r.next != nil) {
			t.Errorf("docs/programs.md: the row of %s is %q", r.name, cells)
		}
	}
	_, after, _ := strings.Cut(string(page), "\n| reason |")
	table, _, _ := strings.Cut(after, "\n\n")
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)`").FindAllStringSubmatch(table, -1) {
		documented = append(documented, m[1])
	}
	var schema struct {
		Properties struct{ Reason struct{ Enum []string } }
	}
	eachSchema(func(name, title string, text []byte) {
		if title == "" {
			t.Errorf("the schema %s has no title", name)
		}
		if name == "errors" {
			err = json.Unmarshal(text, &schema)
		}
	})
	if err != nil || !slices.Equal(documented, want) || !slices.Equal(schema.Properties.Reason.Enum, want) {
		t.Errorf("%v\ndocs/programs.md  %q\nerrors.v1.json    %q\nreasons           %q", err, documented, schema.Properties.Reason.Enum, want)
	}
}

// TestMarked: each reason that an error is marked with is in the table.
func TestMarked(t *testing.T) {
	files, _ := filepath.Glob("*.go")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\bmark\("([a-z-]+)"`).FindAllSubmatch(text, -1) {
			if !slices.ContainsFunc(reasons, func(r reason) bool { return r.name == string(m[1]) }) {
				t.Errorf("%s: marks an error as %s, which is no reason", file, m[1])
			}
		}
	}
}

// TestProfileFiles: a file with a mistake is an error that names it.
func TestProfileFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.yaml")
	for text, want := range map[string]string{
		"{name: p, flags: {gaurd: refuse}}":             "p.yaml: flags.gaurd: there is no such flag of this program; did you mean guard?",
		"{name: p, flags: {guard: refused}}":            "p.yaml: flags.guard: no command takes refused",
		"{name: p, flags: {policy: [strict, liv]}}":     "p.yaml: flags.policy: no command takes liv",
		"{name: p, flags: {plan: required}, extend: q}": "p.yaml: must have a name, and flags, and nothing else",
		"{flags: {plan: required}}":                     "p.yaml: must have a name, and flags, and nothing else",
		"{name: p, name: q, flags: {}}":                 "p.yaml: line 1",
		"":                                              "p.yaml: must have a name, and flags, and nothing else",
		"{name: p, flags: {recreate: []}}":              `p.yaml: flags.recreate: has no value: "" is none`,
		"{name: p, flags: {concurrency: many}}":         "--profile=p: concurrency: ",
		"{name: p, flags: {profile: agent}}":            "flags.profile: there is no such flag",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := offline(t, "-f", file, "--profile="+file); code != failed || !strings.Contains(errs, want) {
			t.Errorf("%s: code %d, %s, and not %s", text, code, errs, want)
		}
	}
}

// TestHeld: a command line that gives a flag that the profile holds another value is refused, with both; other
// flags are the user's.
func TestHeld(t *testing.T) {
	local, live := files(t)
	for _, s := range profiles[0].flags {
		row := slices.IndexFunc(rowsOf()["merge"], func(f *flagRow) bool { return f.name == s.flag })
		if row < 0 || s.values[0] == required || !slices.Contains(fixedFlags, s.flag) {
			continue
		}
		other := map[string]string{"policy": "apply", "guard": "off", "original": "managed-fields", "strategy": "json", "validate": "false"}[s.flag]
		if other == "" {
			other = "true"
		}
		code, _, errs := offline(t, "-f", local, "--live", live, "--profile=agent", "--"+s.flag+"="+other)
		if code != failed || !strings.Contains(errs, `"reason":"refused-by-profile"`) || !strings.Contains(errs, "--"+s.flag+"=") || !strings.Contains(errs, "--profile=agent") {
			t.Errorf("--%s=%s: code %d: %s", s.flag, other, code, errs)
		}
	}
	for args, want := range map[string]string{"--notes=text": "", "-o name": "configmap/", "--policy=live": `"kind": "Outcome"`, "": `"kind": "Outcome"`} {
		code, out, errs := offline(t, append([]string{"-f", local, "--live", live, "--profile=agent"}, strings.Fields(args)...)...)
		if !strings.Contains(out, want) || strings.Contains(errs, "refused-by-profile") {
			t.Errorf("%s: code %d: %s%s", args, code, out, errs)
		}
	}
}

// TestWritersNeedPlans: under a profile that requires plans no verb writes without one, those to come included.
func TestWritersNeedPlans(t *testing.T) {
	root := newRoot(&env{IOStreams: genericiooptions.NewTestIOStreamsDiscard()})
	for _, v := range append(slices.Clone(verbs), mergeRow) {
		for _, v := range append(slices.Clone(v.below), v) {
			reads := slices.Contains(strings.Fields(readers), v.name())
			e := &env{profile: profile{name: "p", planned: true}}
			c := &call{env: e, verb: v, cmd: root, mode: dryNone}
			if err := c.permitted(); (err == nil) != reads {
				t.Errorf("%s: %v", v.name(), err)
			}
			if reads && v.run != nil && !v.previews && slices.ContainsFunc(rowsOf()[v.name()], func(f *flagRow) bool { return f.name == "dry-run" && f.advice == "" }) {
				t.Errorf("%s has --dry-run, and is said to write nothing", v.name())
			}
		}
	}
}

// TestNextIsSafe: whatever a command line has, what is suggested next neither forces nor recreates nor repeats
// credentials, and is a command that the program understands.
func TestNextIsSafe(t *testing.T) {
	local, live := files(t)
	vectors := 0
	for _, args := range []string{
		"-f LOCAL --live LIVE --recreate=Deployment,Job --yes --token=word --password=word --policy=ask --save-rules=r.yaml",
		"-f LOCAL --server-side --force-conflicts -n shop", "-f LOCAL --overwrite=false --dry-run", "diff -f LOCAL --live LIVE --recreate=Job",
		"explain -f LOCAL --live LIVE data.a", "wait -f LOCAL --timeout=1s", "undo r.yaml --policy=apply --yes", "diff configmap/a", "-f LOCAL -f LIVE --profile=agent",
	} {
		for _, r := range reasons {
			if r.next == nil {
				continue
			}
			e := &env{IOStreams: genericiooptions.NewTestIOStreamsDiscard()}
			root := newRoot(e)
			cmd, rest, err := root.Find(strings.Fields(strings.NewReplacer("LOCAL", local, "LIVE", live).Replace(args)))
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err != nil {
				t.Fatal(err)
			}
			of := mergeRow
			if i := slices.IndexFunc(verbs, func(v verb) bool { return v.name() == cmd.Name() }); i >= 0 {
				of = verbs[i]
			}
			for _, vector := range r.next(&call{env: e, cmd: cmd, verb: of}, "data.a") {
				vectors++
				text := strings.Join(vector, " ")
				if strings.Contains(text, "word") || strings.Contains(text, "--yes") || strings.Contains(text, "--force") || strings.Contains(text, "--recreate") || vector[0] != "kubectl" {
					t.Errorf("%s: %s: %s", args, r.name, text)
				}
				if vector[1] != "merge" {
					continue
				}
				if _, _, errs := offline(t, append(vector[2:], "--notes=json")...); strings.Contains(errs, `"usage"`) {
					t.Errorf("%s: %s: %s: %s", args, r.name, text, errs)
				}
			}
		}
	}
	if vectors < 80 {
		t.Errorf("only %d vectors were tried", vectors)
	}
}
