package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// planner returns the Planner that the flags ask for, without schemas: see definitions.
func (c *call) planner(ctx context.Context) (*apply.Planner, error) {
	policy, err := c.chosenPolicy()
	if err != nil {
		return nil, err
	}
	by, err := strategy.Named(c.strategy)
	if err != nil {
		return nil, err
	}
	originals, err := c.originals(ctx)
	if err != nil {
		return nil, err
	}
	rules, err := c.readRules(ctx)
	if err != nil {
		return nil, err
	}
	p := &apply.Planner{Policy: policy, Strategy: by, Original: originals, Manager: c.manager, Validate: apply.Validation(c.validate), Locate: source.At, Writing: apply.ClientSide{}}
	if c.serverSide {
		p.Writing = apply.ServerSide{}
	}
	if rules != nil {
		p.Rules = &apply.UserRules{File: c.rules, Rules: rules, Values: c.secretValues()}
	}
	return p, nil
}

// chosenPolicy returns the policy that the flags ask for. With --server-side it sets the default of
// --field-manager, too.
func (c *call) chosenPolicy() (merge.Policy, error) {
	name := c.policy
	switch from, _, _ := strings.Cut(c.original, "="); {
	case c.serverSide && strings.HasPrefix(c.original, releasePrefix):
		return merge.Policy{}, fmt.Errorf("--original=%s: with --server-side what was applied last is what managedFields list: --original=managed-fields=helm takes over what Helm has set", c.original)
	case c.serverSide && from != string(apply.Auto) && from != string(apply.ManagedFields):
		return merge.Policy{}, fmt.Errorf("--original=%s: with --server-side what was applied last is what managedFields list: auto, or managed-fields[=MANAGER,…] for what kubectl and the managers that you name have set as well", c.original)
	case c.asks(), !c.overwrite, c.serverSide && !c.force && !c.given("policy"):
		name = "strict" // the merge itself leaves conflicts; see ask
	}
	if c.serverSide && !c.given("field-manager") {
		c.manager = apply.ServerManager
	}
	return merge.PolicyNamed(name)
}

// compares sets the flags that a verb without them, which writes no object, has: by the policy apply, with
// --server-side, too, values of others are differences.
func (c *call) compares() {
	c.original, c.policy, c.overwrite, c.force, c.guard, c.cascade = string(apply.Auto), merge.Policies[0].Name, true, true, "off", "background"
}

// sides are words of other programs for the sides of a merge, each with the policy by which that side wins.
var sides = map[string]string{"theirs": "live", "cluster": "live", "remote": "live", "ours": "apply", "local": "apply", "force": "apply"}

func policies() string {
	return strings.Join(each(merge.Policies, func(p merge.Policy) string { return p.Name }), ", ")
}

func strategies() string {
	return strings.Join(each(strategy.Strategies, func(s strategy.Strategy) string { return s.Name + " (" + s.Help + ")" }), ", ")
}

// asks reports whether conflicts are settled on the terminal.
func (c *call) asks() bool { return c.policy == "ask" }

// definitions reads the schema files.
func (c *call) definitions(ctx context.Context) (*apply.Definitions, error) {
	defs := &apply.Definitions{}
	for _, name := range c.schemas {
		if err := addSchemas(ctx, defs, name); err != nil {
			return nil, fmt.Errorf("--schema: %w", err)
		}
	}
	return defs, nil
}

// maxSchemaFile bounds the size of a schema file: reading one takes forty times its size, and all
// of Kubernetes has 4 MiB.
const maxSchemaFile = 64 << 20

func addSchemas(ctx context.Context, defs *apply.Definitions, name string) error {
	text, err := source.ReadNamed(ctx, name)
	if err != nil {
		return fmt.Errorf("%w: check the name after --schema", err)
	}
	if len(text) > maxSchemaFile {
		return fmt.Errorf("%s: is larger than %d MiB: give the schemas of the kinds that are merged, and no others", name, maxSchemaFile>>20)
	}
	docs, err := source.Decode(text)
	if err == nil && len(docs) == 0 {
		err = errors.New("is empty")
	}
	for i := 0; err == nil && i < len(docs); i++ {
		err = defs.Add(docs[i].Value)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (c *call) readRules(ctx context.Context) (schema.Rules, error) {
	if c.rules == "" {
		return nil, nil
	}
	text, err := source.ReadNamed(ctx, c.rules)
	if err != nil {
		return nil, fmt.Errorf("--rules: %w: check the name after --rules", err)
	}
	rules, err := schema.ParseRules(text)
	if err != nil {
		return nil, errors.Join(each(leaves(err), func(one error) error { return fmt.Errorf("--rules %s: %w", c.rules, one) })...)
	}
	return rules, nil
}

func (c *call) originals(ctx context.Context) (apply.Originals, error) {
	switch from := apply.From(c.original); from {
	case apply.Auto, apply.Annotation, apply.ManagedFields, apply.None:
		return apply.Originals{From: from}, nil
	}
	if names, ok := strings.CutPrefix(c.original, string(apply.ManagedFields)+"="); ok {
		managers := &ownership.Managers{Names: strings.Split(names, ",")}
		if slices.Contains(managers.Names, "") {
			return apply.Originals{}, fmt.Errorf("--original=%s: names no manager between two commas or at an end: name field managers, as kubectl get --show-managed-fields has them", c.original)
		}
		return apply.Originals{From: apply.ManagedFields, Managers: managers}, nil
	}
	if name, ok := strings.CutPrefix(c.original, releasePrefix); ok {
		return c.releaseOriginals(ctx, name)
	}
	if c.original == "-" {
		return apply.Originals{}, errors.New("--original: is read from a file, and not from standard input: name one, or one of auto, annotation, managed-fields, helm:RELEASE and none")
	}
	saved, err := source.ReadSaved(ctx, source.Inputs{Files: []string{c.original}, Flag: "--original", Values: c.secretValues()})
	if err != nil {
		what := "--original=" + c.original
		if _, missing := os.Stat(c.original); missing != nil {
			what += ": is none of auto, annotation, managed-fields, helm:RELEASE and none, and as a file"
		}
		return apply.Originals{}, errors.Join(each(leaves(err), func(one error) error { return fmt.Errorf("%s: %w", what, one) })...)
	}
	return apply.Originals{From: apply.File, Saved: saved.Find}, nil
}

// fieldValidation maps it to the server's spelling.
var fieldValidation = map[apply.Validation]string{apply.Strict: "Strict", apply.Warn: "Warn", apply.Ignore: "Ignore"}
