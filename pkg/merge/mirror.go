package merge

// mirrored completes a side that states only one field of a pair which the server keeps
// alike: it adds the other field where live has it. Dropping or changing only one would
// leave its mirror, and the server takes that for the value (kubernetes/kubernetes#66450).
// Stating the field as empty, or as null, is stating it. Where live does not have the
// mirror, the server fills it in.
//
// Unlike kubectl: it removes the one field, and the value comes back out of the other.
func mirrored(t *Type, side, live map[string]any) map[string]any {
	out := side
	for _, pair := range t.Mirrored {
		stated, mirror := pair[0], pair[1]
		if _, ok := side[stated]; !ok {
			stated, mirror = mirror, stated
		}
		v, ok := side[stated]
		if _, both := side[mirror]; !ok || both || live[mirror] == nil {
			continue
		}
		if shared(out, side) {
			out = cloneMap(side)
		}
		out[mirror] = v
	}
	return out
}
