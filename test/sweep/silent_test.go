package sweep

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	types "github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// forms write what is reported of a merge, each in its way.
var forms = map[string]func(w io.Writer, s diff.Section) error{
	"notes": func(w io.Writer, s diff.Section) error {
		for _, n := range append(diff.Notes(s.Report), diff.Conflicts(s.Report)...) {
			text, err := json.Marshal(n)
			if err != nil {
				return err
			}
			fmt.Fprintln(w, n.String(), string(text), n.Sides(80), n.Sides(0))
			if err := n.Compare(w, false); err != nil {
				return err
			}
		}
		return nil
	},
	"diff": func(w io.Writer, s diff.Section) error {
		_, err := diff.Unified(w, s.Doc, diff.Options{ShowManagedFields: true})
		return err
	},
	"texts": func(w io.Writer, s diff.Section) error {
		live, result, err := diff.Texts(s.Doc, diff.Options{ShowManagedFields: true})
		fmt.Fprintln(w, live, result)
		return err
	},
	"markdown": func(w io.Writer, s diff.Section) error {
		c := diff.NewComment(diff.MarkdownOptions{Diff: diff.Options{ShowSecrets: true}})
		if err := c.Add(s); err != nil {
			return err
		}
		return c.Write(w)
	},
	"explain": func(w io.Writer, s diff.Section) error {
		_, err := io.WriteString(w, diff.Explain(s.Report).Table(0, false))
		return err
	},
	"explain as JSON": func(w io.Writer, s diff.Section) error {
		return json.NewEncoder(w).Encode(diff.Explain(s.Report))
	},
	"masked": func(w io.Writer, s diff.Section) error {
		a, b := redact.Mask(s.Live, s.Plan.Result, nil)
		return json.NewEncoder(w).Encode([]any{a, b})
	},
}

// mark stands in every planted value, and nowhere else.
const mark = "Xq7Zw9Kp4"

// secrets makes a triple of Secrets whose values are planted, on live a second time
// in the annotation of kubectl apply. A value may be what the API would refuse: a
// map, a list, a text that is no base64.
func secrets(m gen.Maker, typ *merge.Type, k types.Kind) merge.Triple {
	in := m.Triple(k, typ)
	n := 0
	for _, side := range []*any{&in.Original, &in.Local, &in.Live} {
		o, ok := (*side).(map[string]any)
		if !ok {
			continue
		}
		for _, field := range []string{"data", "stringData", "stringdata"} {
			if values, ok := o[field].(map[string]any); ok || n%5 == 0 && field != "data" {
				o = with(o, field, planted(values, field, &n))
			}
		}
		*side = o
	}
	if live, ok := in.Live.(map[string]any); ok {
		meta, _ := live["metadata"].(map[string]any)
		notes, _ := meta["annotations"].(map[string]any)
		text := shown(in.Original)
		in.Live = with(live, "metadata", with(meta, "annotations", with(notes, "kubectl.kubernetes.io/last-applied-configuration", text)))
	}
	return in
}

func with(m map[string]any, name string, v any) map[string]any { return but(m, name, v, false) }

// planted are as many values as there were, or one; n numbers them.
func planted(was map[string]any, field string, n *int) map[string]any {
	out := map[string]any{}
	keys := []string{"password"}
	for key := range was {
		keys = append(keys, key)
	}
	for _, key := range keys {
		*n++
		text := fmt.Sprintf("%s\n%d", strings.Repeat(mark+" ", 1+*n%3), *n/2) // so that some are the same on two sides
		switch {
		case *n%11 == 0:
			out[key] = map[string]any{"inner": text}
		case *n%13 == 0:
			out[key] = []any{text}
		case field == "data" && *n%7 > 0:
			out[key] = base64.StdEncoding.EncodeToString([]byte(text))
		default:
			out[key] = text
		}
	}
	return out
}

// leaks says where a planted value shows, in what is reported of a merge or in its
// error; show asks for values, as --show-secrets does.
func leaks(k kind, in merge.Triple, show bool) []string {
	var found []string
	search := func(where, text string) {
		for skip := range 3 {
			e := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", skip) + mark))
			if part := e[(skip*8+5)/6 : (skip+len(mark))*8/6]; strings.Contains(text, part) {
				found = append(found, where+" shows a value in base64:\n"+text)
			}
		}
		if strings.Contains(text, mark) {
			found = append(found, where+" shows a value:\n"+text)
		}
	}
	for _, policy := range merge.Policies {
		out, err := strategy.Plan(strategy.Input{Triple: in, Group: k.Group, Version: k.Version, Kind: k.Kind.Kind, Schema: k.typ, Policy: policy, Trace: true})
		if err != nil {
			search("the error under "+policy.Name, err.Error())
			continue
		}
		reported := diff.Report{Object: "secret/made", Local: in.Local, Live: in.Live, Plan: out.Plan, Ignored: out.Ignored, Uncompared: out.Uncompared, ShowSecrets: show}
		for form, write := range forms {
			var b bytes.Buffer
			if err := write(&b, diff.Section{Report: reported, Doc: diff.Doc{Name: "secret/made", Live: in.Live, Result: out.Result}, Outcome: "configured"}); err != nil {
				search(form+"'s error under "+policy.Name, err.Error())
			}
			search(form+" under "+policy.Name, b.String())
		}
	}
	return found
}

func secretKind(t testing.TB) kind {
	t.Helper()
	for _, k := range builtin(t) {
		if k.Group == "" && k.Kind.Kind == "Secret" {
			return k
		}
	}
	t.Fatal("no Secret among the built-in kinds")
	return kind{}
}

// TestSilentForms looks for planted values of random Secrets in every form in which
// a merge is reported, under every policy.
func TestSilentForms(t *testing.T) {
	k := secretKind(t)
	var bad failures
	random(t, *count/200, func(i int) {
		for _, leak := range leaks(k, secrets(gen.New(*seed, uint64(i)), k.typ, k.Kind), false) {
			bad.add("triple %d of -sweep.seed=%d: %s", i, *seed, leak)
		}
	})
	bad.report(t)
	shows := 0
	for i := range 20 {
		shows += len(leaks(k, secrets(gen.New(*seed, uint64(i)), k.typ, k.Kind), true))
	}
	if shows == 0 {
		t.Error("nothing is found where values are shown: the search is blind")
	}
}

// FuzzSilent is the same for whatever series is drawn.
func FuzzSilent(f *testing.F) {
	k := secretKind(f)
	f.Add(uint64(1), uint64(1))
	f.Fuzz(func(t *testing.T, seed, series uint64) {
		for _, leak := range leaks(k, secrets(gen.New(seed, series), k.typ, k.Kind), false) {
			t.Error(leak)
		}
	})
}
