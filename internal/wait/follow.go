package wait

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/follow"
)

// update is the news about a source.
type update struct {
	follow.Update
	source source
	note   string // what limits the wait's view
}

// polling is the interval in which objects are read that may not be watched.
const polling = 2 * time.Second

// run sends the updates of a source to a board until ctx ends. keep reduces objects.
func (s source) run(ctx context.Context, api *cluster.Cluster, keep func(map[string]any) map[string]any, silence time.Duration, updates chan<- update) {
	send := func(ctx context.Context, u follow.Update) {
		one := update{Update: u, source: s}
		switch {
		case u.Note != "":
			one.note = u.Note
		case u.Trouble != nil:
			one.note = u.Trouble.Error() + ": trying again"
		case u.Denied != nil && s.Names == nil:
			one.note = "the wait cannot report why pods are not ready: " + u.Denied.Error()
		}
		select {
		case updates <- one:
		case <-ctx.Done():
		}
	}
	if s.class != "" {
		s.readClass(ctx, api, send)
		return
	}
	(&follow.Follower{API: api, Source: s.Source, Keep: keep, Send: send, Every: polling, Silence: silence}).Run(ctx)
}

// confirm reads all sources that have not just been read. If all objects are ready, it reads only
// these, otherwise also what shows why they are not. What cannot be read keeps its known state.
func (b *board) confirm(ctx context.Context, all []source) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detailTime)
	defer cancel()
	ready := b.end() == allReady
	all = slices.DeleteFunc(slices.Clone(all), func(s source) bool { return b.read[s.Watching] || ready && s.Names == nil })
	updates, errs := make([]update, len(all)), make([]error, len(all))
	var group sync.WaitGroup
	for i, s := range all {
		group.Go(func() {
			updates[i].source = s
			updates[i].Update, errs[i] = (&follow.Follower{API: b.API, Source: s.Source, Keep: s.keep}).Read(ctx)
		})
	}
	group.Wait()
	for i, u := range updates {
		if errs[i] == nil && u.Whole {
			b.take(u, time.Now())
		}
	}
	b.judgeAll(time.Now())
}

// keep reduces an object to the fields that the board needs; nil for a kind that the board ignores.
func (s source) keep(obj map[string]any) map[string]any {
	switch {
	case s.Has(obj):
		return obj
	case helps(s.Kind):
		return reduced(s.Kind, obj)
	}
	return nil
}

func helps(kind string) bool { return kind == kindPod || kind == kindReplicaSet || kind == kindEvent }

// readClass reads a StorageClass. Users who may not read it have the events of the claim.
func (s source) readClass(ctx context.Context, api *cluster.Cluster, send func(context.Context, follow.Update)) {
	obj, err := api.Get(ctx, cluster.Target{Resource: classResource, Name: s.class})
	if err == nil {
		send(ctx, follow.Update{Objects: []map[string]any{obj}})
	}
}
