package cluster

import (
	"context"
	"slices"

	"k8s.io/klog/v2"
)

// discreet is a context under which the client logs its requests but never what
// they carry: at -v=8 it would otherwise print a Secret's values.
func discreet(ctx context.Context) context.Context {
	l := klog.FromContext(ctx)
	if l.GetSink() == nil { // nothing is logged
		return ctx
	}
	return klog.NewContext(ctx, l.WithSink(bodiless{l.GetSink()}))
}

// bodiless drops log lines that carry a request's or an answer's body.
type bodiless struct{ klog.LogSink }

// Info passes the line on unless one of its keys is body.
func (b bodiless) Info(level int, msg string, pairs ...any) {
	if !slices.Contains(pairs, any("body")) {
		b.LogSink.Info(level, msg, pairs...)
	}
}

// WithValues keeps the promise for loggers made of this one.
func (b bodiless) WithValues(pairs ...any) klog.LogSink {
	return bodiless{b.LogSink.WithValues(pairs...)}
}

// WithName keeps the promise for loggers made of this one.
func (b bodiless) WithName(name string) klog.LogSink { return bodiless{b.LogSink.WithName(name)} }
