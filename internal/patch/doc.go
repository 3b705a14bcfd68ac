// Package patch writes the difference of two objects as a JSON merge patch (RFC 7386) or a
// JSON patch (RFC 6902), and applies the first. It refuses to decide what should change, and
// to mask anything: a patch is data.
//
// Values are JSON values as merge.ReadJSON gives them; none is ever modified.
package patch
