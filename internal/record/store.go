package record

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// File is a Store in a file of its own.
type File struct {
	*os.File
	name string
}

// Create makes the file, which only the user can read. It is an error if there is one of
// that name: a record is never written over.
func Create(name string) (*File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return nil, fmt.Errorf("%s: is there already, and no record is written over: choose another name, or remove it", name)
	}
	switch {
	case os.IsNotExist(err):
		return nil, fmt.Errorf("%s: its folder does not exist: create it first, or choose another name", name)
	case err != nil:
		return nil, fmt.Errorf("%w: choose a name where a file can be written", err)
	}
	return &File{f, name}, nil
}

// Append writes text, and has it stored. The error is that of the file.
func (f *File) Append(text []byte) error {
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}

// Replace writes another file, and gives it the name of this one. The error is write's or that
// of the file, which is as before then, unless only its renaming failed.
func (f *File) Replace(write func(io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(f.name), ".record-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails where it was renamed
	b := bufio.NewWriter(tmp)
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = tmp.Sync()
	}
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), f.name)
}

// Remove removes the file. The error is that of the file.
func (f *File) Remove() error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Remove(f.name)
}

// Memory is a Store in memory.
type Memory struct{ text []byte }

// Append adds text. It never fails.
func (m *Memory) Append(text []byte) error {
	m.text = append(m.text, text...)
	return nil
}

// ReadAt reads what was appended. The error is io.EOF behind the end.
func (m *Memory) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(m.text).ReadAt(p, at)
}

// Replace is File's. The error is write's, and the text as before then.
func (m *Memory) Replace(write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	m.text = b.Bytes()
	return nil
}

// Remove removes all. It never fails.
func (m *Memory) Remove() error {
	m.text = nil
	return nil
}

// Text is what was written.
func (m *Memory) Text() []byte { return m.text }
