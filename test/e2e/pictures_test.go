package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/test/picture"
)

// scene is one picture of the documentation: commands, as a user types them, on the files
// of testdata/pictures.
type scene struct {
	file     string
	columns  int
	commands []string
}

var scenes = []scene{{file: "story.svg", columns: 104, commands: []string{
	"kubectl merge -f shop.yaml",
	"kubectl scale deployment/shop --replicas=7   # somebody else, in an incident",
	"kubectl merge diff -f shop.yaml",
	"kubectl merge disown -f shop.yaml -w spec.replicas   # it is an autoscaler's from now on",
	"kubectl merge diff -f shop.yaml && echo no differences",
}}, {file: "absorb.svg", columns: 96, commands: []string{
	"kubectl merge -k overlays/prod",
	"kubectl scale deployment/front --replicas=7           # at night, and it was right",
	"kubectl set image deployment/front web=nginx:1.27.3",
	"kubectl merge absorb -k overlays/prod",
	"kubectl merge absorb -k overlays/prod -w && kubectl merge drift -k overlays/prod",
}}}

// TestPictures: the pictures show what the program prints now; -update draws them.
func TestPictures(t *testing.T) {
	server.need(t)
	for _, s := range scenes {
		text := s.play(t)
		file := filepath.Join("../../docs/pictures", s.file)
		drawn := picture.Draw(text, s.columns)
		if *update {
			if err := os.WriteFile(file, drawn, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		kept, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(picture.Text(kept), picture.Text(drawn)); d != "" {
			t.Errorf("%s: `make pictures` draws it again:\n%s", s.file, d)
		}
	}
}

// play runs the commands in a namespace of their own, and returns what a terminal shows then.
func (s scene) play(t *testing.T) string {
	ns := unused("pictures")
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	if _, err := server.client.CoreV1().Namespaces().Create(context.Background(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := server.kubeconfigFor(filepath.Join(dir, "kubeconfig"), ns, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS("testdata/pictures")); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, command := range s.commands {
		fmt.Fprintf(&out, "\x1b[1m$ %s\x1b[0m\n", command)
		// With a colour that no terminal asked for: only the words are the user's.
		colored := regexp.MustCompile(`kubectl merge( diff| disown| absorb| drift)?`).ReplaceAllString(command, "$0 --color=always")
		cmd := exec.CommandContext(t.Context(), "sh", "-c", colored)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
		cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(dir, "kubeconfig"), "HOME="+server.home)
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		out.WriteString("\n")
	}
	return still(strings.ReplaceAll(out.String(), ns, "shop"))
}

var (
	clock = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\dZ`)
	took  = regexp.MustCompile(` in \d+(\.\d+)?m?s`)
	host  = regexp.MustCompile(`https://127\.0\.0\.1:\d+`)
)

// still puts fixed texts in place of what differs from run to run.
func still(text string) string {
	text = clock.ReplaceAllString(text, "2026-11-21 09:41Z")
	text = took.ReplaceAllString(text, " in 0.1s")
	return host.ReplaceAllString(text, "https://api.example.com")
}
