// Package diff reports a plan: first as data (Note, Explanation), then in a form that
// people or programs read: notes and conflicts in words, an explanation, a unified diff, a
// Markdown comment. It refuses to compute what should change, to decide anything, and to
// print a Secret's value in any form.
//
// A note is data until Note.Text words it; nothing edits a finished text. Values are JSON
// values as merge.ReadJSON gives them; none is ever modified.
package diff
