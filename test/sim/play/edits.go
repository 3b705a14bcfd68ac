package play

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// edited is one time that a run has had a text edited.
type edited struct{ given, saved []byte }

var (
	stale = regexp.MustCompile(`(?m)^  v: .*\n`)
	data  = regexp.MustCompile(`(?m)^data:\n`)
)

// hands are what an editor does with a text; it ends with an error of the editor, or nil. The second
// time each of them saves what it is given.
var hands = []func(text []byte) ([]byte, error){
	func(text []byte) ([]byte, error) { return stale.ReplaceAll(text, nil), nil },
	func(text []byte) ([]byte, error) { return stale.ReplaceAll(text, []byte("  v: typed\n")), nil },
	func(text []byte) ([]byte, error) { return data.ReplaceAll(text, []byte("data:\n  typed: more\n")), nil },
	func(text []byte) ([]byte, error) { return text, nil },
	func([]byte) ([]byte, error) { return nil, nil },
	func(text []byte) ([]byte, error) { return append(text, "data: twice\n"...), nil },
	func(text []byte) ([]byte, error) {
		return stale.ReplaceAll(text, []byte("  v: crashed\n")), errors.New("exit status 1")
	},
}

// edits plays the editor, for as long as the seed says. As a real one, it is gone soon after the
// program that has started it was told to end.
func (r *run) edits(editor *exec.Cmd) error {
	w, path := r.world, editor.Args[len(editor.Args)-1]
	given, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	w.drafts = append(w.drafts, filepath.Dir(path))
	choice := rand.New(rand.NewPCG(w.Seed, uint64(3+r.n)))
	hand, takes := hands[choice.IntN(len(hands))], []int{0, 3, 200}[choice.IntN(3)]
	for range takes {
		if time.Sleep(time.Second); r.dead || len(r.signalled) > 0 {
			return errors.New("signal: terminated")
		}
	}
	saved, failed := given, error(nil)
	if len(r.edited) == 0 {
		saved, failed = hand(bytes.Clone(given))
	}
	r.edited = append(r.edited, edited{given, saved})
	w.say("%s  is edited in %d s: %v\n%s", r.id, takes, failed, printout(saved))
	return cmp.Or(os.WriteFile(path, saved, 0o600), failed)
}

// your is where a text is that was not saved.
var your = regexp.MustCompile(`your text is in ([^:\s]+)`)

// edited: the run writes the text that was edited last, in the place of the text that the editor was
// given. "edited" is reported if it was written; otherwise the text is in the file that is named.
func (w *world) edited(r *run) string {
	if r.step.Verb != "edit" || len(r.edited) == 0 {
		return ""
	}
	given, saved := textLeaves(r.edited[0].given), textLeaves(r.edited[len(r.edited)-1].saved)
	wrote := false
	for _, e := range r.writes() {
		if wrote = true; len(differing(given, lastApplied(e.Was))) > 0 {
			return fmt.Sprintf("%v was edited, and %v was replaced", given, lastApplied(e.Was))
		}
		if len(differing(saved, lastApplied(e.Is))) > 0 {
			return fmt.Sprintf("%v was edited, and %v is written", saved, lastApplied(e.Is))
		}
	}
	reported := strings.Contains(r.out.text.String(), "configmap/a edited")
	kept := your.FindStringSubmatch(r.errs.text.String())
	switch {
	case wrote && strings.Contains(r.errs.text.String(), "nothing was saved") && !r.met("twice"):
		return "what was edited was saved, and it is said that nothing was"
	case r.dead || wrote && reported:
	case reported != (r.code == 0 && len(differing(given, saved)) > 0 && len(saved) > 0):
		return fmt.Sprintf("reported as edited: %t, written: %t, exit code %d", reported, wrote, r.code)
	case r.code != 0 && kept != nil:
		text, err := os.ReadFile(kept[1])
		if last := r.edited[len(r.edited)-1].saved; err != nil || !bytes.HasSuffix(text, last) {
			return fmt.Sprintf("%q is said to have the text, and has %q: %v", kept[1], text, err)
		}
	case r.code != 0 && len(differing(given, saved)) > 0:
		return "what was edited was not saved, and is in no file"
	}
	return ""
}

// met reports whether a request of the run had a fault.
func (r *run) met(fault string) bool {
	return slices.ContainsFunc(r.exchanges, func(x *exchange) bool { return x.fault == fault })
}

// textLeaves are the values of a configuration that is a text; nil of one that is none.
func textLeaves(text []byte) map[string]string {
	var v map[string]any
	if yaml.UnmarshalStrict(text, &v) != nil || v == nil {
		return nil
	}
	return leaves(v)
}
