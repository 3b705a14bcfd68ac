package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

// streamPrinter prints a single object directly and several as a List, as kubectl does. Objects are
// printed as they come; only the first is stored until there is a second.
type streamPrinter struct {
	view
	style listStyle
	first any
	shown int
}

// listStyle states how a List is written object by object.
type listStyle struct {
	head, between, tail string
	alone, entry        func(any) ([]byte, error)
}

var yamlList = listStyle{
	head:  "apiVersion: v1\nitems:\n",
	tail:  "kind: List\nmetadata: {}\n",
	alone: yamldoc.Encode,
	entry: func(v any) ([]byte, error) { return yamldoc.Encode([]any{v}) },
}

var jsonList = listStyle{
	head:    "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        ",
	between: ",\n        ",
	tail:    "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {}\n}\n",
	alone:   jsonText,
	entry:   func(v any) ([]byte, error) { return indentedJSON(v, "        ") },
}

func (f *streamPrinter) printObject(item *run.Item) error {
	obj := f.trimmed(item.Result.Object)
	f.disclose(item)
	f.shown++
	switch f.shown {
	case 1:
		f.first = obj
		return nil
	case 2:
		if err := f.entry(f.style.head, f.first); err != nil {
			return err
		}
		f.first = nil
	}
	return f.entry(f.style.between, obj)
}

func (f *streamPrinter) entry(before string, obj any) error {
	text, err := f.style.entry(obj)
	if err == nil {
		_, err = io.WriteString(f.Out, before+string(text))
	}
	return err
}

func (f *streamPrinter) close(context.Context) error {
	switch f.shown {
	case 0:
		return nil
	case 1:
		return f.emit(f.style.alone(f.first))
	}
	_, err := io.WriteString(f.Out, f.style.tail)
	return err
}

// listPrinter prints all objects at once: a template may access any of them.
type listPrinter struct {
	view
	print   func([]any) ([]byte, error)
	objects []any
}

func (f *listPrinter) printObject(item *run.Item) error {
	f.objects = append(f.objects, f.trimmed(item.Result.Object))
	f.disclose(item)
	return nil
}

func (f *listPrinter) close(context.Context) error {
	if len(f.objects) == 0 {
		return nil
	}
	return f.emit(f.print(f.objects))
}

func jsonText(v any) ([]byte, error) {
	text, err := indentedJSON(v, "")
	return append(text, '\n'), err
}

// indentedJSON returns v as kubectl prints it, with prefix before every line but the first. A value
// nested too deeply for indentation is one line.
func indentedJSON(v any, prefix string) ([]byte, error) {
	if yamldoc.Deep(v) {
		text, err := yamldoc.Encode(v)
		return bytes.TrimSuffix(text, []byte("\n")), err
	}
	text, err := json.MarshalIndent(v, prefix, "    ")
	return escape.JSON(text), err
}
