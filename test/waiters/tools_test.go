//go:build sidebyside

package waiters

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	timeout  = 15 * time.Second
	patience = 5 * time.Second // of kubectl merge
	interval = 5 * time.Second // of Flux, as its kustomize-controller has it
)

// place is where one situation is played, and by which programs.
type place struct {
	folder, namespace, kubeconfig string
	kubectl, merge                string
}

// tool waits for a situation's object, and gives how it ended, and what it has reported.
type tool struct {
	name string
	wait func(place, situation) (end, text string)
}

var tools = [...]tool{
	{"`kubectl rollout status`", rolloutStatus},
	{"`kubectl wait`", kubectlWait},
	{"Helm", helm},
	{"Flux", flux},
	{"`kubectl merge wait`", mergeWait},
}

// runs gives what a command has printed, and whether it has ended well.
func (p place) runs(program, stdin string, args ...string) (text string, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdin = p.folder, strings.NewReader(stdin)
	cmd.Env = append(cmd.Environ(), "KUBECONFIG="+p.kubeconfig)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func rolloutStatus(p place, s situation) (end, text string) {
	if kind, _, _ := strings.Cut(s.ref, "/"); kind != "deployment" && kind != "statefulset" && kind != "daemonset" {
		return none, ""
	}
	text, ok := p.runs(p.kubectl, "", "rollout", "status", s.ref, "--timeout="+timeout.String())
	switch {
	case ok:
		return isReady, text
	case strings.Contains(text, "rollout status is only available for"):
		return refused, text
	case strings.Contains(text, "timed out waiting"):
		return timedOut, text
	}
	return failed, text
}

func kubectlWait(p place, s situation) (end, text string) {
	text, ok := p.runs(p.kubectl, "", "wait", "--for="+s.until, s.ref, "--timeout="+timeout.String())
	switch {
	case ok:
		return isReady, text
	case strings.Contains(text, "timed out waiting"):
		return timedOut, text
	}
	return failed, text
}

func mergeWait(p place, _ situation) (end, text string) {
	text, ok := p.runs(p.merge, "", "wait", "-f", "object.yaml", "--timeout="+timeout.String(), "--patience="+patience.String())
	switch {
	case ok && strings.Contains(text, ": not waited for: "):
		return skipped, text
	case ok:
		return isReady, text
	case strings.Contains(text, ": not ready within "):
		return timedOut, text
	}
	return failed, text
}

// helm waits as helm install --wait --wait-for-jobs does when everything is created.
func helm(p place, s situation) (end, text string) {
	err := func() error {
		flags := genericclioptions.NewConfigFlags(true)
		flags.KubeConfig, flags.Namespace = &p.kubeconfig, &p.namespace
		cache := filepath.Join(p.folder, "cache")
		flags.CacheDir = &cache
		c := kube.New(flags)
		c.Namespace = p.namespace
		c.SetLogger(slog.NewTextHandler(io.Discard, nil))
		list, err := c.Build(strings.NewReader(s.object), false)
		if err != nil {
			return err
		}
		w, err := c.GetWaiter(kube.StatusWatcherStrategy)
		if err != nil {
			return err
		}
		return w.WaitWithJobs(list, timeout)
	}()
	switch {
	case err == nil:
		return isReady, ""
	case errors.Is(err, context.DeadlineExceeded):
		return timedOut, err.Error()
	}
	return failed, err.Error()
}

// flux waits as its kustomize-controller does with wait: true, except for a reader of its own for
// Jobs that have not ended (github.com/fluxcd/pkg/runtime, which needs a newer Go).
func flux(p place, s situation) (end, text string) {
	err := func() error {
		flags := genericclioptions.NewConfigFlags(true)
		flags.KubeConfig, flags.Namespace = &p.kubeconfig, &p.namespace
		config, err := flags.ToRESTConfig()
		if err != nil {
			return err
		}
		c, err := client.New(config, client.Options{})
		if err != nil {
			return err
		}
		objects, err := utils.ReadObjects(strings.NewReader(s.object))
		if err != nil {
			return err
		}
		for _, o := range objects {
			o.SetNamespace(p.namespace)
		}
		m := ssa.NewResourceManager(c, polling.NewStatusPoller(c, c.RESTMapper(), polling.Options{}), ssa.Owner{Field: "waiters", Group: "waiters.example.com"})
		return m.Wait(objects, ssa.WaitOptions{Interval: interval, Timeout: timeout, FailFast: true})
	}()
	switch {
	case err == nil:
		return isReady, ""
	case strings.Contains(err.Error(), "timeout waiting for"):
		return timedOut, err.Error()
	}
	return failed, err.Error()
}

// ended is how a tool has ended, with whether its report has the reason.
func (s situation) ended(end, text string) string {
	if s.reason != "" && regexp.MustCompile(s.reason).MatchString(text) {
		return end + why
	}
	return end
}
