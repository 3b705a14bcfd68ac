package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// history calls play with each YAML file that both sides of a merge commit have changed in
// different ways, once. Renames are not looked for: that reads every blob of every merge.
func history(clone string, play func(triple) error) error {
	log := exec.Command("git", "-C", clone, "log", "--all", "--min-parents=2", "--max-parents=2", "-c", "--raw", "--no-renames", "--no-abbrev", "--format=commit %H %P")
	log.Stderr = os.Stderr
	out, err := log.StdoutPipe()
	if err != nil {
		return err
	}
	blobs, err := openBlobs(clone)
	if err != nil {
		return err
	}
	defer blobs.close()
	if err := log.Start(); err != nil {
		return err
	}
	r := reader{clone: clone, blobs: blobs, seen: map[string]bool{}, play: play}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if err := r.line(lines.Text()); err != nil {
			return err
		}
	}
	return errors.Join(lines.Err(), log.Wait())
}

// reader reads the merges of a log.
type reader struct {
	clone   string
	blobs   *blobReader
	seen    map[string]bool
	play    func(triple) error
	commit  string
	parents []string
	base    string // of the parents; "" where it was not looked for yet
}

// line reads a merge commit, or a file of it: ::mode mode mode blob blob blob MM<tab>path.
func (r *reader) line(line string) error {
	if words := strings.Fields(line); len(words) == 4 && words[0] == "commit" {
		r.commit, r.parents, r.base = words[1], words[2:], ""
		return nil
	}
	head, path, _ := strings.Cut(strings.TrimSpace(line), "\t")
	words := strings.Fields(head)
	yaml := strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")
	if !yaml || len(words) != 7 || words[6] != "MM" || words[3] == words[4] {
		return nil
	}
	if r.base == "" {
		r.base = mergeBase(r.clone, r.parents)
	}
	was, id, err := r.blobs.read(r.base + ":" + path)
	key := id + words[3] + words[4]
	if err != nil || was == nil || id == words[3] || id == words[4] || r.seen[key] {
		return err
	}
	r.seen[key] = true
	t := triple{commit: r.commit, path: path, base: was}
	for i, to := range []*[]byte{&t.ours, &t.theirs, &t.committed} {
		if *to, _, err = r.blobs.read(words[3+i]); err != nil {
			return err
		}
		if *to == nil { // the clone lacks it
			return nil
		}
	}
	return r.play(t)
}

// mergeBase is the only merge base of two commits, or a word that names nothing.
func mergeBase(clone string, parents []string) string {
	out, err := exec.Command("git", append([]string{"-C", clone, "merge-base", "-a"}, parents...)...).Output()
	if bases := strings.Fields(string(out)); err == nil && len(bases) == 1 {
		return bases[0]
	}
	return "none"
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

// read returns the object that a name refers to, and its id; nil where there is none.
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
