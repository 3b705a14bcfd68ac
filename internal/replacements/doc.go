// Package replacements copies fields from one object into others, as kustomize's
// replacements do, by kustomize's own filter. It refuses what kustomize
// accepts silently: unknown keys, and a mapping or list put into a scalar. It reads
// no cluster: a function given by the caller finds sources that are not among the
// objects.
package replacements
