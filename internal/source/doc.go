// Package source reads objects from files, directories, URLs, standard input,
// kustomizations and saved live objects. It decides nothing about a field, and refuses
// ambiguous input: duplicate keys, numbers that would be rounded, duplicate objects.
package source
