// Package corpus holds merge cases: one txtar archive for each, with what it
// shows, why the outcome is right, the sides, and the outcome to the letter. It
// refuses to merge by itself and to touch a server: it reads cases, has them
// merged by pkg/strategy, and spells what comes out.
//
// A case is cases/GROUP/NAME.txtar:
//
//	title: what happens, in one line
//	why: the rule, and what it is good for
//	kind: apps/v1 Deployment
//	-- original.yaml --
//	-- local.yaml --
//	-- live.yaml --
//	-- result.yaml --
//	-- changes --
//	-- reported --
//	-- patch.json --
//
// Further lines before the first file: policy, strategy, manager (the field
// manager that applies), schema (a CRD, in the archive or beside it), original
// (managed-fields, where it is read from live's, or managed-fields alone,
// without what others hold too), blanked (original's values are
// ""). rules.yaml holds rules. A line that begins with a space goes on with the
// one above. A side that is missing is not there; sides may be .json, for numbers
// that YAML spells otherwise.
//
// The last four files (and error, where there is no merge) are the outcome; go
// test -update writes them. metadata.managedFields is left out of result.yaml: it
// is always live's.
package corpus
