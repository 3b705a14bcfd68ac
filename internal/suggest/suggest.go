// Package suggest finds the name that was probably meant by a misspelled one, and lists names. It refuses
// to know what the names stand for.
package suggest

import (
	"fmt"
	"slices"
	"strings"
)

// Most returns the maximum number of edits between a misspelled name and the one that was probably meant. It
// is two, and one in a name of less than six letters, for which two edits give another word (bogus, logs).
func Most(name string) int {
	switch n := len(name); {
	case n < 2:
		return 0
	case n < 6:
		return 1
	}
	return 2
}

// Hint asks for the one of names that was probably meant, beginning with a semicolon; "" where none is near.
func Hint(name string, names []string) string {
	if near := Name(name, names); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// Name returns the one of names with the fewest edits from name, up to Most; the first of
// several, and "" where none is near.
func Name(name string, names []string) string {
	best, fewest := "", 1+Most(name)
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return n
		}
		if d := Edits(name, n); d < fewest {
			best, fewest = n, d
		}
	}
	return best
}

// Begun returns the name that was probably meant, maybe by its beginning; "" for none.
func Begun(typed string, names []string) string {
	if near := Name(typed, names); near != "" {
		return near
	}
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, typed) })
	if len(names) != 1 {
		return ""
	}
	return names[0]
}

// Edits returns the Levenshtein distance of two texts, ignoring case, with a swap of neighbors as
// one edit (https://en.wikipedia.org/wiki/Damerau%E2%80%93Levenshtein_distance, optimal string
// alignment).
func Edits(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	prev2, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(b)]
}

// AtMost returns the first parts, as many as most, and the number of the rest.
func AtMost(parts []string, most int) []string {
	if n := len(parts); n > most {
		return append(parts[:most:most], fmt.Sprintf("and %d more", n-most))
	}
	return parts
}

// Few lists the first of names, as many as most, and counts the others.
func Few(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}
