package source

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"strings"
	"testing"
)

// packedRelease returns a text as Helm stores it.
func packedRelease(t testing.TB, text io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.Copy(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return []byte(base64.StdEncoding.EncodeToString(b.Bytes()))
}

func TestDecodeRelease(t *testing.T) {
	good := packedRelease(t, strings.NewReader(`{"name":"shop","hooks":[{"manifest":"hook"}],"chart":{"name":"x"},"manifest":"---\na: b\n"}`))
	got, err := DecodeRelease(good)
	if want := (Release{"shop", "---\na: b\n"}); err != nil || got != want {
		t.Fatalf("%q, %v", got, err)
	}
	for _, tt := range []struct {
		reason string
		stored []byte
		want   string
	}{
		{"nothing", nil, "is not base64 of gzip"},
		{"no base64", []byte("hunter2!"), "is not base64 of gzip"},
		{"no gzip", []byte("aHVudGVyMmh1bnRlcjI="), "is not base64 of gzip"},
		{"cut off", good[:len(good)/2], "cannot be unpacked"},
		{"a flipped bit", append(append(bytes.Clone(good[:40]), good[40]^1), good[41:]...), ""},
		{"no JSON", packedRelease(t, strings.NewReader("hunter2")), "is not JSON of a release"},
		{"another type", packedRelease(t, strings.NewReader(`{"manifest":{"hunter2":1}}`)), "is not JSON of a release"},
		{"deep", packedRelease(t, strings.NewReader(`{"manifest":`+strings.Repeat("[", 1<<20))), "is not JSON of a release"},
		{"a bomb", packedRelease(t, io.LimitReader(zeros{}, 1<<30)), "unpacks to more than 64 MiB"},
	} {
		got, err := DecodeRelease(tt.stored)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") || got != (Release{}) {
			t.Errorf("%s: %v, %v", tt.reason, got, err)
		}
	}
}

// FuzzDecodeRelease: whatever is stored, nothing panics, and what is decoded is bounded.
func FuzzDecodeRelease(f *testing.F) {
	f.Add(packedRelease(f, strings.NewReader(`{"name":"shop","manifest":"a: b"}`)))
	f.Add([]byte("H4sIAAAAAAAA/w=="))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, stored []byte) {
		for _, data := range [][]byte{stored, packedRelease(t, bytes.NewReader(stored))} {
			got, err := DecodeRelease(data)
			if err != nil && got != (Release{}) || len(got.Manifest) > maxRelease {
				t.Fatalf("%d bytes, %v", len(got.Manifest), err)
			}
			if err == nil {
				_, _ = Inputs{}.ReadText("manifest", got.Manifest)
			}
		}
	})
}
