package ask

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// remember keeps an answer as a rule. If a rule asked for the conflict, that rule is kept: its
// author wants to be asked.
func (a *Asker) remember(q question, winner string) {
	if q.conflict.Rule != "" {
		return
	}
	rule := map[string]any{
		"path":     q.conflict.Path.String(),
		"kind":     q.item.Target.Kind,
		"apiGroup": q.item.Target.Group,
		"name":     q.item.Target.Name,
		"winner":   winner,
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
	if err := filemerge.Replace(file, was, []byte(now+string(text))); err != nil {
		return fmt.Errorf("the answers cannot be saved: %w", err)
	}
	return nil
}
