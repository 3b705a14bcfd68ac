package cli

import (
	"context"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
)

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
	var stated []object.Object
	for _, item := range p.Items {
		stated = append(stated, item.Object)
	}
	if rest := c.released.Without(stated); len(rest) > 0 {
		c.note("--original="+c.original, "objects of the release that are not in the input stay: "+listed(rest))
	}
}
