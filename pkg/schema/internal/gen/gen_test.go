package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestTableIsFresh(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../builtin.table")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.tableText()) {
		t.Error("builtin.table is stale: go generate ./pkg/schema")
	}
}

// TestPatchTags holds the list rules of server-side apply against the patch tags
// of the Go types, which kubectl apply merges by. The four lists whose tag is
// narrower and that are no status are where kubectl loses entries; everywhere else
// the two agree, or kubectl replaces the list whole.
func TestPatchTags(t *testing.T) {
	tab, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	// Two lists of status say list-type=atomic beside tags that merge.
	atomic := map[string]bool{"batch.v1.JobStatus.conditions": true, "core.v1.PodStatus.hostIPs": true}
	var narrower, whole, untyped []string
	for _, name := range tab.names() {
		row := tab.types[name]
		for _, f := range row.fields {
			merges := strings.Contains(f.tag.Get("patchStrategy"), "merge")
			keys, isKeyed := keyNames(f.shape)
			set := strings.HasPrefix(f.shape, "[=")
			key := f.tag.Get("patchMergeKey")
			at := name + "." + f.name
			switch {
			case atomic[at]:
			case merges && key != "" && !isKeyed, merges && key == "" && strings.HasPrefix(f.shape, "[") && !set:
				t.Errorf("%s: the tags merge it, the table says %s", at, f.shape)
			case merges && isKeyed && !slices.Contains(keys, key):
				t.Errorf("%s: merged by %s, the table says %s", at, key, f.shape)
			case merges && len(keys) > 1:
				narrower = append(narrower, at)
			case !merges && (isKeyed || set):
				whole = append(whole, at)
			case merges && row.noSchema:
				untyped = append(untyped, at)
			}
		}
	}
	t.Logf("%d lists are replaced whole by strategic merge", len(whole))
	want := []string{"core.v1.Container.ports", "core.v1.EphemeralContainer.ports", "core.v1.PodSpec.topologySpreadConstraints",
		"core.v1.PodVolumeHealth.healthConditions", "core.v1.ServiceSpec.ports", "core.v1.VolumeHealthStatus.healthConditions"}
	if !slices.Equal(narrower, want) {
		t.Errorf("narrower patch keys: %q, want %q", narrower, want)
	}
	if len(untyped) > 0 {
		t.Errorf("lists that only the tags know: %q", untyped)
	}
}

// keyNames reads the keys of a keyed list's shape.
func keyNames(shape string) ([]string, bool) {
	inner, _, ok := strings.Cut(strings.TrimPrefix(shape, "["), "]")
	if !strings.HasPrefix(shape, "[") || !ok || inner == "" || inner == "=" {
		return nil, false
	}
	inner, _, _ = strings.Cut(inner, ";")
	keys := strings.Split(inner, ",")
	for i, k := range keys {
		keys[i], _, _ = strings.Cut(k, "=")
	}
	return keys, true
}

// TestRetainKeys: wherever kubectl replaces an object by its retainKeys strategy,
// the facts have a one-of group, so that nothing is left beside what replaces it.
func TestRetainKeys(t *testing.T) {
	tab, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tab.names() {
		for _, f := range tab.types[name].fields {
			if !strings.Contains(f.tag.Get("patchStrategy"), "retainKeys") || strings.HasSuffix(name, "Status") {
				continue
			}
			elem := f.shape[strings.LastIndexByte(f.shape, ']')+1:]
			if !slices.ContainsFunc(tab.types[elem].lines, func(line string) bool { return line[0] == '|' }) {
				t.Errorf("%s.%s: %s has no one-of group", name, f.name, elem)
			}
		}
	}
}

func TestFactsAreChecked(t *testing.T) {
	tests := []struct{ reason, text, want string }{
		{"a type that is not there", "oneOf: {core.v1.Nothing: [a b]}", "no such type"},
		{"a field that is not there", "oneOf: {core.v1.EnvVar: [value valueform]}", `no field "valueform"`},
		{"an exception that is not there", "oneOf: {core.v1.Volume: ['* -nam']}", `no field "nam"`},
		{"a discriminator that is not there", "oneOf: {core.v1.EnvVar: ['type: A=value']}", `no field "type"`},
		{"a group of one", "oneOf: {core.v1.EnvVar: [value]}", "needs fields"},
		{"an allocated field that is not there", "allocated: {core.v1.ServiceSpec: [clusterip]}", `no field "clusterip"`},
		{"a unique field that is not there", "unique: {core.v1.ServiceSpec: [ports nam]}", `no field "nam"`},
		{"a unique field of what is no keyed list", "unique: {core.v1.ServiceSpec: [clusterIPs name]}", "no list with keys"},
		{"a fixed path that is not there", "fixed: {core.v1.ServiceSpec: [clusterips/0 if type=ExternalName]}", `no field "clusterips"`},
		{"a rule of a field that is not there", "defaults: {core.v1.ServiceSpec: ['clusterip? x']}", `no field "clusterip"`},
		{"a pair of one", "mirrored: {core.v1.ServiceSpec: [clusterIP]}", "no pair"},
		{"a union that the facts forget", "oneOf: {}", "is not among the facts"},
	}
	for _, test := range tests {
		tab, err := generate()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range tab.types {
			row.lines = nil
		}
		f, err := readFacts([]byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.addTo(tab); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.reason, err, test.want)
		}
	}
	if _, err := readFacts([]byte("oneof: {}\nallocate: []")); err == nil {
		t.Error("unknown keys were accepted")
	}
}
