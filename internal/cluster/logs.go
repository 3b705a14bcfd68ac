package cluster

import (
	"context"
	"slices"

	"k8s.io/klog/v2"
)

// WithoutBodies returns a context in which the client logs requests without headers and bodies. At
// -v=8 it would otherwise print the values of Secrets, which a warning in a header may quote.
func WithoutBodies(ctx context.Context) context.Context {
	l := klog.FromContext(ctx)
	if l.GetSink() == nil { // nothing is logged
		return ctx
	}
	return klog.NewContext(ctx, l.WithSink(bodiless{l.GetSink()}))
}

// bodiless drops log lines with the body of a request or response, and headers from others.
type bodiless struct{ klog.LogSink }

// Info passes a line on, without headers, unless one of its keys is body.
func (b bodiless) Info(level int, msg string, pairs ...any) {
	if slices.Contains(pairs, any("body")) {
		return
	}
	if i := slices.Index(pairs, any("headers")); i >= 0 {
		pairs = slices.Delete(slices.Clone(pairs), i, min(i+2, len(pairs)))
	}
	b.LogSink.Info(level, msg, pairs...)
}

// WithValues returns a sink that drops bodies as well.
func (b bodiless) WithValues(pairs ...any) klog.LogSink {
	return bodiless{b.LogSink.WithValues(pairs...)}
}

// WithName returns a sink that drops bodies as well.
func (b bodiless) WithName(name string) klog.LogSink { return bodiless{b.LogSink.WithName(name)} }
