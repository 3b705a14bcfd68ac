package cluster

import (
	"context"
	"fmt"
	"time"
)

// Pauses obey a server that asks to wait before a request is sent again (Retry-After).
type Pauses struct {
	Most time.Duration // in total; see Cluster.Patience

	waited time.Duration
}

// Obey pauses as long as an answer asks for; asked is false if it does not ask. The error is the
// answer's if the pauses exceed Most, and the context's if that ends.
func (p *Pauses) Obey(ctx context.Context, answer error) (asked bool, err error) {
	pause, asked := RetryAfter(answer)
	if !asked {
		return false, nil
	}
	if p.waited += pause; p.waited > p.Most {
		return true, fmt.Errorf("%w (it has asked to be waited for more than %s in all)", answer, p.Most)
	}
	select {
	case <-time.After(pause):
		return true, nil
	case <-ctx.Done():
		return true, ctx.Err()
	}
}
