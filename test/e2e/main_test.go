// Package e2e plays whole-command stories on the real program against a real API
// server. It refuses to look inside: what a user types, sees and finds in the
// cluster afterwards is all there is.
//
// The server is the throw-away one of ../cluster, started once per run, unless
// E2E_KUBECONFIG names another one to play on (namespaces are made there and
// left; E2E_KUBECTL may name its kubectl). Stories about waiting have one with
// controllers, started when the first of them is played, or that of
// E2E_CONTROLLERS_KUBECONFIG. E2E_KUBERNETES=1.34 has the throw-away
// server be of another version than the newest; see ../cluster/skew.
package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func TestMain(m *testing.M) {
	testscript.Main(suite{m}, map[string]func(){"tty": tty})
}

// suite is the run of all tests, with what it leaves taken away.
type suite struct{ m *testing.M }

// Run builds the program, runs the tests and ends the servers that they started.
func (s suite) Run() int {
	if signal.Ignored(syscall.SIGHUP) { // as under nohup; the programs of stories would ignore it, too
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	folder, err := program()
	defer os.RemoveAll(folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	code := s.m.Run()
	for _, server := range []*apiServer{&server, &staffed, &fragile} {
		if err := server.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
			code = max(code, 1)
		}
	}
	return code
}

// server is the API server that all stories share.
var server apiServer

// staffed has controllers and a kubelet, for stories about what they do.
var staffed = apiServer{controllers: true}

// fragile is one to break, always a throw-away one, for tests that run one after
// the other.
var fragile = apiServer{own: true}

// apiServer is started by the first test that asks for it.
type apiServer struct {
	once sync.Once
	err  error
	own  bool // started here, whatever the environment says

	controllers bool // runs kube-controller-manager and the kubelet of ../cluster

	kubectl    string                // the peer's file
	kubeconfig clientcmdapi.Config   // admin's
	config     *rest.Config          // the same
	client     *kubernetes.Clientset // the same
	reader     *reader               // the same
	home       string                // shared by all stories, so that discovery is cached once

	cmd   *exec.Cmd
	stdin io.WriteCloser // keeps the cluster up, and takes orders

	answers *bufio.Reader
}

// need gives the running server or ends the test.
func (s *apiServer) need(t *testing.T) *apiServer {
	t.Helper()
	if err := s.up(); err != nil {
		t.Fatal(err)
	}
	return s
}

// up starts the server unless that has been done.
func (s *apiServer) up() error {
	s.once.Do(func() { s.err = s.start() })
	if s.err != nil {
		return fmt.Errorf("no API server to play on: %w", s.err)
	}
	return nil
}

func (s *apiServer) start() error {
	var err error
	if s.home, err = os.MkdirTemp("", "merge-e2e-*"); err != nil {
		return err
	}
	file, err := s.find()
	if err != nil {
		return err
	}
	// Stories call the peer by its name, wherever it lies.
	if err := os.Setenv("PATH", filepath.Dir(s.kubectl)+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		return err
	}
	loaded, err := clientcmd.LoadFromFile(file)
	if err != nil {
		return err
	}
	s.kubeconfig = *loaded
	if s.config, err = clientcmd.NewDefaultClientConfig(s.kubeconfig, nil).ClientConfig(); err != nil {
		return err
	}
	s.config.QPS = -1 // the server throttles well enough
	if s.client, err = kubernetes.NewForConfig(s.config); err != nil {
		return err
	}
	s.reader = newReader(s)
	return nil
}

// find starts the throw-away server, or takes the one of the environment, and
// gives its kubeconfig.
func (s *apiServer) find() (kubeconfig string, err error) {
	if s.own {
		return s.launch()
	}
	variable := "E2E_KUBECONFIG"
	if s.controllers {
		variable = "E2E_CONTROLLERS_KUBECONFIG"
	}
	given := os.Getenv(variable)
	if s.kubectl = os.Getenv("E2E_KUBECTL"); given != "" && s.kubectl != "" {
		return given, nil
	}
	var line struct{ Kubeconfig, Kubectl string }
	if given != "" {
		out, err := exec.Command("go", "-C", "../cluster", "run", ".", "--build-only").Output()
		if err != nil {
			return "", fmt.Errorf("no kubectl (name one in E2E_KUBECTL): %w", err)
		}
		err = json.Unmarshal(out, &line)
		s.kubectl = line.Kubectl
		return given, err
	}
	return s.launch()
}

// launch starts a throw-away server and gives its kubeconfig.
func (s *apiServer) launch() (kubeconfig string, err error) {
	s.cmd = exec.Command("go", "-C", "../cluster", "run", ".", "--kubernetes="+os.Getenv("E2E_KUBERNETES"), fmt.Sprintf("--controllers=%t", s.controllers))
	s.cmd.Stderr = os.Stderr
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return "", err
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := s.cmd.Start(); err != nil {
		return "", err
	}
	s.answers = bufio.NewReader(stdout)
	var line struct{ Kubeconfig, Kubectl string }
	if err := s.answer(&line); err != nil {
		return "", fmt.Errorf("go -C test/cluster run . did not come up: %w", err)
	}
	s.kubectl = line.Kubectl
	return line.Kubeconfig, nil
}

// answer reads one line of the launched server's.
func (s *apiServer) answer(into any) error {
	line, err := s.answers.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}

// stop ends what start began; nothing began, nothing to do.
func (s *apiServer) stop() error {
	var errs []error
	if s.cmd != nil && s.cmd.Process != nil {
		errs = append(errs, s.stdin.Close(), s.cmd.Wait())
	}
	if s.home != "" {
		errs = append(errs, os.RemoveAll(s.home))
	}
	return errors.Join(errs...)
}

// kubeconfigFor writes a kubeconfig whose default namespace is ns; change may
// alter the cluster it leads to (nil: the server itself).
func (s *apiServer) kubeconfigFor(file, ns string, change func(*clientcmdapi.Cluster)) error {
	c := s.kubeconfig.DeepCopy()
	current := c.Contexts[c.CurrentContext]
	current.Namespace = ns
	if change != nil {
		change(c.Clusters[current.Cluster])
	}
	return clientcmd.WriteToFile(*c, file)
}
