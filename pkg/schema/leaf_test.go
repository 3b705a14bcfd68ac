package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func TestSame(t *testing.T) {
	n := func(s string) any { return json.Number(s) }
	tests := []struct {
		reason, leaf string
		a, b         any
		want         bool
	}{
		{"milli", "quantity", "1000m", "1", true},
		{"a bare number", "quantity", "1", n("1"), true},
		{"a fraction", "quantity", "0.5", "500m", true},
		{"a number with a fraction", "quantity", n("0.5"), "500m", true},
		{"binary, canonical", "quantity", "1024Mi", "1Gi", true},
		{"another format is stored as such", "quantity", "1Gi", "1073741824", false},
		{"an exponent is stored as such", "quantity", "1e3", "1k", false},
		{"a number with an exponent is not", "quantity", n("1e+09"), "1G", true},
		{"nor as a text of digits", "quantity", n("12E8"), "1200000000", true},
		{"another value", "quantity", "1", "2", false},
		{"no quantity", "quantity", "x", "x1", false},
		{"a boolean", "quantity", true, "1", false},
		{"absurdly long", "quantity", "1e" + strings.Repeat("9", 100), "1", false},
		{"zone", "time", "2026-01-02T03:04:05Z", "2026-01-02T05:04:05+02:00", true},
		{"fractions of a second are not stored", "time", "2026-01-02T03:04:05.9Z", "2026-01-02T03:04:05Z", true},
		{"another second", "time", "2026-01-02T03:04:06Z", "2026-01-02T03:04:05Z", false},
		{"no time", "time", "now", "2026-01-02T03:04:05Z", false},
		{"microseconds are stored", "microtime", "2026-01-02T03:04:05.900000Z", "2026-01-02T03:04:05.000000Z", false},
		{"their zone is not", "microtime", "2026-01-02T03:04:05.900000Z", "2026-01-02T04:04:05.900000+01:00", true},
		{"a minute", "duration", "60s", "1m0s", true},
		{"another duration", "duration", "61s", "1m0s", false},
		{"line breaks in base64", "bytes", "aGVs\nbG8=\n", "aGVsbG8=", true},
		{"other bytes", "bytes", "aGVsbG8=", "aGVsbG9v", false},
		{"no base64", "bytes", "???", "aGVsbG8=", false},
		{"80 is not \"80\"", "int-or-string", n("80"), "80", false},
		{"plain text is literal", "string", "60s", "1m0s", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			leaf := leaves[test.leaf]
			if got := merge.Equal(test.a, test.b, leaf); got != test.want {
				t.Errorf("%v and %v are one %s: %v", test.a, test.b, test.leaf, got)
			}
			if merge.Equal(test.a, test.b, leaf) != merge.Equal(test.b, test.a, leaf) {
				t.Error("not the same both ways")
			}
		})
	}
}
