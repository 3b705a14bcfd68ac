package source

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
)

// advise completes the error of a chunk that cannot be read by what the text probably is.
func (p *parser) advise(c chunk, err error) error {
	bad, ok := errors.AsType[*SyntaxError](err)
	if !ok {
		return err
	}
	line := func(at int) int { return c.line + bytes.Count(c.text[:at], []byte("\n")) }
	dashes, comment := joined.FindIndex(c.text), commentOf(c.text)
	switch {
	case bytes.Contains(c.text, []byte("{{")) && p.edited:
		return fmt.Errorf("%w: {{ }} is a template's, as Helm's charts have them: no value of live can be written into it: edit the chart's values or templates", err)
	case bytes.Contains(c.text, []byte("{{")):
		return fmt.Errorf("%w: {{ }} is a template's, as Helm's charts have them: render it first (helm template CHART | kubectl merge -f -)", err)
	case comment >= 0:
		*bad = SyntaxError{Document: bad.Document, Line: line(comment), What: "JSON has no comments: remove what // or /* begins"}
	case dashes != nil && line(dashes[0]) <= bad.Line:
		*bad = SyntaxError{Document: bad.Document, Line: line(dashes[0]), What: "--- stands on a line of its own: begin a new line after it"}
	case bad.Path == "apiVersion" || bad.Path == "kind":
		bad.What = keepOne.ReplaceAllString(bad.What, fmt.Sprintf("; is a --- missing before line %d? Otherwise keep one of them", bad.Line))
	}
	return err
}

var (
	keepOne = regexp.MustCompile(`; keep one of them$`)
	joined  = regexp.MustCompile(`(?m)^---[^\s-]`) // a separator and what has to be below it
	lexed   = regexp.MustCompile(`"(?:\\.|[^"\\])*"|'[^']*'|(?:^|[\s,{}\[\]])(?://|/\*)`)
)

// commentOf returns where the first comment of a text in braces begins; -1: it has none.
func commentOf(text []byte) int {
	if begin := bytes.TrimLeft(text, white); len(begin) == 0 || !bytes.Contains([]byte("{[/"), begin[:1]) {
		return -1
	}
	for _, at := range lexed.FindAllIndex(text, -1) {
		if last := text[at[1]-1]; last == '/' || last == '*' {
			return at[1] - 2
		}
	}
	return -1
}
