// Package gen makes up objects from types alone: random ones for property tests,
// and for every list, map, atomic value and one-of group of a type the edits that
// a merge has to bear. It refuses to know what a merge makes of them, and whether
// an API server would take them: the edits can be made to values of a real object
// too, for those who have one.
package gen
