// Package diff says a plan in a form: a merge patch or a JSON patch, a unified
// diff, notes, conflicts, an explanation, a Markdown comment, YAML. It refuses to
// compute what should change, to decide anything, and to print a Secret's value
// in any form that is meant for reading (patches and YAML are data, and say what
// they are given; Mask comes first where people read them).
//
// Values are JSON values as merge.ReadJSON gives them; none is ever modified.
package diff
