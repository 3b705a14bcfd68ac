// Package replacements copies fields from one object into others, as kustomize's
// replacements do, by kustomize's own filter. It refuses what kustomize lets
// through in silence: unknown keys, and a mapping or list put into a scalar; and it
// reads no cluster: sources that are not among the objects are asked for.
package replacements
