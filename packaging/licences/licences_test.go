package licences

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// linked gives the folders of the packages that are linked into the program on one
// system, by their modules, and where the modules lie. Nothing is fetched that a
// build would not need.
func linked(t *testing.T, goos string) (packages map[string][]string, modules map[string]string) {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./cmd/kubectl-merge")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, &stderr)
	}
	packages, modules = map[string][]string{}, map[string]string{}
	for line := range strings.Lines(string(out)) {
		parts := strings.Split(strings.TrimSpace(line), "\t")
		if len(parts) == 3 {
			packages[parts[0]], modules[parts[0]] = append(packages[parts[0]], parts[2]), parts[1]
		}
	}
	return packages, modules
}

// TestLinked reads the licences of all that is linked into the program: of each
// module, and those that lie beside its packages. A module without one, a text that
// is not known, and a licence that is not allowed are reported.
func TestLinked(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		packages, modules := linked(t, goos)
		if len(modules) < 30 {
			t.Fatalf("%s: %d modules: these are not all", goos, len(modules))
		}
		for path, root := range modules {
			files := map[string]bool{}
			for _, dir := range packages[path] {
				for ; len(dir) >= len(root); dir = filepath.Dir(dir) {
					for _, f := range texts(t, dir) {
						files[f] = true
					}
				}
			}
			if len(files) == 0 {
				t.Errorf("%s: has no licence in %s", path, root)
			}
			for f := range files {
				judge(t, path, f)
			}
		}
	}
}

// texts are the files of a folder that hold licences.
func texts(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.Type().IsRegular() && (strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "LICENCE") || strings.HasPrefix(name, "COPYING")) && filepath.Ext(name) != ".GO" {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

func judge(t *testing.T, module, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names := Names(string(text))
	if len(names) == 0 {
		t.Errorf("%s: %s: is no licence that is known here", module, file)
	}
	for _, name := range names {
		if !Allowed[name] {
			t.Errorf("%s: %s: is %s, which is not allowed", module, file, name)
		}
	}
}

// TestNames holds the recogniser to texts that it has to distinguish.
func TestNames(t *testing.T) {
	const bsd = "Redistributions of source code must retain the above copyright notice. Redistributions in binary form must reproduce the above."
	for _, tt := range []struct {
		why, text string
		want      []string
	}{
		{"nothing is no licence", "", nil},
		{"a sentence is none", "Do what you like.", nil},
		{"two clauses", bsd, []string{"BSD-2-Clause"}},
		{"three clauses are not two as well", bsd + " The name may not be used to endorse or promote products.", []string{"BSD-3-Clause"}},
		{"lines and comments do not count", "// Permission to use, copy, modify, and/or\n// distribute this software for any purpose with or without\n// fee is hereby granted", []string{"ISC"}},
		{"one that is not allowed is known by its name", "GNU GENERAL PUBLIC LICENSE\n  Version 3, 29 June 2007", []string{"GPL"}},
		{"one beside an allowed one, too", bsd + "\n GNU AFFERO GENERAL PUBLIC LICENSE", []string{"AGPL", "BSD-2-Clause"}},
		{"a licence with a condition of its own is no MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy of this software, for good and not for evil.", nil},
	} {
		if got := Names(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.why, got, tt.want)
		}
	}
}
