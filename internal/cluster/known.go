package cluster

import "context"

// Known gives the resource of a kind in the version that the server prefers, as far as
// discovery is known already: what was added to the server since is not looked for. It is
// false, without a reason, where the server has no such kind or does not answer.
func (c *Cluster) Known(ctx context.Context, group, kind string) (Resource, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.searchGroup(ctx, group, func(r Resource) bool { return r.Kind == kind })
	return r, err == nil && r.Plural != ""
}
