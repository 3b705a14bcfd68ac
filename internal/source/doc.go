// Package source reads objects from files, directories, URLs, standard input, kustomizations and
// saved live objects, and finds the files that a kustomization is built of. It decides nothing about
// a field, and refuses ambiguous input: duplicate keys, numbers that would be rounded, duplicate
// objects.
package source
