package source

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

// chunk is a stretch of a file that holds one document.
type chunk struct {
	text string
	line int  // line of its first byte, from 1
	nth  int  // number of its document, from 1
	many bool // the file holds more than one
}

// split splits a file into its documents, so that one bad document does not hide the errors of the
// next.
func split(data string) ([]chunk, error) {
	data = inUTF8(data)
	if err := notText(data); err != nil {
		return nil, err
	}
	chunks, err := splitJSON(data)
	if err != nil {
		return nil, err
	}
	if chunks == nil {
		chunks = splitYAML(data)
	}
	for i := range chunks {
		chunks[i].nth, chunks[i].many = i+1, len(chunks) > 1
	}
	return chunks, nil
}

// splitYAML splits a file at its --- lines.
func splitYAML(data string) []chunk {
	var chunks []chunk
	at, start, line, first := 0, 0, 1, 1
	for l := range strings.Lines(data) {
		if separator(l) && at > start {
			chunks = append(chunks, chunk{text: data[start:at], line: first})
			start, first = at, line
		}
		at += len(l)
		line++
	}
	chunks = append(chunks, chunk{text: data[start:], line: first})
	return slices.DeleteFunc(chunks, func(c chunk) bool { return blank(c.text) })
}

// separator reports whether a line begins a new document, whatever follows the dashes. A block
// scalar cannot hold such a line, as it is always indented. It may begin with a byte order mark, if
// two files were concatenated.
func separator(line string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(line, mark), "---")
	return ok && (len(rest) == 0 || strings.IndexByte(" \t\r\n", rest[0]) >= 0)
}

// white holds YAML's white space.
const white = " \t\r\n"

// blank reports whether text holds only comments, the directive %YAML 1.1, separators and white
// space. Line breaks that only some readers recognize do not end a comment.
func blank(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\r\n"), "\n")
		line = strings.TrimPrefix(line, mark)
		if separator(line) {
			line = line[len("---"):]
		}
		rest := strings.Trim(line, " \t")
		comment := len(rest) == 0 || rest[0] == '#' || strings.HasPrefix(line, "%YAML 1.1") || line == "..."
		if !comment || strings.ContainsFunc(line, breaking) {
			return false
		}
	}
	return true
}

// breaking reports whether r is a control character, or a line break that not all readers know.
func breaking(r rune) bool { return unicode.IsControl(r) && r != '\t' || r == 0x2028 || r == 0x2029 }

// splitJSON splits a file of JSON documents, one after the other. It returns nil for a text that is
// not JSON, though it may begin like it: YAML has a flow style.
func splitJSON(data string) ([]chunk, error) {
	if text := strings.TrimLeft(data, " \t\r\n"); len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return nil, nil
	}
	var chunks []chunk
	dec, line := json.NewDecoder(strings.NewReader(data)), 1
	for done := 0; ; done = int(dec.InputOffset()) {
		start := len(data) - len(strings.TrimLeft(data[done:], white))
		if line += strings.Count(data[done:start], "\n"); start == len(data) {
			return chunks, nil
		}
		if err := dec.Decode(&skipped{}); err != nil && strings.Contains(err.Error(), "exceeded max depth") {
			return nil, &SyntaxError{Line: line, What: "is nested too deep", Why: fmt.Sprintf("more than %d levels", yamldoc.MaxDepth)}
		} else if err != nil {
			return nil, nil // the text may be YAML
		}
		text := data[start:dec.InputOffset()]
		chunks = append(chunks, chunk{text: text, line: line})
		line += strings.Count(text, "\n")
	}
}

// skipped is a value that is not decoded.
type skipped struct{}

func (*skipped) UnmarshalJSON([]byte) error { return nil }
