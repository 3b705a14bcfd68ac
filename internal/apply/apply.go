// Package apply plans the write of one object: from the local object and the live one it computes
// what kubectl merge would write. It finds what was applied last and the type of the kind,
// merges, puts the new last-applied annotation on the result, and prepares the request.
//
// The Planner's Writing says how an object is written (ClientSide, ServerSide, Recorded); the engine
// does not depend on it. Values are exact JSON; pkg/apply is the form for other programs.
//
// The package refuses to read objects and to send anything; the caller supplies the
// source of schemas.
package apply

// DefaultManager is the field manager of kubectl apply: what kubectl apply or this program
// applied counts as applied by both.
const DefaultManager = "kubectl-client-side-apply"
