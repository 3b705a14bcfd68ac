// Package ownership reads metadata.managedFields (KEP-555): who owns a value of an object,
// and what a manager applied. It is the only place that knows how FieldsV1 spells a path.
// It refuses to decide which side of a merge wins, and to write anything.
package ownership
