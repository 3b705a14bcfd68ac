// Package diff may change with a minor version until 1.0.0. It reports a plan: first as data
// (Note, Explanation), then in forms for people or programs. These are notes and conflicts in
// words, an explanation, a unified diff, and a Markdown comment. It refuses to compute what
// should change, to decide anything, and to print a Secret's value in any form.
//
// A note is data until Note.Text puts it into words; a finished text is not edited. Values
// are JSON values as merge.ReadJSON gives them; none is ever modified.
package diff
