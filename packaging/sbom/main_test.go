package main

import (
	"runtime/debug"
	"testing"
	"time"
)

func TestList(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.0",
		Path:      "example.com/x/cmd/x",
		Main:      debug.Module{Path: "example.com/x", Version: "(devel)"},
		Deps: []*debug.Module{
			{Path: "example.com/A", Version: "v1.0.0", Sum: "h1:a="},
			{Path: "example.com/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/new", Version: "v2.0.0+incompatible"}},
		},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm"}},
	}
	when := time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600))
	doc := list(info, subject{version: "v1.2.3", sum: "abc", when: when})
	if doc.Name != "example.com/x/cmd/x v1.2.3 linux/arm" || doc.Creation.Created != "2026-01-02T03:04:05Z" {
		t.Errorf("name %q, created %q: the machine is in the name, the time in UTC", doc.Name, doc.Creation.Created)
	}
	want := []struct{ reason, name, version, purl string }{
		{"the version is the release's, not (devel)", "example.com/x", "v1.2.3", "pkg:golang/example.com/x@v1.2.3"},
		{"the standard library counts", "stdlib", "1.26.0", "pkg:golang/stdlib@1.26.0"},
		{"package URLs are lower case", "example.com/A", "v1.0.0", "pkg:golang/example.com/a@v1.0.0"},
		{"what was linked is the replacement", "example.com/new", "v2.0.0+incompatible", "pkg:golang/example.com/new@v2.0.0%2Bincompatible"},
	}
	if len(doc.Packages) != len(want) || len(doc.Relationships) != len(want) {
		t.Fatalf("%d packages, %d relationships, want %d of both", len(doc.Packages), len(doc.Relationships), len(want))
	}
	for i, w := range want {
		p := doc.Packages[i]
		if p.Name != w.name || p.Version != w.version || p.Refs[0].Locator != w.purl {
			t.Errorf("%s: %s %s %s", w.reason, p.Name, p.Version, p.Refs[0].Locator)
		}
		if p.ID != doc.Relationships[i].To {
			t.Errorf("no package depends on %s", p.Name)
		}
	}
}
