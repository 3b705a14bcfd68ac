// Package schema may change with a minor version until 1.0.0. It describes how the values of an
// object are split into parts that are merged separately. It states which fields a type has,
// which of its lists are keyed, sets or atomic, and when two spellings are one value to the
// server. It refuses to fetch anything: schemas come in as bytes and values, or are compiled in.
//
// The order of sources: the user's rules, the compiled-in built-in types, the server's
// OpenAPI v3, a schema file, and, on request, keys inferred from the values. A value
// without a source is atomic.
package schema

//go:generate go run ./internal/gen -o builtin.table
