package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestRead: packages and tests have their times, and what a failing test printed is printed.
func TestRead(t *testing.T) {
	var out bytes.Buffer
	packages, tests := read(strings.NewReader(`# p: a compiler's line
{"Action":"output","Package":"p","Test":"TestA","Output":"of a test that passed\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":1}
{"Action":"output","Package":"p","Test":"TestB","Output":"of a test that failed\n"}
{"Action":"fail","Package":"p","Test":"TestB","Elapsed":2.5}
{"Action":"fail","Package":"p","Elapsed":3.5}
`), &out)
	table(&out, "package", packages, 9)
	table(&out, "test", tests, 1)
	want := `# p: a compiler's line
of a test that failed

seconds  ended  package
3.5      fail   p

seconds  ended  test
2.5      fail   TestB
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}
