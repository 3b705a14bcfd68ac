package merge

// mirrored gives a side that states one field of a pair which the server keeps alike the
// other one, too. Dropping or changing the one alone would leave its mirror, and the server
// takes that for the value (kubernetes/kubernetes#66450). Stating it as empty, or as null,
// is stating it where live has a mirror: somebody else has filled it in.
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
		if _, both := side[mirror]; !ok || both || isZero(v, t.Fields[stated].Type) && live[mirror] == nil {
			continue
		}
		if shared(out, side) {
			out = cloneMap(side)
		}
		out[mirror] = v
	}
	return out
}
