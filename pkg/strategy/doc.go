// Package strategy prepares an object for the merge and picks the way it is
// merged: auto, strategic, json or associative. What belongs to the server is set
// aside, a Secret's stringData is read as data, and built-in exceptions are laid
// over the policy. It refuses to read or send anything, and to choose a schema.
package strategy
