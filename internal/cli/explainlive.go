package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// namesAndFields are the arguments that name objects, TYPE/NAME, and those that name fields:
// paths have a slash within brackets alone.
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

// lastApplied are the objects that are named, as they were applied last: what a merge of the
// same files would have as local.
func (v *explainVerb) lastApplied(ctx context.Context, names []string) ([]object.Object, error) {
	switch {
	case len(names) == 0:
		return nil, nil
	case v.inputs.given():
		return nil, fmt.Errorf("%s: give one of -f, for the objects of files, and TYPE/NAME, for what was applied last", strings.Join(names, " "))
	case len(v.live) > 0:
		return nil, fmt.Errorf("--live: %s is looked for in a cluster: name the file with -f", strings.Join(names, " "))
	}
	k := &targetVerb{env: v.env, validate: "ignore", manager: defaultManager}
	if err := k.open(ctx); err != nil {
		return nil, err
	}
	targets, err := k.find(ctx, names)
	if err != nil {
		return nil, err
	}
	errs := k.Read(ctx, targets)
	var out []object.Object
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
			errs[i] = fmt.Errorf("%s: has no last-applied-configuration annotation: give the file that will be merged: kubectl merge explain -f FILE", t)
		case was.State == lastapplied.Blanked:
			errs[i] = fmt.Errorf("%s: its annotation does not keep the values: give the file that will be merged: kubectl merge explain -f FILE", t)
		default:
			out = append(out, object.Object{Value: value}.InNamespace(t.Namespace))
		}
	}
	return out, errors.Join(errs...)
}
