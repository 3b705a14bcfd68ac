package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// history are the YAML files that both sides of a merge commit have changed in different
// ways, each once.
func history(clone string) ([]triple, error) {
	log, err := git(clone, "log", "--all", "--min-parents=2", "--max-parents=2", "-c", "--raw", "--no-abbrev", "--format=commit %H %P", "--", "*.yaml", "*.yml")
	if err != nil {
		return nil, err
	}
	blobs, err := openBlobs(clone)
	if err != nil {
		return nil, err
	}
	defer blobs.close()
	var out []triple
	seen := map[string]bool{}
	var commit, base string
	var parents []string
	for line := range strings.Lines(string(log)) {
		if words := strings.Fields(line); len(words) == 4 && words[0] == "commit" {
			commit, parents, base = words[1], words[2:], ""
			continue
		}
		// ::mode mode mode blob blob blob MM<tab>path
		head, path, _ := strings.Cut(strings.TrimSpace(line), "\t")
		words := strings.Fields(head)
		if len(words) != 7 || words[6] != "MM" || words[3] == words[4] {
			continue
		}
		if base == "" {
			base = mergeBase(clone, parents)
		}
		was, id, err := blobs.read(base + ":" + path)
		if err != nil {
			return nil, err
		}
		key := id + words[3] + words[4]
		if was == nil || id == words[3] || id == words[4] || seen[key] {
			continue
		}
		seen[key] = true
		t := triple{commit: commit, path: path, base: was}
		for i, to := range []*[]byte{&t.ours, &t.theirs, &t.committed} {
			if *to, _, err = blobs.read(words[3+i]); err != nil {
				return nil, err
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// mergeBase is the only merge base of two commits, or a word that names nothing.
func mergeBase(clone string, parents []string) string {
	out, err := git(clone, append([]string{"merge-base", "-a"}, parents...)...)
	if bases := strings.Fields(string(out)); err == nil && len(bases) == 1 {
		return bases[0]
	}
	return "none"
}

func git(clone string, args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"-C", clone}, args...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("git %s: %w: %s", args[0], err, said.String())
	}
	return out, nil
}

// blobReader reads blobs through one git process.
type blobReader struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func openBlobs(clone string) (*blobReader, error) {
	b := &blobReader{cmd: exec.Command("git", "-C", clone, "cat-file", "--batch")}
	var err error
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.out = bufio.NewReader(out)
	return b, b.cmd.Start()
}

// read is what a name stands for, and its id; nil where it names nothing.
func (b *blobReader) read(name string) (text []byte, id string, err error) {
	if _, err := fmt.Fprintln(b.in, name); err != nil {
		return nil, "", err
	}
	head, err := b.out.ReadString('\n')
	if err != nil {
		return nil, "", err
	}
	words := strings.Fields(head)
	if len(words) != 3 || words[1] != "blob" {
		return nil, "", nil
	}
	var size int
	if _, err := fmt.Sscan(words[2], &size); err != nil {
		return nil, "", err
	}
	text = make([]byte, size+1)
	if _, err := io.ReadFull(b.out, text); err != nil {
		return nil, "", err
	}
	return text[:size], words[0], nil
}

func (b *blobReader) close() {
	b.in.Close()
	_ = b.cmd.Wait()
}
