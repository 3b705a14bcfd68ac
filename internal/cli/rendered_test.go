package cli

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLargeRunsPrintTheSame: a large run, which renders objects while others are merged, prints
// the same diffs and documents as a small one, of objects with and without notes.
func TestLargeRunsPrintTheSame(t *testing.T) {
	const n = 260 // more than 200, and each half is less
	half := func(from, to int) map[string]string {
		var local, live strings.Builder
		for i := from; i < to; i++ {
			mine, theirs := oneOfMany(i)
			local.WriteString(mine)
			live.WriteString(theirs)
		}
		return map[string]string{"local.yaml": local.String(), "live.yaml": live.String()}
	}
	dirs := []string{folder(t, half(0, n)), folder(t, half(0, n/2)), folder(t, half(n/2, n))}
	salted := regexp.MustCompile(`\$sha256: "?[0-9a-f]+"?`)
	place := regexp.MustCompile(`local\.yaml: document \d+, line \d+|/[^ ]*/local\.yaml`)
	for _, args := range [][]string{{"diff"}, {"diff", "--show-secrets"}, {"diff", "-o", "plan", "--show-secrets"}, {"diff", "--policy=apply"}, {"diff", "-q"}, {"diff", "-o", "plan", "--show-secrets", "--policy=apply"}} {
		var out, notes []string
		for _, dir := range dirs {
			_, text, errs := offline(t, append(args, "-f", filepath.Join(dir, "local.yaml"), "--live", filepath.Join(dir, "live.yaml"))...)
			if _, objects, isPlan := strings.Cut(text, "\nobjects:\n"); isPlan {
				text, _, _ = strings.Cut(salted.ReplaceAllString(objects, "HASH"), "summary:")
			}
			lines := slices.DeleteFunc(strings.Split(place.ReplaceAllString(errs, "FILE"), "\n"), func(l string) bool { return l == "" || strings.Contains(l, "objects:") })
			slices.Sort(lines)
			out, notes = append(out, text), append(notes, strings.Join(lines, "\n"))
		}
		if want := out[1] + out[2]; out[0] != want || len(out[0]) < 100*n {
			t.Errorf("%v: %d objects print other than in halves, or too little:\n%s", args, n, firstDifference(out[0], want))
		}
		both := slices.DeleteFunc(strings.Split(notes[1]+"\n"+notes[2], "\n"), func(l string) bool { return l == "" })
		slices.Sort(both)
		if want := strings.Join(both, "\n"); notes[0] != want || (len(notes[0]) == 0) != slices.Contains(args, "-q") {
			t.Errorf("%v: %d objects have other notes than in halves, or none (with -q: some):\n%s", args, n, firstDifference(notes[0], want))
		}
	}
}

// firstDifference is where two texts differ first.
func firstDifference(got, want string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	from := max(0, i-200)
	return fmt.Sprintf("got  …%s\nwant …%s", got[from:min(i+300, len(got))], want[from:min(i+300, len(want))])
}

// oneOfMany is the ith object of a large run, in the file and in the cluster.
func oneOfMany(i int) (local, live string) {
	conf := func(data, more string) string {
		return fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d, namespace: shop%s}\ndata: {%s}\n", i, more, data)
	}
	applied := func(data string) string {
		return fmt.Sprintf(`, uid: u%d, resourceVersion: "7", annotations: {%s: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d","namespace":"shop"},"data":{%s}}'}`, i, applied, i, data)
	}
	web := func(image, more string) string {
		return fmt.Sprintf("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: c%d, namespace: shop%s}\nspec:\n  replicas: 2\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec:\n      containers: [{name: a, image: %q}]\n", i, more, image)
	}
	switch i % 8 {
	case 0: // changed
		return conf(`a: "2"`, ""), conf(`a: "1"`, applied(`"a":"1"`))
	case 1: // its annotation is spelled in another way
		return conf(`a: "1"`, ""), conf(`a: "1"`, applied(`"a":"1"`))
	case 2: // created
		return conf(`a: "1"`, ""), ""
	case 3: // removed from the file: a note
		return conf(`a: "1"`, ""), conf(`a: "1", b: "2"`, applied(`"a":"1","b":"2"`))
	case 4: // others have changed it as well: a conflict, or a note
		return conf(`a: "3"`, ""), conf(`a: "2"`, applied(`"a":"1"`))
	case 5: // another tool manages it
		return conf(`a: "2"`, ""), conf(`a: "1"`, applied(`"a":"1"`)+", labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}")
	case 6: // pods are replaced
		return web("a:2", ""), web("a:1", fmt.Sprintf(`, uid: u%d, resourceVersion: "7"`, i))
	default: // a Secret
		return fmt.Sprintf("---\napiVersion: v1\nkind: Secret\nmetadata: {name: c%d, namespace: shop}\nstringData: {a: new}\n", i),
			fmt.Sprintf("---\napiVersion: v1\nkind: Secret\nmetadata: {name: c%d, namespace: shop, uid: u%d, resourceVersion: \"7\"}\ndata: {a: b2xk}\n", i, i)
	}
}
