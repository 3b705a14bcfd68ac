package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
)

// hasInput reports whether flags name the files with local objects.
func (c *call) hasInput() bool { return len(c.inputs.Files) > 0 || c.inputs.Kustomize != "" }

// readsStdin reports whether local is read from standard input.
func (c *call) readsStdin() bool { return slices.Contains(c.inputs.Files, "-") }

// emptied returns an error if standard output is one of the files: a shell has emptied it.
func (c *call) emptied(files ...string) error {
	out, _ := c.Out.(*os.File)
	stdout, _ := out.Stat()
	for _, name := range files {
		if is, err := os.Stat(name); err == nil && stdout != nil && is.Mode().IsRegular() && os.SameFile(is, stdout) {
			way := ""
			if c.cmd.Flags().Lookup("write") != nil {
				way = ", and give -w instead"
			}
			return fmt.Errorf("%s: standard output is written into it, and > empties a file before it is read: restore it%s", name, way)
		}
	}
	return nil
}

// validateInput returns an error unless one of -f and -k is given.
func (c *call) validateInput() error {
	f := &c.inputs
	switch {
	case !c.hasInput() && c.plan != "":
		return errors.New("--plan says what may be written, and not what is merged: give the files, too, with -f or -k")
	case !c.hasInput():
		return c.noInput()
	case len(f.Files) > 0 && f.Kustomize != "":
		return errors.New("only one of -f or -k can be specified: list the files under resources: of the kustomization, or run it twice")
	case f.Kustomize != "" && f.Recursive:
		return errors.New("the -k flag can't be used with -f or -R")
	}
	return c.emptied(f.Files...)
}

// noInput returns the error of a verb without input, which lists all that its usage line has.
func (c *call) noInput() error {
	_, usage, _ := strings.Cut(c.verb.use, "(")
	usage, _, _ = strings.Cut(usage, ")")
	var ways []string
	for way := range strings.SplitSeq(usage, "|") {
		name, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(way, "=", " ")), " ")
		ways = append(ways, strings.TrimSuffix(name, "..."))
	}
	last := len(ways) - 1
	text := fmt.Sprintf("must specify one of %s and %s", strings.Join(ways[:last], ", "), ways[last])
	if c.set.name != "" {
		text += ", beside --applyset: a set is compared with its files"
	}
	if args := c.cmd.Flags().Args(); len(args) > 0 {
		way := "-f web.yaml or deployment/web"
		if _, err := os.Stat(args[0]); err == nil {
			way = "-f " + args[0]
		} else if ways[last] != "TYPE/NAME" {
			way = "-f FILE " + strings.Join(args, " ")
		} else if len(args) > 1 && !strings.ContainsAny(args[0]+args[1], "./[") { // deployment web
			way = "-f FILE or " + args[0] + "/" + args[1]
		}
		text += fmt.Sprintf(", and %q is none of them: write %s", args[0], way)
	}
	return errors.New(text)
}

// mostListed is how many names an error lists; the others are counted.
const mostListed = 8

// listed returns the list of names for an error.
func listed(names []string) string { return suggest.Few(names, mostListed) }

// noObjects returns the error of an input without objects.
func (c *call) noObjects() error {
	if c.inputs.Selector != "" {
		return fmt.Errorf("no objects passed to merge: none of the input matches --selector %q", c.inputs.Selector)
	}
	way := "check the name, or what the file was made by"
	if c.readsStdin() {
		way = "check the command before the pipe"
	}
	return fmt.Errorf("no objects passed to merge: %s: holds no object: %s", listed(c.inputs.Names()), way)
}

// ofMetadata matches a label or annotation, of which users may leave out the brackets.
var ofMetadata = redact.Pattern(`^[^/]*\bmetadata\.(labels|annotations)\.`)

// namesAndFields splits arguments into those that name objects, TYPE/NAME, and those that name
// fields: paths contain a slash only within brackets, or, as JSON pointers, before their first name.
func namesAndFields(args []string) (names, fields []string) {
	for _, arg := range args {
		outside, _, _ := strings.Cut(arg, "[")
		if strings.Contains(outside, "/") && !strings.HasPrefix(arg, "/") && !ofMetadata().MatchString(arg) {
			names = append(names, arg)
			continue
		}
		fields = append(fields, arg)
	}
	return names, fields
}

// checkNamed returns an error for arguments that do not name objects, TYPE/NAME, or name them beside
// files; nil if there are none.
func (c *call) checkNamed() error {
	names := strings.Join(c.args, " ")
	switch {
	case len(c.args) == 0:
		return nil
	case c.release != "":
		return fmt.Errorf("%s: give one of --release, for the objects of its manifest, and TYPE/NAME", names)
	case c.hasInput() && (strings.HasPrefix(names, "spec.") || strings.HasPrefix(names, "metadata.") || strings.HasPrefix(names, "data.")):
		return fmt.Errorf("unexpected argument %q: fields are for explain, absorb and disown, and %s takes whole objects", c.args[0], c.verb.name())
	case c.hasInput() && !strings.Contains(names, "/"):
		return fmt.Errorf("unexpected argument %q: each file is given with its own -f, single fields are for explain, absorb and disown, and what is printed is saved with > FILE", c.args[0])
	case c.hasInput():
		return fmt.Errorf("%s: give one of -f, for the objects of files, and TYPE/NAME, for objects of the cluster", names)
	case len(c.live) > 0:
		return fmt.Errorf("--live: %s is looked for in a cluster: name the file with -f", names)
	case c.set.name != "" && c.verb.name() == "wait":
		return fmt.Errorf("--applyset: %s: %s", names, ownMembers)
	case c.set.name != "":
		return errors.New("--applyset: the other members of the set would be orphaned: compare it with its files, given with -f")
	case len(c.args) == 1 && c.inputs.Selector == "" && !strings.Contains(names, "/"):
		return fmt.Errorf("unexpected argument %q; files are given with -f, objects of the cluster as TYPE/NAME", names)
	}
	bare := slices.IndexFunc(c.args, func(arg string) bool { return !strings.Contains(arg, "/") })
	if bare >= 0 && strings.Contains(names, "/") {
		return fmt.Errorf("unexpected argument %q: it is not TYPE/NAME, as the others are; single fields are for explain, absorb and disown", c.args[bare])
	}
	return nil
}

