package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/target"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// namesAndFields splits arguments into those that name objects, TYPE/NAME, and those that name
// fields: paths contain a slash only within brackets.
func namesAndFields(args []string) (names, fields []string) {
	for _, arg := range args {
		if outside, _, _ := strings.Cut(arg, "["); strings.Contains(outside, "/") {
			names = append(names, arg)
			continue
		}
		fields = append(fields, arg)
	}
	return names, fields
}

// namedArgs holds the arguments of a verb that name objects, TYPE/NAME, instead of files.
type namedArgs struct {
	verb   string // for messages
	args   []string
	inputs *inputFlags // --selector chooses among the objects of a type
	live   []string    // --live
	set    string      // --applyset, where the verb looks for members that are not given
}

// check returns an error for invalid arguments; nil if there are none.
func (n namedArgs) check() error {
	switch {
	case len(n.args) == 0:
		return nil
	case n.inputs.given():
		return fmt.Errorf("%s: give one of -f, for the objects of files, and TYPE/NAME, for objects of the cluster", strings.Join(n.args, " "))
	case len(n.live) > 0:
		return fmt.Errorf("--live: %s is looked for in a cluster: name the file with -f", strings.Join(n.args, " "))
	case n.set != "":
		return errors.New("--applyset: the other members of the set would be orphaned: compare it with its files, given with -f")
	case len(n.args) == 1 && n.inputs.Selector == "" && !strings.Contains(n.args[0], "/"):
		return fmt.Errorf("unexpected argument %q; files are given with -f, objects of the cluster as TYPE/NAME", n.args[0])
	}
	return nil
}

// find returns the named objects; only those that a selector has chosen have been read.
func (n namedArgs) find(ctx context.Context, e *env) (*targetVerb, []target.Target, error) {
	if err := n.check(); err != nil {
		return nil, nil, err
	}
	k := &targetVerb{env: e, validate: "ignore", manager: defaultManager}
	k.inputs.Selector = n.inputs.Selector
	if err := k.open(ctx); err != nil {
		return nil, nil, err
	}
	targets, err := k.find(ctx, n.args)
	return k, targets, err
}

// lastApplied returns the named objects as they were applied last: the local side of a merge of the
// same files. nil if none is named.
func (n namedArgs) lastApplied(ctx context.Context, e *env) ([]object.Object, error) {
	if len(n.args) == 0 {
		return nil, nil
	}
	k, targets, err := n.find(ctx, e)
	if err != nil {
		return nil, err
	}
	file := "give the file that will be merged: kubectl merge " + n.verb + " -f FILE"
	errs, out := k.Read(ctx, targets), []object.Object{}
	for i, t := range targets {
		if errs[i] != nil {
			continue
		}
		was := lastapplied.Read(t.Live)
		value, isMap := was.Value.(map[string]any)
		switch {
		case was.Problem != "":
			errs[i] = fmt.Errorf("%s: %s", t, was.Problem)
		case !isMap:
			errs[i] = fmt.Errorf("%s: has no last-applied-configuration annotation: %s", t, file)
		case was.State == lastapplied.Blanked:
			errs[i] = fmt.Errorf("%s: its annotation does not keep the values: %s", t, file)
		default:
			out = append(out, object.Object{Value: value}.InNamespace(t.Namespace))
		}
	}
	return out, errors.Join(errs...)
}
