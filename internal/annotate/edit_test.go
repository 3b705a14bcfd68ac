package annotate

import "testing"

func TestBehindTheHeader(t *testing.T) {
	for _, tt := range []struct{ reason, header, text, want string }{
		{"the header goes, the user's own comment stays", "# a\n#\n", "# a\n#\n# mine\nx: 1\n", "# mine\nx: 1\n"},
		{"a header that the user has changed goes with all comments at the top", "# a\n#\n", "# b\n# mine\nx: 1\n", "x: 1\n"},
		{"a # inside a text is no comment", "# a\n", "# a\nx: |\n  #!/bin/sh\n", "x: |\n  #!/bin/sh\n"},
		{"nothing is left", "# a\n", "# a", ""},
	} {
		if got := string(Behind(tt.header, []byte(tt.text))); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.reason, got, tt.want)
		}
	}
}
