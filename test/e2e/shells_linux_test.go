package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-merge/kubectl-merge/test/part"
)

// completing is a shell that completes the program's command lines.
type completing struct {
	name  string
	args  []string
	setUp string // lines typed before anything else; $KUBECTL is the peer
}

// A bash without the package bash-completion gets what the scripts need of it.
const bashSetUp = `bind 'set enable-bracketed-paste off'; bind 'set completion-query-items -1'; bind 'set page-completions off'; PS1='ready> '
if [ -f /usr/share/bash-completion/bash_completion ]; then . /usr/share/bash-completion/bash_completion; else . ./stand-in; fi
`

const bashStandIn = `_get_comp_words_by_ref() { read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
  [[ "${COMP_LINE:0:COMP_POINT}" == *' ' ]] && words+=(''); cword=$((${#words[@]}-1)); cur=${words[cword]}; prev=${words[cword-1]}; }
_filedir() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); }
`

const (
	zshSetUp  = "PS1='ready> '; unsetopt zle_bracketed_paste 2>/dev/null; autoload -U compinit; compinit -u -D\n"
	fishSetUp = "function fish_prompt; echo 'ready> '; end\n"

	bashScripts = "source <($KUBECTL completion bash); source <(kubectl-merge completion bash)\n"
	zshScripts  = "source <($KUBECTL completion zsh); source <(kubectl-merge completion zsh)\n"
	fishScripts = "$KUBECTL completion fish | source; kubectl-merge completion fish | source\n"
)

// completingShells complete as docs/install.md sets it up, and, behind the comma, by nothing but
// kubectl's own scripts and the helper.
var completingShells = []completing{
	{"bash", []string{"--norc", "--noprofile", "-i"}, bashSetUp + bashScripts},
	{"zsh", []string{"-f", "-i"}, zshSetUp + zshScripts},
	{"fish", []string{"--no-config", "-i"}, fishSetUp + fishScripts},
	{"bash, helper", []string{"--norc", "--noprofile", "-i"}, bashSetUp + inOrder(bashScripts, "; ")},
	{"zsh, helper", []string{"-f", "-i"}, zshSetUp + inOrder(zshScripts, "; ")},
	{"fish, quoting", []string{"--no-config", "-i"}, fishSetUp + "kubectl-merge completion fish | source; $KUBECTL completion fish | " + quotingFish + " | source\n"},
}

// inOrder has kubectl's own script loaded last, which takes `kubectl merge` over.
func inOrder(scripts, between string) string {
	first, second, _ := strings.Cut(strings.TrimSuffix(scripts, "\n"), between)
	return second + between + first + "\n"
}

// quotingFish has kubectl's own script for fish quote what it evaluates; SECURITY.md
// has it for users.
const quotingFish = "string replace 'set -l args (commandline -opc)' 'set -l args (string escape -- (commandline -opc))'"

// Texts that a shell would execute, in every place where another user may have written them.
var obeyed = []string{"$(touch pwned-%s)", "`touch pwned-%s`", ";touch pwned-%s;", "|touch pwned-%s|", "(touch pwned-%s)", "&touch pwned-%s&", "x\ntouch pwned-%s\n"}

// hostileNames are such names; two of a kind, as a shell inserts what several
// candidates share without quoting it.
func hostileNames(place string) []string {
	var all []string
	for i, form := range obeyed {
		name := fmt.Sprintf(form, fmt.Sprintf("%s%d", place, i))
		all = append(all, name+"a", name+"b")
	}
	return all
}

// hostileObjects has an object for each such name: in keys, in the keys of a list's
// entries, and in what was applied last.
func hostileObjects(t *testing.T, u *user) {
	for i, form := range obeyed {
		name := fmt.Sprintf(form, fmt.Sprintf("field%d", i))
		x := fmt.Sprintf("x%d", i)
		config := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": x}, "data": map[string]any{name: map[string]any{"a": "1", "b": "2"}}}
		u.file(x+".yaml", yamlDocuments(t, config))
		u.file("p"+x+".yaml", yamlDocuments(t, map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"}, "spec": map[string]any{
			"containers": []any{map[string]any{"name": "c", "env": []any{map[string]any{"name": name, "value": "a"}}}}}}))
		u.file(x+".json", jsonOf(t, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": x,
			"annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": jsonOf(t, config)}}}))
		u.does("kubectl", "create", "-f", x+".json")
	}
}

