package run

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"sync"
)

// presses are writers that press texts small; one takes far more room than a text.
var presses = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // its one error is an unknown level
	return w
}}

// press makes a text small: an object with its managedFields to a third.
func press(text []byte) ([]byte, error) {
	w := presses.Get().(*flate.Writer)
	defer presses.Put(w)
	b := bytes.NewBuffer(make([]byte, 0, len(text)/2))
	w.Reset(b)
	if _, err := w.Write(text); err != nil {
		return nil, fmt.Errorf("cannot be put away: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("cannot be put away: %w", err)
	}
	return bytes.Clone(b.Bytes()), nil // without the room that the buffer has grown
}

// unpresses are what reads them again.
var unpresses = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// unpress is the text that was pressed.
func unpress(small []byte) ([]byte, error) {
	r := unpresses.Get().(io.ReadCloser)
	defer unpresses.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(small), nil); err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
