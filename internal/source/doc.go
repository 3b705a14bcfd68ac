// Package source reads objects from where they are kept: files, folders, URLs,
// standard input, kustomizations, and saved copies of a cluster. It decides
// nothing about a field, and refuses input that could be read in two ways: a key
// that stands twice, a number that would not survive, the same object twice.
package source
