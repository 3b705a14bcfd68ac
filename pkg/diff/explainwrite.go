package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

// ExplainFormat is a form of an explanation.
type ExplainFormat string

// The forms.
const (
	ExplainTable ExplainFormat = "table"
	ExplainJSON  ExplainFormat = "json"
	ExplainYAML  ExplainFormat = "yaml"
	ExplainBlame ExplainFormat = "blame" // see ExplanationWriter.Blame
)

// ExplainOptions of an ExplanationWriter.
type ExplainOptions struct {
	Format ExplainFormat // "" is ExplainTable
	Width  int           // of the terminal; 0: no terminal, nothing is cut
	Color  bool
}

// ExplanationWriter writes explanations one by one, so that they are not all kept until the
// last is known. Create it with NewExplanationWriter, and end it with Close.
type ExplanationWriter struct {
	w       io.Writer
	options ExplainOptions
	written int
}

// NewExplanationWriter returns a writer to w. The error names an unknown format.
func NewExplanationWriter(w io.Writer, o ExplainOptions) (*ExplanationWriter, error) {
	switch o.Format {
	case "", ExplainTable, ExplainJSON, ExplainYAML, ExplainBlame:
		return &ExplanationWriter{w: w, options: o}, nil
	}
	return nil, fmt.Errorf("--output=%s: there are %s, %s, %s and %s", o.Format, ExplainTable, ExplainJSON, ExplainYAML, ExplainBlame)
}

// Write writes one explanation: a table, or one entry of the list. The error is that of the
// writer below, or of a value that is not JSON.
func (x *ExplanationWriter) Write(e Explanation) error {
	text, err := x.explanationText(e)
	if err != nil {
		return err
	}
	x.written++
	_, err = x.w.Write(text)
	return err
}

func (x *ExplanationWriter) explanationText(e Explanation) ([]byte, error) {
	first := x.written == 0
	switch x.options.Format {
	case ExplainYAML:
		return yamldoc.Encode([]any{e.jsonValue()})
	case ExplainJSON:
		text, err := indented(e)
		if first {
			return append([]byte("[\n"+jsonIndent), text...), err
		}
		return append([]byte(",\n"+jsonIndent), text...), err
	}
	if first {
		return []byte(table(e, x.options)), nil
	}
	return []byte("\n" + table(e, x.options)), nil
}

// Close ends the list. The error is that of the writer below.
func (x *ExplanationWriter) Close() error {
	var end string
	switch {
	case x.options.Format == ExplainJSON && x.written > 0:
		end = "\n]\n"
	case x.options.Format == ExplainJSON || x.options.Format == ExplainYAML && x.written == 0:
		end = "[]\n"
	}
	_, err := io.WriteString(x.w, end)
	return err
}

const jsonIndent = "    "

// indented returns an explanation as an entry of a JSON list.
func indented(e Explanation) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(jsonIndent, jsonIndent)
	if err := enc.Encode(e); err != nil {
		return nil, yamldoc.ErrNotJSON
	}
	return bytes.TrimSuffix(escape.JSON(b.Bytes()), []byte("\n")), nil
}

func (e Explanation) jsonValue() map[string]any {
	fields := make([]any, len(e.Fields))
	for i, r := range e.Fields {
		fields[i] = r.jsonValue()
	}
	return map[string]any{"object": e.Object, "fields": fields}
}
