package cli

import (
	"context"
	"errors"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/wait"
)

const waitLong = `Wait until the objects that files or arguments name, or the members of a set, are ready, as
the cluster has them now. Nothing is written. What ready means depends on the kind;
docs/wait.md has the table.

The wait ends at once when an object has failed for good, and after --patience where one
has a problem that lasts longer: an image that cannot be pulled, a container that crashes
repeatedly, a pod that fits on no node. The error names object, pod,
container and the server's message, and the latest warnings about them.

Only permission to list and watch the kinds, and the pods, is needed; where watching is
forbidden, the objects are read every two seconds.

Exit code 0: all are ready; 1: an error; 4: not ready: one has failed, or the time is over.`

const waitExample = `  # After a merge, until everything is ready
  kubectl merge wait -f web.yaml

  # Objects of the cluster by their names
  kubectl merge wait deployment/web

  # At most five minutes, with the end of the log of a container that crashes
  kubectl merge wait -f web.yaml --timeout=5m --logs`

// Unlike kubectl: which waits for a condition that the user has to know.
var _ = registerVerb(verb{
	use: "wait (-f FILE | -k DIRECTORY | TYPE/NAME... | --applyset=NAME)", short: "Wait until objects are ready, or report why they are not", long: waitLong, example: waitExample,
	inputs: "wait for", args: objectArgs, takes: (*call).checkWait, run: (*call).wait,
})

func (c *call) wait(ctx context.Context) error {
	rules, err := c.readRules(ctx)
	if err != nil {
		return err
	}
	at, err := c.reach()
	if err != nil {
		return err
	}
	objects, err := c.waitedFor(ctx, at)
	if err != nil {
		return err
	}
	for i := range objects {
		objects[i].Rule = waitRule(rules, objects[i].Target)
	}
	c.line = c.progress()
	return waitReport{call: c, notes: c.reporter(), stdout: true}.wait(ctx, &wait.Waiter{API: at.Cluster, Type: at.Type}, objects)
}

func (c *call) checkWait() error {
	switch {
	case c.set.name == "" && len(c.args) == 0 && !c.inputs.given():
		return errors.New("must specify one of -f, -k, TYPE/NAME and --applyset")
	case c.inputs.given() && len(c.args) == 0:
		return c.inputs.validate()
	}
	return c.checkNamed()
}

// waitedFor returns the objects that the flags or the arguments name.
func (c *call) waitedFor(ctx context.Context, at reached) (all []wait.Object, err error) {
	switch {
	case c.set.name != "":
		return c.members(ctx, at.Cluster)
	case len(c.args) > 0:
		_, targets, err := c.find(ctx)
		for _, t := range targets {
			all = append(all, wait.Object{Target: t.Target})
		}
		return all, err
	}
	objects, bad, err := c.readLocal(ctx)
	if err = errors.Join(err, bad); err != nil {
		return nil, err
	}
	located, err := at.live.Resolve(ctx, objects)
	for _, l := range located {
		all = append(all, wait.Object{Target: l.Target})
	}
	return all, err
}

// members returns the members of the set.
func (c *call) members(ctx context.Context, api *cluster.Cluster) ([]wait.Object, error) {
	set, err := c.readSet(ctx, c.set, api)
	if err == nil {
		err = set.Existing()
	}
	if err != nil {
		return nil, err
	}
	found, err := set.Everyone(ctx, parallel.Limit)
	var all []wait.Object
	for _, m := range found {
		o := wait.Object{Target: m.Target}
		if m.Deleting == "" { // otherwise it is read again: no kind is ready while it is deleted
			o.UID = m.UID
		}
		all = append(all, o)
	}
	return all, err
}
