// Package apply is stable: what a release has keeps its meaning (docs/versioning.md). It plans
// the write of one object for controllers: from the desired object and the live one, which the
// caller has from an informer's cache, it computes whether anything has to be written, what, why,
// and whose value it replaces. The write is data that client-go or controller-runtime sends.
//
// A Planner is made once and used by all goroutines. Types, which may be shared by several
// Planners, has the types of custom resources; the built-in kinds are compiled in.
//
// The package refuses to read objects, to send anything, and to modify its arguments. Changes,
// warnings and errors hold no value of a Secret.
package apply
