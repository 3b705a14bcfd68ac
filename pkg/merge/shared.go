package merge

import "reflect"

// shared reports, at the cost of a pointer comparison, whether a and b are one piece of
// memory (or one scalar). On false, they may still be equal.
func shared(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
	case []any:
		b, ok := b.([]any)
		return ok && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
	}
	return isScalar(b) && a == b
}

// Identical reports whether a and b are the same JSON value to the letter: absence differs
// from null, numbers are compared by their text. Memory that both share costs one
// comparison of pointers.
func Identical(a, b any) bool {
	if shared(a, b) {
		return true
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !Identical(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !Identical(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return false
}
