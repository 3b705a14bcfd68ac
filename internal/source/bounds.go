package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode/utf16"
	"unicode/utf8"
)

// maxInput is the maximum size of one file, URL or standard input: far more than any cluster
// accepts, but not all memory, which an endless device or pipe would take.
const maxInput = 256 << 20

// ReadFile is os.ReadFile with a limit of the size. The error names the file.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, Plain(err)
	}
	defer f.Close()
	data, err := ReadAll(f)
	if errors.Is(err, errOversize) {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return data, Plain(err)
}

// Plain returns an error of the file system without the name of the system call.
func Plain(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return err
}

var errOversize = fmt.Errorf("is larger than %d MiB: part it into several", maxInput>>20)

// ReadAll is io.ReadAll with a limit of the size. A text beyond it is an error.
func ReadAll(r io.Reader) ([]byte, error) {
	var b bytes.Buffer
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Size() < maxInput {
			b.Grow(int(info.Size()) + bytes.MinRead)
		}
	}
	if _, err := b.ReadFrom(io.LimitReader(r, maxInput+1)); err != nil {
		return nil, err
	}
	if b.Len() > maxInput {
		return nil, errOversize
	}
	return b.Bytes(), nil
}

// Special states why a file in a directory is not read: it is a pipe or a device, and reading it
// might never end. "" for a regular file, or if that cannot be determined.
func Special(name string) string {
	info, err := os.Stat(name)
	if err != nil || info.Mode().IsRegular() {
		return ""
	}
	return "is no regular file; take it out of the folder, or name it with -f"
}

// inUTF8 returns the text in UTF-8 without a byte order mark, also of a file in UTF-16, as
// PowerShell writes them. Half a character in it becomes U+FFFD.
func inUTF8(data []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, order.Uint16(data[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}

// notText returns an error with the place of the first byte that is not UTF-8 text; nil if there is none.
func notText(data []byte) error {
	n := 0
	for line := range bytes.Lines(data) {
		if n++; !utf8.Valid(line) {
			return &SyntaxError{Line: n, What: "is not text in UTF-8", Why: "save it as UTF-8 YAML or JSON"}
		}
	}
	return nil
}

// clip shortens a text in an error, such as a path of a thousand steps or a key as long as a file.
func clip(text string) string {
	const most, head, tail = 300, 200, 80
	if len(text) <= most {
		return text
	}
	return string(bytes.ToValidUTF8([]byte(text[:head]), nil)) + " … " + string(bytes.ToValidUTF8([]byte(text[len(text)-tail:]), nil))
}
