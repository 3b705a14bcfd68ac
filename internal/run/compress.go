package run

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"runtime"
	"sync"
)

// compressors are reused: one takes a megabyte, and a sync.Pool would give it to the garbage
// collector again and again.
var compressors = make(chan *flate.Writer, runtime.GOMAXPROCS(0))

// compressor returns one of them, or a new one if all are in use.
func compressor() *flate.Writer {
	select {
	case w := <-compressors:
		return w
	default:
		w, _ := flate.NewWriter(nil, flate.BestSpeed) // its one error is an unknown level
		return w
	}
}

// release returns a compressor for reuse, unless there are enough.
func release(w *flate.Writer) {
	select {
	case compressors <- w:
	default:
	}
}

// compress makes a text small: an object with its managedFields to a third.
func compress(text []byte) ([]byte, error) {
	w := compressor()
	defer release(w)
	b := bytes.NewBuffer(make([]byte, 0, len(text)/2))
	w.Reset(b)
	if _, err := w.Write(text); err != nil {
		return nil, fmt.Errorf("cannot be compressed: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("cannot be compressed: %w", err)
	}
	return bytes.Clone(b.Bytes()), nil // without the buffer's spare capacity
}

var decompressors = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// decompress returns the text that was compressed.
func decompress(small []byte) ([]byte, error) {
	r := decompressors.Get().(io.ReadCloser)
	defer decompressors.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(small), nil); err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
