// Package arch checks the project's own rules: which package may import
// which, and that every exported name is documented. It has only tests, and refuses to
// be imported.
package arch
