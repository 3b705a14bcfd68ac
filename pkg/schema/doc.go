// Package schema describes how the values of an object are split into parts that are
// merged on their own: which fields a type has, which of its lists are keyed,
// sets or atomic, when two spellings are one value to the server. It refuses to
// fetch anything: schemas come in as bytes and values, or are compiled in.
//
// Who is asked first: the user's rules, the compiled-in built-in types, the
// server's OpenAPI v3, a schema file, and, where somebody asked for it, keys
// inferred from the values. What nobody knows is atomic.
package schema

//go:generate go run ./internal/gen -o builtin.table
