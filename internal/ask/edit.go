package ask

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// edit asks for a value and puts it into local, so that it counts as applied. An empty line is not
// a value, and repeats the question. A Secret's value is typed unseen, and nothing is written to a
// file.
func (a *Asker) edit(ctx context.Context, q question) (done bool, err error) {
	t, path := q.item.Target, q.conflict.Path
	secret := redact.IsSecretKind(t.Group, t.Kind) && len(path) == 2 && path[0].Name == "data"
	var text string
	if secret {
		path = merge.Path{merge.Named("stringData"), path[1]} // it overrides data, and needs no base64
		text, err = a.Terminal.Hidden(ctx, "Value (as text, not shown; empty: back): ")
	} else {
		text, err = a.Terminal.Prompt(ctx, "Value (YAML on one line; empty: back): ")
	}
	if err != nil || text == "" {
		return false, err
	}
	var value any = text
	if !secret {
		if value, err = q.parse(text); err != nil {
			a.print("error: " + escape.Line(err.Error()))
			return false, nil
		}
	}
	local, err := merge.Put(q.item.Object.Value, path, value)
	if err != nil {
		a.print("error: cannot be put into local: " + escape.Line(err.Error()))
		return false, nil
	}
	q.item.Object.Value = local
	a.settle(q, merge.TakeLocal)
	a.pass(q, "the value typed")
	return true, nil
}

// parse reads the typed text as YAML. If both sides have text it is text, so that 5 need not be
// quoted to become an environment variable's value.
func (q question) parse(typed string) (any, error) {
	docs, err := source.Decode([]byte(typed))
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("is not one value")
	}
	v := docs[0].Value
	if _, text := v.(string); !text && merge.IsScalar(v) && isText(q.conflict.Local) && isText(q.conflict.Live) {
		return strings.TrimSpace(typed), nil
	}
	return v, nil
}

func isText(o merge.Opt) bool {
	_, text := o.Value.(string)
	return text || !o.Set || o.Value == nil
}

// remember keeps an answer as a rule. If a rule asked for the conflict, that rule is kept: its
// author wants to be asked.
func (a *Asker) remember(q question, winner merge.Choice) {
	if q.conflict.Rule != "" {
		return
	}
	rule := map[string]any{
		"path":     q.conflict.Path.String(),
		"kind":     q.item.Target.Kind,
		"apiGroup": q.item.Target.Group,
		"name":     q.item.Target.Name,
		"winner":   winner.String(),
	}
	if ns := q.item.Target.Namespace; ns != "" {
		rule["namespace"] = ns
	}
	a.rules = append(a.rules, rule)
}

// save appends the answers to a file of rules: the named one, or one that the user names.
func (a *Asker) save(ctx context.Context, file string) error {
	if len(a.rules) == 0 {
		return nil
	}
	if file == "" {
		var err error
		a.print("")
		if file, err = a.Terminal.Prompt(ctx, "Save the answers as rules for --rules? FILE (empty: no): "); err != nil || file == "" {
			return err
		}
	}
	if err := appendRules(ctx, file, a.rules); err != nil {
		return err
	}
	a.print(fmt.Sprintf("note: %d of the answers are in %s: merge with --rules=%s, and they are not asked again", len(a.rules), escape.Line(file), escape.Line(file)))
	return nil
}

// appendRules adds a document of rules to a file, which must contain only rules.
func appendRules(ctx context.Context, file string, rules []any) error {
	was, err := source.ReadNamed(ctx, file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the answers cannot be saved: %w", err)
	}
	if err == nil && was == nil {
		was = []byte{} // an empty file is valid
	}
	if _, err := schema.ParseRules(was); err != nil {
		return fmt.Errorf("the answers cannot be saved: %s: %w: name a file of rules, or a new one", file, err)
	}
	text, err := yamldoc.Encode(rules)
	if err != nil {
		return err
	}
	now := string(was)
	if now != "" {
		now = strings.TrimSuffix(now, "\n") + "\n---\n"
	}
	edited := &filemerge.Edited{Name: file, Old: was, Now: []byte(now + string(text))}
	if err := filemerge.ReplaceAll([]*filemerge.Edited{edited}); err != nil {
		return fmt.Errorf("the answers cannot be saved: %w", err)
	}
	return nil
}
