// Package cli turns command lines into jobs, one verb per file, and reports what
// became of them. It refuses to merge, and to call an API server itself.
package cli
