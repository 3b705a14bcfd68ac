// Package licences recognises by its text which licence a file is, and which of them the
// program may be linked with. It refuses to guess: a text that it does not know, or
// that says more than a licence does, has no name.
package licences

import (
	"regexp"
	"strings"
)

// Allowed are the licences that a module may have which is linked into the program,
// by their SPDX names: they ask for their text to be kept, and for no more of a
// program that is under the Apache License itself.
var Allowed = map[string]bool{
	"Apache-2.0":   true,
	"BSD-2-Clause": true,
	"BSD-3-Clause": true,
	"ISC":          true,
	"MIT":          true,
	"MPL-2.0":      true,
}

// marks are sentences that stand in a licence and in no other one that has not been
// tried before it.
var marks = []struct {
	name string
	all  []string
}{
	{"AGPL", []string{"gnu affero general public license"}},
	{"LGPL", []string{"gnu lesser general public license version"}},
	{"GPL", []string{"gnu general public license version"}},
	{"MPL-2.0", []string{"mozilla public license version 2.0", "1.10. “modifications”"}},
	{"MPL-2.0", []string{"mozilla public license", "version 2.0", "covered software is provided under this license on an"}},
	{"Apache-2.0", []string{"apache license version 2.0", "grant of patent license"}},
	{"Apache-2.0", []string{"licensed under the apache license, version 2.0 (the \"license\")", "http://www.apache.org/licenses/license-2.0"}},
	{"BSD-3-Clause", []string{"redistributions of source code must retain", "redistributions in binary form must reproduce", "used to endorse or promote products"}},
	{"BSD-2-Clause", []string{"redistributions of source code must retain", "redistributions in binary form must reproduce"}},
	{"MIT", []string{"permission is hereby granted, free of charge, to any person obtaining a copy of this software", "the above copyright notice and this permission notice shall be included in all"}},
	{"ISC", []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted"}},
	{"ISC", []string{"permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted"}},
}

var space = regexp.MustCompile(`[\s*#/]+`)

// Names are the licences that a text holds, by their SPDX names where they have one;
// none where it is not known. A text may hold several (for example MIT and Apache-2.0).
func Names(text string) []string {
	text = " " + space.ReplaceAllString(strings.ToLower(text), " ") + " "
	var names []string
	has := map[string]bool{}
	for _, m := range marks {
		found := true
		for _, sentence := range m.all {
			found = found && strings.Contains(text, space.ReplaceAllString(sentence, " "))
		}
		if m.name == "BSD-2-Clause" && has["BSD-3-Clause"] {
			continue
		}
		if found && !has[m.name] {
			has[m.name] = true
			names = append(names, m.name)
		}
	}
	return names
}
