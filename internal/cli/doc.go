// Package cli turns command lines into jobs, one verb per file, and reports their outcomes. It
// refuses to merge, and to call an API server itself.
package cli
