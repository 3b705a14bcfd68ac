package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// ExplainFormat is a form of an explanation.
type ExplainFormat string

// The forms.
const (
	ExplainTable ExplainFormat = "table"
	ExplainJSON  ExplainFormat = "json"
	ExplainYAML  ExplainFormat = "yaml"
)

// ExplainOptions of WriteExplanations.
type ExplainOptions struct {
	Format ExplainFormat // "" is ExplainTable
	Width  int           // of the terminal; 0: no terminal, nothing is cut
	Color  bool
}

// WriteExplanations writes explanations as tables for people, or as one JSON or
// YAML list for programs. The error is w's, or names an unknown format.
func WriteExplanations(w io.Writer, all []Explanation, o ExplainOptions) error {
	switch o.Format {
	case "", ExplainTable:
		for i, e := range all {
			if i > 0 {
				if _, err := io.WriteString(w, "\n"); err != nil {
					return err
				}
			}
			if _, err := io.WriteString(w, table(e, o)); err != nil {
				return err
			}
		}
		return nil
	case ExplainJSON:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "    ")
		if err := enc.Encode(orEmpty(all)); err != nil {
			return unprintable()
		}
		_, err := w.Write(SpellJSON(b.Bytes()))
		return err
	case ExplainYAML:
		text, err := YAML(values(all))
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	}
	return fmt.Errorf("-o %s: unknown form of an explanation; there are %s, %s and %s", o.Format, ExplainTable, ExplainJSON, ExplainYAML)
}

func orEmpty(all []Explanation) []Explanation {
	if all == nil {
		return []Explanation{}
	}
	return all
}

func values(all []Explanation) any {
	list := make([]any, len(all))
	for i, e := range all {
		fields := make([]any, len(e.Fields))
		for j, r := range e.Fields {
			fields[j] = r.value()
		}
		list[i] = map[string]any{"object": e.Object, "fields": fields}
	}
	return list
}
