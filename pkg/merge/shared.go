package merge

import "reflect"

// shared says, at the cost of a pointer comparison, that a and b are one piece of
// memory (or one scalar). false says nothing.
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
