package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cluster is a running etcd and kube-apiserver, and what else was asked for.
type cluster struct {
	info      Info
	processes []*process
	kubelet   context.CancelFunc // ends it; nil where there is none
	died      chan *process      // a process that ended without being stopped
	unlock    func()
	apiserver func() (*process, error) // starts it, on the address it had before
	ready     func(context.Context) error
}

// process is one child.
type process struct {
	name string
	log  string // file with its output
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // how it ended; to be read after done
}

// dirPattern names the data folders, so that the next start finds what a killed
// one has left.
const dirPattern = "kubectl-merge-cluster-*"

// start brings the server up. The cluster is not nil once there is something to
// stop, also where there is an error.
func start(ctx context.Context, bin Binaries, o options) (*cluster, error) {
	sweep()
	dir, err := os.MkdirTemp("", dirPattern)
	if err != nil {
		return nil, err
	}
	c := &cluster{}
	c.info = Info{Dir: dir, Kubectl: bin.Kubectl, Version: bin.Version, PID: os.Getpid(), Kubeconfig: filepath.Join(dir, "kubeconfig")}
	if c.unlock, err = tryLock(filepath.Join(dir, "lock")); err != nil {
		return c, err
	}
	creds, err := newCredentials(dir)
	if err != nil {
		return c, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	// A port that was free a moment ago may be taken by now: try again.
	for range 5 {
		if err = c.startOnce(ctx, bin, creds, o); err == nil || !portTaken(err) {
			break
		}
		c.killAll()
	}
	return c, err
}

// startOnce starts both on ports that were free just now and waits until the
// server is ready.
func (c *cluster) startOnce(ctx context.Context, bin Binaries, creds credentials, o options) error {
	c.died = make(chan *process, 3) // not that of an attempt before
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	client, peer := "http://"+ports[0], "http://"+ports[1]
	etcd, err := c.launch("etcd", bin.Etcd,
		"--name=test", "--data-dir="+filepath.Join(c.info.Dir, "etcd"), "--unsafe-no-fsync", "--log-level=error",
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=test="+peer)
	if err != nil {
		return err
	}
	c.info.EtcdPID = etcd.cmd.Process.Pid
	c.info.Server = "https://" + ports[2]
	c.apiserver = func() (*process, error) {
		return c.launch("kube-apiserver", bin.APIServer, apiserverArgs(client, ports[2], creds, o)...)
	}
	apiserver, err := c.apiserver()
	if err != nil {
		return err
	}
	c.info.APIServerPID = apiserver.cmd.Process.Pid
	if err := creds.writeKubeconfig(c.info.Kubeconfig, c.info.Server); err != nil {
		return err
	}
	api := newClient(c.info.Server, creds)
	c.ready = func(ctx context.Context) error { return c.untilReady(ctx, api) }
	if err := c.ready(ctx); err != nil {
		return err
	}
	if err := api.ensureNamespace(ctx, "default"); err != nil || !o.controllers {
		return err
	}
	return c.control(ctx, bin, creds, api)
}

// control starts the controllers and a kubelet.
func (c *cluster) control(ctx context.Context, bin Binaries, creds credentials, api client) error {
	if _, err := c.launch(controllerManager, bin.Controllers, controllerArgs(c.info.Kubeconfig, creds)...); err != nil {
		return err
	}
	k, err := newKubelet(ctx, api, creds)
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.kubelet = cancel
	go k.run(running)
	return nil
}

// obey kills kube-apiserver as a crash would, or starts it again. Controllers live on,
// and find the server again by themselves.
func (c *cluster) obey(ctx context.Context, order string) error {
	at := slices.IndexFunc(c.processes, func(p *process) bool { return p.cmd.Process.Pid == c.info.APIServerPID })
	switch {
	case order == "kill" && at >= 0:
		p := c.processes[at]
		_ = p.cmd.Process.Kill()
		<-c.died // which is no news here
		c.processes, c.info.APIServerPID = slices.Delete(c.processes, at, at+1), 0
		return nil
	case order == "start" && at < 0:
		p, err := c.apiserver()
		if err != nil {
			return err
		}
		c.info.APIServerPID = p.cmd.Process.Pid
		return c.ready(ctx)
	}
	return fmt.Errorf("cannot do what stdin says: %q", order)
}

func apiserverArgs(etcd, address string, creds credentials, o options) []string {
	host, port, _ := net.SplitHostPort(address)
	args := []string{
		"--etcd-servers=" + etcd,
		"--bind-address=" + host, "--secure-port=" + port,
		// There is no network to advertise to, and a default route would be looked for.
		"--advertise-address=" + host, "--endpoint-reconciler-type=none",
		"--tls-cert-file=" + creds.certFile, "--tls-private-key-file=" + creds.keyFile,
		"--token-auth-file=" + creds.tokenFile, "--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + creds.accountKeyFile, "--service-account-signing-key-file=" + creds.accountKeyFile,
		"--service-cluster-ip-range=10.0.0.0/16",
		"--allow-privileged=true",
		"--v=0",
	}
	if !o.serviceAccount {
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	return append(args, o.apiserverArgs...)
}

const controllerManager = "kube-controller-manager"

// controllerArgs leave out what would take a node without heartbeats for dead, and what
// needs metrics.
func controllerArgs(kubeconfig string, creds credentials) []string {
	return []string{
		"--kubeconfig=" + kubeconfig, "--leader-elect=false", "--secure-port=0",
		"--controllers=*,-node-lifecycle-controller,-node-ipam-controller,-horizontal-pod-autoscaler-controller",
		"--service-account-private-key-file=" + creds.accountKeyFile, "--root-ca-file=" + creds.certFile,
		"--kube-api-qps=500", "--kube-api-burst=1000",
		"--v=0",
	}
}

// launch starts a child with its output in a file.
func (c *cluster) launch(name, path string, args ...string) (*process, error) {
	p := &process{name: name, log: filepath.Join(c.info.Dir, name+".log"), done: make(chan struct{})}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.info.Dir, log, log
	if p.cmd, err = guarded(cmd); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	c.processes = append(c.processes, p)
	go func(died chan<- *process) { // which has room for every child
		p.err = p.cmd.Wait()
		close(p.done)
		died <- p
	}(c.died)
	return p, nil
}

// untilReady waits for /readyz, or for the first child that ends.
func (c *cluster) untilReady(ctx context.Context, api client) error {
	for {
		err := api.ready(ctx)
		if err == nil {
			return nil
		}
		for _, p := range c.processes {
			select {
			case <-p.done:
				return fmt.Errorf("%s ended while starting: %v\n%s", p.name, p.err, p.tail())
			default:
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server is not ready: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop kills the children and removes the data. There is nothing to keep, so they
// get no time to end by themselves.
func (c *cluster) stop() {
	c.killAll()
	if c.unlock != nil {
		c.unlock()
	}
	_ = os.RemoveAll(c.info.Dir)
}

func (c *cluster) killAll() {
	if c.kubelet != nil {
		c.kubelet()
		c.kubelet = nil
	}
	for i := len(c.processes) - 1; i >= 0; i-- {
		p := c.processes[i]
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	c.processes = nil
}

// tail gives the last lines of what the process said.
func (p *process) tail() string {
	b, _ := os.ReadFile(p.log)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

func portTaken(err error) bool { return strings.Contains(err.Error(), "address already in use") }

// freePorts gives n loopback addresses on which no process listens.
func freePorts(n int) ([]string, error) {
	var addrs []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // all stay open until the last is found, so that they differ
		addrs = append(addrs, l.Addr().String())
	}
	return addrs, nil
}

// sweep removes the data of earlier runs that were killed: those whose lock
// no process holds any more. A folder that is just being made has no lock file yet.
func sweep() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), dirPattern))
	for _, dir := range dirs {
		file := filepath.Join(dir, "lock")
		if _, err := os.Stat(file); err != nil {
			continue
		}
		if unlock, err := tryLock(file); err == nil {
			unlock()
			_ = os.RemoveAll(dir)
		}
	}
}

// client speaks to the server as its admin.
type client struct {
	server, token string
	http          *http.Client
}

func newClient(server string, creds credentials) client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(creds.certPEM)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	return client{server: server, token: creds.token, http: &http.Client{Transport: transport, Timeout: 5 * time.Second}}
}

func (c client) do(ctx context.Context, method, path, body string) (int, error) {
	resp, err := c.send(ctx, c.http, method, path, body)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}

// send gives the answer, whose body is to be closed. A patch is one of RFC 7386.
func (c client) send(ctx context.Context, by *http.Client, method, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.server+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	return by.Do(req)
}

func (c client) ready(ctx context.Context) error {
	status, err := c.do(ctx, http.MethodGet, "/readyz", "")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("/readyz answers %d", status)
	}
	return err
}

// ensureNamespace makes the namespace, which the server also does by itself,
// only later.
func (c client) ensureNamespace(ctx context.Context, name string) error {
	status, err := c.do(ctx, http.MethodPost, "/api/v1/namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+name+`"}}`)
	if err == nil && status != http.StatusCreated && status != http.StatusConflict {
		err = errors.New("namespace " + name + ": " + http.StatusText(status))
	}
	return err
}
