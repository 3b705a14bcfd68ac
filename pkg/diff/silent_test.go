package diff_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// forms prints everything that this package makes for people to read.
func forms(t testing.TB, x diff.Report) string {
	t.Helper()
	var b bytes.Buffer
	for _, note := range append(diff.Notes(x), diff.Conflicts(x)...) {
		fmt.Fprintln(&b, note, show(t, note), note.Sides(0))
		if err := note.Compare(&b, true); err != nil {
			t.Fatal(err)
		}
	}
	doc := diff.Doc{Name: diff.DocName(x.Plan.Result), Live: x.Live, Result: x.Plan.Result}
	for _, o := range []diff.Options{{}, {ShowManagedFields: true, Color: true}} {
		if _, err := diff.Unified(&b, doc, o); err != nil {
			t.Fatal(err)
		}
	}
	e := diff.Explain(x)
	fmt.Fprintln(&b, e.Table(0, false), e.Table(80, false), e.Table(160, true), show(t, e))
	return b.String() + comment(t, diff.MarkdownOptions{}, diff.Section{Report: x, Doc: doc, Outcome: "configured"})
}

// planter makes Secrets whose every value is remembered.
type planter struct {
	*rand.Rand
	planted []string
}

func (p *planter) value() string {
	s := fmt.Sprintf("hunter-%d-%d", p.Uint32(), p.Uint32())
	p.planted = append(p.planted, s, base64.StdEncoding.EncodeToString([]byte(s)), url.QueryEscape(s))
	return s
}

func (p *planter) fields() map[string]any {
	m := map[string]any{}
	for _, name := range []string{"data", "stringData"} {
		switch p.IntN(8) {
		case 0:
		case 1:
			m[name] = p.value() // no map, which the server would refuse
		case 2:
			m[name] = []any{p.value()}
		default:
			values := map[string]any{}
			for _, k := range []string{"a", "b/c", "d"} {
				switch p.IntN(6) {
				case 0:
				case 1:
					values[k] = nil
				case 2:
					values[k] = map[string]any{"x": p.value()}
				case 3:
					values[k] = base64.StdEncoding.EncodeToString([]byte(p.value()))
				default:
					values[k] = p.value()
				}
			}
			m[name] = values
		}
	}
	return m
}

func (p *planter) secret() map[string]any {
	s := p.fields()
	s["apiVersion"], s["kind"] = "v1", "Secret"
	meta := map[string]any{"name": "s"}
	s["metadata"] = meta
	if p.IntN(2) == 0 {
		kept, _ := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"}, "stringData": map[string]any{"a": p.value()}})
		text := string(kept)
		if p.IntN(3) == 0 {
			text = text[:len(text)-p.IntN(3)] // cut off by some tool
		}
		meta["annotations"] = map[string]any{"kubectl.kubernetes.io/last-applied-configuration": text}
	}
	return s
}

// object is a Secret, or something that has Secrets inside.
func (p *planter) object(shape int) any {
	switch shape {
	case 0:
		return map[string]any{"apiVersion": "v1", "kind": "List", "items": []any{p.secret(), p.secret()}}
	case 1:
		return map[string]any{"apiVersion": "template.openshift.io/v1", "kind": "Template", "objects": []any{p.secret()}, "one": p.secret()}
	}
	return p.secret()
}

// TestSilent is law 8: a planted secret value appears in no form.
func TestSilent(t *testing.T) {
	seed := rand.Uint64()
	p := &planter{Rand: rand.New(rand.NewPCG(seed, 0))}
	for range 3000 {
		p.planted = p.planted[:0]
		shape := p.IntN(5) // the sides of a merge are of one kind
		local := p.object(shape)
		original, live := local, local
		for _, side := range []*any{&original, &live} {
			switch p.IntN(3) {
			case 0:
				*side = p.object(shape)
			case 1:
				*side = nil
			}
		}
		if live == nil {
			original = nil // it will be created: there is nothing to compare with
		}
		policy := merge.Policies[p.IntN(len(merge.Policies))]
		plan := merge.Three(merge.Triple{Original: original, Local: local, Live: live}, nil, policy, true)
		for _, d := range plan.Conflicts {
			plan.Removed = append(plan.Removed, merge.Removal{Path: d.Path, Value: d.Live.Value})
		}
		plan.Undecided = plan.Removed
		out := forms(t, diff.Report{Object: "secret/s", Local: local, Live: live, Plan: plan})
		for _, s := range p.planted {
			if i := strings.Index(out, s); i >= 0 {
				t.Fatalf("seed %d: %s shows in\n%s\nlocal %s\nlive %s\noriginal %s", seed, s, out[max(0, i-300):min(len(out), i+80)], show(t, local), show(t, live), show(t, original))
			}
		}
	}
}

func TestShowSecrets(t *testing.T) {
	x := reportOf(t, "strict", nil, read(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"a":"bmV3"}}`),
		read(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"a":"b2xk"}}`))
	for _, shown := range []bool{false, true} {
		x.ShowSecrets = shown
		notes := yamlText(diff.Conflicts(x))
		if got := strings.Contains(notes, "b2xk"); got != shown {
			t.Errorf("shown %v: %s", shown, notes)
		}
		if !shown && (!strings.Contains(notes, `"*** (before)"`) || !strings.Contains(notes, `"*** (after)"`)) {
			t.Errorf("a change is not recognisable: %s", notes)
		}
	}
}

// TestNothingDrivesTheTerminal: whatever stands in names and values, no control
// character but newline and tab is printed.
func TestNothingDrivesTheTerminal(t *testing.T) {
	const evil = "\x1b[2J\u009b31m\x07\u202e\r\u2066x"
	obj := func(v string) any {
		return map[string]any{"apiVersion": "v1" + evil, "kind": "X" + evil, "metadata": map[string]any{"name": evil}, evil: v, "l": []any{v}}
	}
	for _, policy := range []string{"apply", "strict"} {
		x := reportOf(t, policy, obj(evil), obj(evil+"1"), obj(evil+"2"))
		x.Object = "x/" + evil
		owner := &merge.Owner{Manager: evil}
		for i := range x.Plan.Settled {
			x.Plan.Settled[i].Owner, x.Plan.Settled[i].Rule = owner, evil
		}
		for i := range x.Plan.Because {
			x.Plan.Because[i].Owner = owner
		}
		out := strip(forms(t, x))
		for i, r := range out {
			if r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x2066) {
				t.Fatalf("%U in %q", r, out[max(0, i-100):i+20])
			}
		}
	}
}
