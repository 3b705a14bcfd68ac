// Package sweep merges what package gen makes up, all of it: every edit of every
// list, map, atomic value and one-of group of every built-in kind and of custom
// resources of many shapes, and random objects, and holds each outcome to the
// laws. It refuses to be imported; all there is are tests.
package sweep
