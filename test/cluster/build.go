package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Binaries are where the built programs lie.
type Binaries struct {
	Version     string `json:"version"` // of Kubernetes
	Dir         string `json:"dir"`
	Etcd        string `json:"etcd"`
	APIServer   string `json:"apiserver"`
	Kubectl     string `json:"kubectl"`
	Controllers string `json:"controllers,omitempty"` // kube-controller-manager, where it was asked for
}

// binary is a package to build. Go names a binary after its import path, which
// calls etcd "server"; hence the names.
type binary struct{ pkg, built, name string }

// Every server needs servers; controllers are built only for those who ask for them.
var (
	servers = []binary{
		{"go.etcd.io/etcd/server/v3", "server", "etcd"},
		{"k8s.io/kubernetes/cmd/kube-apiserver", "kube-apiserver", "kube-apiserver"},
		{"k8s.io/kubernetes/cmd/kubectl", "kubectl", "kubectl"},
	}
	controllers = []binary{
		{"k8s.io/kubernetes/cmd/kube-controller-manager", "kube-controller-manager", "kube-controller-manager"},
	}
)

// modfile is the go.mod that pins the programs of a minor version of Kubernetes:
// this module's own for "", else one of the folder skew.
func modfile(kubernetes string) (string, error) {
	if kubernetes == "" {
		return "go.mod", nil
	}
	file := filepath.Join("skew", kubernetes+".mod")
	if _, err := os.Stat(file); err != nil || strings.ContainsAny(kubernetes, `/\`) {
		have, _ := filepath.Glob(filepath.Join("skew", "*.mod"))
		return "", fmt.Errorf("no Kubernetes %s here: there are the one of go.mod and %s", kubernetes, strings.Join(have, ", "))
	}
	return file, nil
}

// build gives the binaries that the options ask for, of a minor version of Kubernetes
// (see modfile), built unless the cache has those of this very modfile, its sums,
// toolchain and linker flags. An empty cache is the user's cache folder.
func build(ctx context.Context, o options) (Binaries, error) {
	mod, err := modfile(o.kubernetes)
	if err != nil {
		return Binaries{}, err
	}
	if o.cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return Binaries{}, fmt.Errorf("no folder for the binaries (name one with --cache): %w", err)
		}
		o.cache = filepath.Join(base, "kubectl-merge", "cluster")
	}
	version, err := output(ctx, "go", "list", "-modfile="+mod, "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return Binaries{}, err
	}
	c := compiler{mod: mod, flags: linkerFlags(version)}
	key, err := cacheKey(ctx, mod, c.flags)
	if err != nil {
		return Binaries{}, err
	}
	dir := filepath.Join(o.cache, key)
	at := func(name string) string { return filepath.Join(dir, name+exe()) }
	bin := Binaries{Version: version, Dir: dir, Etcd: at("etcd"), APIServer: at("kube-apiserver"), Kubectl: at("kubectl")}
	if err := c.ensure(ctx, dir, servers); err != nil || !o.controllers {
		return bin, err
	}
	bin.Controllers = filepath.Join(dir+"-controllers", "kube-controller-manager"+exe())
	return bin, c.ensure(ctx, dir+"-controllers", controllers)
}

// compiler builds the programs of one modfile.
type compiler struct{ mod, flags string }

// ensure builds programs into dir unless they are there. Two at once do not build twice.
func (c compiler) ensure(ctx context.Context, dir string, programs []binary) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if complete(dir, programs) {
		return nil
	}
	unlock, err := lock(ctx, dir+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if complete(dir, programs) { // another run built them while we waited
		return nil
	}
	return c.compile(ctx, dir, programs)
}

// compile builds programs beside dir and renames the finished folder to it, so that a
// dir that exists is complete.
func (c compiler) compile(ctx context.Context, dir string, programs []binary) error {
	began := time.Now()
	var names, packages []string
	for _, p := range programs {
		names, packages = append(names, p.name), append(packages, p.pkg)
	}
	fmt.Fprintf(os.Stderr, "cluster: building %s (once; minutes with an empty Go cache)\n", strings.Join(names, ", "))
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "building-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	args := []string{"build", "-modfile=" + c.mod, "-trimpath", "-buildvcs=false", "-ldflags", c.flags, "-o", tmp + string(filepath.Separator)}
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	for _, p := range programs {
		if err := os.Rename(filepath.Join(tmp, p.built+exe()), filepath.Join(tmp, p.name+exe())); err != nil {
			return err
		}
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := os.Rename(tmp, dir); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	fmt.Fprintf(os.Stderr, "cluster: built in %s: %s\n", time.Since(began).Round(time.Second), dir)
	return nil
}

// linkerFlags puts the version into the binaries as a release build has it:
// without it the server calls itself v0.0.0 and clients take it for ancient.
func linkerFlags(version string) string {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, kv := range []string{"gitVersion=" + version, "gitMajor=" + major, "gitMinor=" + minor} {
			flags = append(flags, "-X", pkg+"."+kv)
		}
	}
	return strings.Join(flags, " ")
}

// cacheKey names the folder of the binaries that a modfile, toolchain and flags
// give.
func cacheKey(ctx context.Context, mod, flags string) (string, error) {
	toolchain, err := output(ctx, "go", "env", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, f := range []string{mod, strings.TrimSuffix(mod, ".mod") + ".sum"} {
		b, err := os.ReadFile(f)
		if err != nil {
			return "", fmt.Errorf("%w (run it as `go -C test/cluster run .`)", err)
		}
		fmt.Fprintf(h, "%s %d\n%s", f, len(b), b)
	}
	fmt.Fprintf(h, "%s\n%s\n", toolchain, flags)
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

func complete(dir string, programs []binary) bool {
	for _, p := range programs {
		if fi, err := os.Stat(filepath.Join(dir, p.name+exe())); err != nil || !fi.Mode().IsRegular() {
			return false
		}
	}
	return true
}

func exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// output runs a command and gives its stdout, trimmed.
func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
