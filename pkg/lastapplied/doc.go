// Package lastapplied reads, writes, shortens and replaces the annotation
// kubectl.kubernetes.io/last-applied-configuration, and prepares objects around
// it: server-owned metadata stripped, a Secret's stringData read as data, an
// original worked out from managedFields. It refuses to edit its inputs (every
// function returns a new object that may share memory with the old one), to
// merge, to compare and to contact an API server.
//
// Values are JSON values as merge.ReadJSON gives them.
package lastapplied