// objects are those of the files, or the identities of those that are named.
func (c *call) objects(ctx context.Context, api *cluster.Cluster) ([]object.Object, error) {
	if len(c.args) == 0 {
		objects, bad, err := c.readLocal(ctx)
		return objects, errors.Join(bad, err)
	}
	found, err := c.find(ctx, api, c.args)
	return each(found, func(f cluster.Found) object.Object { return f.Identity() }), err
}

// lastApplied returns the named objects as they were applied last, or those of the release: the local side
// of a merge of the same files. nil if none is named.
func (c *call) lastApplied(ctx context.Context) ([]object.Object, error) {
	switch {
	case c.release != "" && len(c.released.Objects) == 0:
		return nil, fmt.Errorf("--release=%s: its manifest has no object that is selected", c.release)
	case c.release != "":
		return c.released.Objects, nil
	case len(c.args) == 0:
		return nil, nil
	}
	k := newTargetVerb(&call{env: c.env, options: options{manager: apply.DefaultManager}})
	k.inputs.Selector = c.inputs.Selector
	err := k.open(ctx)
	if err == nil {
		err = k.add(ctx, c.args)
	}
	if err != nil {
		return nil, err
	}
	k.Merge(ctx)
	file := "give the file that will be merged: kubectl merge " + c.verb.name() + " -f FILE"
	out := []object.Object{}
	for _, item := range k.Items {
		if item.Err != nil {
			continue
		}
		was, t := lastapplied.Read(item.Planned.Live), item.Target
		value, isMap := was.Value.(map[string]any)
		switch {
		case c.output == "blame" && (was.Problem != "" || !isMap || was.State == lastapplied.Blanked):
			out = append(out, t.Identity()) // it has owners all the same
		case was.Problem != "":
			item.Err = fmt.Errorf("%s: %s: %s", t, was.Flaw(), file)
		case !isMap:
			item.Err = fmt.Errorf("%s: has no last-applied-configuration annotation: %s", t, file)
		case was.State == lastapplied.Blanked:
			item.Err = fmt.Errorf("%s: its annotation does not keep the values: %s", t, file)
		default:
			o := object.Object{Value: value}.InNamespace(t.Namespace)
			if _, err := k.cluster.Find(ctx, o.Group(), o.Version(), o.Kind()); errors.As(err, new(*cluster.UnknownKindError)) {
				o.Value["apiVersion"] = t.GroupVersion() // its own is not served any more
			}
			out = append(out, o)
		}
	}
	return out, k.Errs()
}

// releasePrefix begins an --original that is the manifest of a Helm release.
const releasePrefix = string(apply.Helm) + ":"

const withoutFiles = "the release's manifest states the objects: leave one of them out"

var _ = registerFlags(flagRow{
	verbs: "drift", name: "release", group: "apply", at: func(c *call) any { return &c.release }, completes: (*complete.Server).Releases,
	help:     "Helm release whose deployed manifest is compared, instead of files; -n is its namespace",
	excludes: []tie{{"filename", withoutFiles}, {"kustomize", withoutFiles}, {"recursive", withoutFiles}, {"applyset", "a release's objects are no members of a set: leave one of them out"}, {"live", "the release is in a cluster: leave one of them out"}},
})

// releaseOriginals reads a Helm release, whose objects were applied last.
func (c *call) releaseOriginals(ctx context.Context, name string) (apply.Originals, error) {
	flag, selector := "--original="+c.original, "" // which selects from the files: labels may have changed
	if c.release != "" {
		flag, selector = "--release="+name, c.inputs.Selector
	}
	switch {
	case name == "":
		return apply.Originals{}, fmt.Errorf("%s: names no release: helm list shows them", flag)
	case len(c.live) > 0:
		return apply.Originals{}, fmt.Errorf("%s: the release is in a cluster, and --live works without one: save the manifest, and give it with --original=FILE: helm get manifest %s > FILE", flag, name)
	}
	api, err := c.connect()
	if err != nil {
		return apply.Originals{}, err
	}
	ns, err := c.ownNamespace()
	if err != nil {
		return apply.Originals{}, err
	}
	if c.released, err = live.ReadRelease(ctx, api, ns, name, source.Inputs{Selector: selector, Values: c.secretValues()}); err != nil {
		return apply.Originals{}, fmt.Errorf("%s: %w", flag, err)
	}
	if c.released.Newer != "" {
		c.note(flag, c.released.Newer)
	}
	return apply.Originals{From: apply.Helm, Saved: c.released.Find}, nil
}

// releaseRest reports the objects of a release that is the original and of which no file is.
func (c *call) releaseRest(p *run.Plan) {
	if c.released == nil || c.release != "" {
		return
	}
	stated := each(p.Items, func(item *run.Item) object.Object { return item.Object })
	if rest := c.released.Without(stated); len(rest) > 0 {
		c.note("--original="+c.original, "objects of the release that are not in the input stay: "+listed(rest))
	}
}
