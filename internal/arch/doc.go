// Package arch holds the project's own rules by machine: which package may import
// which, and that what others can see is documented. It refuses to be imported;
// all there is are tests.
package arch
