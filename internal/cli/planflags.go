package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
	"github.com/kubectl-merge/kubectl-merge/pkg/suggest"
)

// defaultManager is the field manager of kubectl apply, so that each of the two tools treats the
// other's applies as its own.
const defaultManager = "kubectl-client-side-apply"

// planFlags determine how objects are merged.
type planFlags struct {
	original  string
	policy    string
	rules     string
	saveRules string
	schemas   []string
	strategy  string
	manager   string
	validate  string
	overwrite bool
	server    serverSideFlags
	guard     guardFlag
	secret    *redact.Values // receives the values of Secrets in files that the flags name; may be nil
}

func (f *planFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.original, "original", "auto", "where what was applied last is found: auto, annotation, managed-fields, managed-fields=MANAGER,… (what these managers own, too), none, or a FILE")
	flags.StringVar(&f.policy, "policy", "apply", "which side wins where local and live disagree: "+policies()+", ask (on the terminal, one by one)")
	flags.StringVar(&f.rules, "rules", "", "FILE with rules that decide which side wins, and how lists are split, for single fields")
	flags.StringVar(&f.saveRules, "save-rules", "", "FILE to append the answers to --policy=ask to, as rules; without it you are asked")
	flags.StringSliceVar(&f.schemas, "schema", nil, "FILE with CustomResourceDefinitions or an OpenAPI document, for kinds that neither the program nor the server knows")
	flags.StringVar(&f.strategy, "strategy", strategy.Strategies[0].Name, "how objects are merged: "+strategies())
	flags.StringVar(&f.manager, "field-manager", defaultManager, "name of the manager used to track field ownership")
	flags.StringVar(&f.validate, "validate", "strict", "how unknown fields are treated: strict (or true: an error), warn, ignore (or false)")
	flags.Lookup("validate").NoOptDefVal = "strict"
	flags.BoolVar(&f.overwrite, "overwrite", true, "--overwrite=false means --policy=strict")
	f.guard.add(flags)
	f.server.add(flags)
	flags.Bool("openapi-patch", true, "accepted, and has no effect")
	_ = flags.MarkHidden("openapi-patch")
}

// planner returns the Planner that the flags ask for, without schemas: see definitions.
func (f *planFlags) planner(ctx context.Context, policyGiven bool) (*apply.Planner, error) {
	name, err := f.server.policy(f, policyGiven)
	if err != nil {
		return nil, err
	}
	if !f.overwrite {
		if policyGiven && name != "strict" {
			return nil, fmt.Errorf("--overwrite=false means --policy=strict, and --policy=%s asks for something else: give one of them", name)
		}
		name = "strict"
	}
	policy, err := policyNamed(name)
	if err != nil {
		return nil, err
	}
	if f.saveRules != "" && !f.asks() {
		return nil, errors.New("--save-rules: there are answers to save only with --policy=ask")
	}
	by, err := strategy.Named(f.strategy)
	if err != nil {
		return nil, fmt.Errorf("--strategy=%s: %w", f.strategy, err)
	}
	validation, err := validation(f.validate)
	if err := errors.Join(err, f.guard.validate()); err != nil {
		return nil, err
	}
	originals, err := f.originals(ctx)
	if err != nil {
		return nil, err
	}
	rules, err := f.readRules(ctx)
	if err != nil {
		return nil, err
	}
	f.manager = f.server.manager(f.manager)
	p := &apply.Planner{Policy: policy, Strategy: by, Original: originals, Manager: f.manager, Validate: validation, Locate: source.At, Writing: f.server.writing()}
	if rules != nil {
		p.Rules = &apply.UserRules{File: f.rules, Rules: rules, Values: f.secret}
	}
	return p, nil
}

// policies lists the policies.
func policies() string {
	var names []string
	for _, p := range merge.Policies {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// strategies lists the strategies with their effects.
func strategies() string {
	var rows []string
	for _, s := range strategy.Strategies {
		rows = append(rows, s.Name+" ("+s.Help+")")
	}
	return strings.Join(rows, ", ")
}

// asks reports whether conflicts are settled on the terminal. The merge itself leaves them.
func (f *planFlags) asks() bool { return f.policy == "ask" }

func policyNamed(name string) (merge.Policy, error) {
	if name == "ask" {
		name = "strict"
	}
	return knownPolicy(name, "ask")
}

// knownPolicy returns the policy of that name; the error lists the names, and also.
func knownPolicy(name string, also ...string) (merge.Policy, error) {
	policy, err := merge.PolicyNamed(name)
	if err != nil {
		names := append(strings.Split(policies(), ", "), also...)
		err = fmt.Errorf("--policy: unknown policy %q; there are %s%s", name, strings.Join(names, ", "), suggest.Hint(name, names))
	}
	return policy, err
}

// definitions reads the schema files.
func (f *planFlags) definitions(ctx context.Context) (*apply.Definitions, error) {
	defs := &apply.Definitions{}
	for _, name := range f.schemas {
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

func (f *planFlags) readRules(ctx context.Context) (schema.Rules, error) {
	if f.rules == "" {
		return nil, nil
	}
	text, err := source.ReadNamed(ctx, f.rules)
	if err != nil {
		return nil, fmt.Errorf("--rules: %w: check the name after --rules", err)
	}
	rules, err := schema.ParseRules(text)
	if err != nil {
		return nil, fmt.Errorf("--rules %s: %w", f.rules, err)
	}
	return rules, nil
}

func (f *planFlags) originals(ctx context.Context) (apply.Originals, error) {
	switch from := apply.From(f.original); from {
	case apply.Auto, apply.Annotation, apply.ManagedFields, apply.None:
		return apply.Originals{From: from}, nil
	}
	if names, ok := strings.CutPrefix(f.original, string(apply.ManagedFields)+"="); ok {
		managers := strings.Split(names, ",")
		if slices.Contains(managers, "") {
			return apply.Originals{}, fmt.Errorf("--original=%s: names no manager between two commas or at an end: name field managers, as kubectl get --show-managed-fields has them", f.original)
		}
		return apply.Originals{From: apply.ManagedFields, Managers: managers}, nil
	}
	if f.original == "-" {
		return apply.Originals{}, errors.New("--original: is read from a file, and not from standard input: name one, or one of auto, annotation, managed-fields and none")
	}
	saved, err := source.ReadSaved(ctx, source.Inputs{Files: []string{f.original}, Flag: "--original", Values: f.secret})
	if err != nil {
		return apply.Originals{}, fmt.Errorf("--original=%s: is none of auto, annotation, managed-fields and none, and as a file: %w", f.original, err)
	}
	return apply.Originals{From: apply.File, Saved: saved.Find}, nil
}

// validation reads kubectl's spellings too.
func validation(text string) (apply.Validation, error) {
	if on, err := strconv.ParseBool(text); err == nil {
		if on {
			return apply.Strict, nil
		}
		return apply.Ignore, nil
	}
	switch v := apply.Validation(text); v {
	case apply.Strict, apply.Warn, apply.Ignore:
		return v, nil
	}
	return "", fmt.Errorf("--validate=%s: must be one of: strict (or true), warn, ignore (or false)", text)
}

// fieldValidation maps it to the server's spelling.
var fieldValidation = map[apply.Validation]string{apply.Strict: "Strict", apply.Warn: "Warn", apply.Ignore: "Ignore"}
