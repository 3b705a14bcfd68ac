// Package strategy may change with a minor version until 1.0.0. It prepares an object for the
// merge and selects the way it is merged: auto, strategic, json or associative. Server-owned
// fields are set aside, a Secret's stringData is read as data, and built-in exceptions are added
// to the policy. It refuses to read or send anything, and to choose a schema.
package strategy
