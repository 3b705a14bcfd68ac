// Package lastapplied may change with a minor version until 1.0.0. It reads, writes, shortens and
// replaces the annotation kubectl.kubernetes.io/last-applied-configuration. It prepares objects
// around it: server-owned metadata is stripped, a Secret's stringData read as data, and an
// original read from managedFields. It refuses to edit its inputs, to merge, to compare and to
// contact an API server. Every function returns a new object that may share memory with the old
// one.
//
// Values are JSON values as merge.ReadJSON gives them.
package lastapplied