// hostileFiles are files and folders with such names.
func hostileFiles(t *testing.T, u *user) {
	u.file("stand-in", bashStandIn)
	u.file("good.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: good}}")
	for i, name := range hostileNames("file") {
		u.file(fmt.Sprintf("f%d%s.yaml", i, name), "")
		if err := os.MkdirAll(filepath.Join(u.dir, fmt.Sprintf("d%d%s", i, name)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// hostileConfig adds contexts, clusters and users with such names.
func hostileConfig(c *clientcmdapi.Config) {
	for _, name := range hostileNames("context") {
		c.Contexts[name], c.Clusters[name], c.AuthInfos[name] = c.Contexts[c.CurrentContext], clientcmdapi.NewCluster(), clientcmdapi.NewAuthInfo()
	}
}

// hostileLines are typed at a prompt, with tabs in them, and never entered.
func hostileLines() []string {
	lines := []string{"--context \t\t", "--context=\t\t", "--cluster \t\t", "--user \t\t", "-n \t\t", "-f \t\t", "view-last-applied configmap/\t\t", "view-last-applied configmap x\t\t"}
	for i := range obeyed {
		x := fmt.Sprintf("x%d", i)
		lines = append(lines, "explain -f "+x+".yaml data\t\t.\t\t", "explain -f "+x+".yaml data[\"\t\t",
			"explain -f p"+x+".yaml spec.containers[name=c].env[\t\t.\t\t", "disown configmap/"+x+" da\t\t.\t\t")
	}
	for i := range hostileNames("file") {
		lines = append(lines, []string{"-f f%d\t\t -n \t", "-k d%d\t\t --policy \t", "--template f%d\t\t -n \t", "files f%d\t\t -\t"}[i%4])
		lines[len(lines)-1] = fmt.Sprintf(lines[len(lines)-1], i)
	}
	for _, begin := range []string{"$", "\\$", "\\`", "\\;", "\\(", "x"} {
		lines = append(lines, "--context "+begin+"\t\t -n \t")
	}
	return lines
}

// TestCompletionObeysNothing has shells complete over names that other people
// wrote: whatever is offered, inserted and completed again, none of it runs, of a part of
// the lines in each shell. bash is everywhere; what else is on PATH is played too (.ci/run installs it).
func TestCompletionObeysNothing(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	if !strings.Contains(docs(t, "../SECURITY.md"), quotingFish) {
		t.Error("SECURITY.md does not have the line for fish that is played here")
	}
	for _, shell := range completingShells {
		name, _, _ := strings.Cut(shell.name, ",")
		path, err := exec.LookPath(name)
		if err != nil {
			t.Logf("%s is not installed, and was not played", shell.name)
			continue
		}
		t.Run(shell.name, func(t *testing.T) {
			t.Parallel()
			u := s.user(t, "complete-"+name)
			u.home = t.TempDir()
			hostileFiles(t, u)
			hostileObjects(t, u)
			u.rewrite(hostileConfig)
			shell.plays(t, u, path)
		})
	}
}

// begins starts the shell at a terminal of its own, and sets it up; it ends with the test.
func (c completing) begins(t *testing.T, u *user, path string) *keyboard {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	t.Cleanup(cancel)
	cmd := u.command(ctx, path, c.args...)
	cmd.Env = append(cmd.Env, "TERM=xterm", "KUBECTL="+u.server.kubectl, "PATH="+u.helper()+":"+os.Getenv("PATH"))
	master, slave, err := openTTY(200)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	_ = slave.Close()
	k := &keyboard{t: t, tty: master, screen: &screen{grown: make(chan struct{}, 1)}}
	go func() { _, _ = io.Copy(k.screen, master) }()
	for line := range strings.Lines(c.setUp) {
		k.types(line)
	}
	k.settles()
	return k
}

func (c completing) plays(t *testing.T, u *user, path string) {
	k := c.begins(t, u, path)
	k.offers("kubectl-merge diso\t", "disown")
	k.offers("kubectl merge diso\t", "disown")
	k.offers("kubectl-merge explain -f good.yaml metad\t", "metadata")
	k.offers("kubectl-merge disown configmap/x0 kin\t", "kind")
	played := part.Chosen(t)
	for i, line := range hostileLines() {
		if !played.Has(i + i/4) { // one of each four alike
			continue
		}
		program := []string{"kubectl-merge ", "kubectl merge "}[played.Nth(i)%2]
		if c.name == "fish" && namesFiles(line) {
			program = "kubectl-merge " // kubectl's own script for fish evaluates the names of files
		}
		k.types(program + line)
		k.settles()
		ran, err := filepath.Glob(filepath.Join(u.dir, "pwned*"))
		if err != nil || len(ran) > 0 {
			t.Fatalf("%q ran what others wrote: %v %v\n%q", program+line, ran, err, k.screen.text())
		}
	}
}

// namesFiles: the line has a file or folder completed.
func namesFiles(line string) bool {
	return slices.ContainsFunc([]string{"-f f", "-f \t", "-k d", "--template f", "files f"}, func(option string) bool { return strings.HasPrefix(line, option) })
}

// keyboard types at a shell.
type keyboard struct {
	t      *testing.T
	tty    io.Writer
	screen *screen
	marks  int
	from   int
}

func (k *keyboard) types(text string) {
	k.t.Helper()
	if _, err := io.WriteString(k.tty, text); err != nil {
		k.t.Fatal(err)
	}
}

// settles waits until the shell has done all that was typed: a mark is worked out
// by it, so that the echo of what is typed is none.
func (k *keyboard) settles() {
	k.t.Helper()
	k.marks++
	k.types(fmt.Sprintf("\x05\x15printf 'mark-%%s-%%s\\n' %d end\r", k.marks))
	k.shows(fmt.Sprintf("mark-%d-end", k.marks))
	k.shows("ready> ") // from here on the shell itself reads the keys, not the terminal for it
}

func (k *keyboard) shows(text string) {
	k.t.Helper()
	for limit := time.After(patience); ; {
		if i := strings.Index(k.screen.text()[k.from:], text); i >= 0 {
			k.from += i + len(text)
			return
		}
		select {
		case <-k.screen.grown:
		case <-time.After(100 * time.Millisecond): // the signal is lost where two writes come at once
		case <-limit:
			k.t.Fatalf("%q was not shown within %s:\n%q", text, patience, k.screen.text())
		}
	}
}

// offers holds that completion is at work at all.
func (k *keyboard) offers(typed, want string) {
	k.t.Helper()
	k.types(typed)
	k.shows(want)
	k.settles()
}

// helper is a folder with the peer and what it runs to complete the plugin.
func (u *user) helper() string {
	u.t.Helper()
	dir := u.t.TempDir()
	script := u.does("kubectl-merge", "completion", "kubectl").stdout
	if err := os.WriteFile(filepath.Join(dir, "kubectl_complete-merge"), []byte(script), 0o700); err != nil {
		u.t.Fatal(err)
	}
	if err := os.Symlink(u.server.kubectl, filepath.Join(dir, "kubectl")); err != nil {
		u.t.Fatal(err)
	}
	return dir
}
