package record

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// File is a Store in a file.
type File struct{ *os.File }

// Create makes the file, which only the user can read. It is an error if the file exists: a record
// is never overwritten.
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
	return &File{f}, nil
}

// Append writes text and syncs it to disk. The error is that of the file.
func (f *File) Append(text []byte) error {
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}

// Replace writes another file and renames it to this one. The error is write's or that of the file,
// which is then unchanged, unless only its renaming failed.
func (f *File) Replace(write func(io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(f.Name()), ".record-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails if it was renamed
	b := bufio.NewWriter(tmp)
	if err := cmp.Or(write(b), b.Flush(), tmp.Sync(), tmp.Close()); err != nil { // each is done, also after an error
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), f.Name())
}

// Remove removes the file. The error is that of the file.
func (f *File) Remove() error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Remove(f.Name())
}

// Memory is a Store in memory.
type Memory struct{ Text []byte }

// Append adds text. It never fails.
func (m *Memory) Append(text []byte) error {
	m.Text = append(m.Text, text...)
	return nil
}

// ReadAt reads what was appended. The error is io.EOF after the end.
func (m *Memory) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(m.Text).ReadAt(p, at)
}

// Replace is like File's. On an error, which is write's, the text is unchanged.
func (m *Memory) Replace(write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	m.Text = b.Bytes()
	return nil
}

// Remove removes all. It never fails.
func (m *Memory) Remove() error {
	m.Text = nil
	return nil
}
