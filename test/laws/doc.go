// Package laws holds what came out of a merge against what was promised: wanted,
// gone, kept, settled, sound, gentle and same, with the order of lists and the
// variants of a one-of. It refuses to ask the merge itself how a list is paired
// or what is left of a branch: it works that out again, from the type and the
// sides alone, so that both have to be wrong in the same way to agree.
package laws
