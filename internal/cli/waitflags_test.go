package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/ready"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/wait"
)

// TestWaitFlags: which combinations are errors, and what each spelling of --wait means.
func TestWaitFlags(t *testing.T) {
	for _, tt := range []struct {
		args string
		what string
		err  string
	}{
		{"", waitNone, ""},
		{"--wait", waitWritten, ""},
		{"--wait=true", waitWritten, ""},
		{"--wait=false", waitNone, ""},
		{"--wait=all --timeout=1m --patience=0s --logs", waitAll, ""},
		{"--wait=none --dry-run", waitNone, ""},
		{"--wait=some", "", "--wait=some: must be written, all or none (--wait alone: written)"},
		{"--wait=30s", "", "--wait=30s: must be written, all or none (--wait alone: written); how long is --timeout=30s"},
		{"--wait=al", "", "--wait=al: must be written, all or none (--wait alone: written); did you mean all?"},
		{"--wait --dry-run=server", "", "--wait cannot be combined with a preview: nothing is written, so that there is nothing to wait for"},
		{"--timeout=1m", "", "--timeout needs --wait: nothing is waited for without it"},
		{"--patience=1m", "", "--patience needs --wait: nothing is waited for without it"},
		{"--logs=5", "", "--logs needs --wait: nothing is waited for without it"},
		{"--wait --timeout=-1s", "", "--timeout=-1s: must not be negative"},
		{"--wait --patience=-1s", "", "--patience=-1s: must not be negative"},
		{"--wait --logs=-1", "", "--logs=-1: must be at least 0"},
	} {
		c := &call{env: &env{}, cmd: &cobra.Command{}, verb: mergeRow}
		c.declare()
		if err := c.cmd.Flags().Parse(strings.Fields(tt.args)); err != nil {
			t.Fatal(err)
		}
		err := c.check()
		if tt.err == "" && (err != nil || c.waits != tt.what) || tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.err)) {
			t.Errorf("%q: %s, %v; want %s, %s", tt.args, c.waits, err, tt.what, tt.err)
		}
	}
}

// TestDeadline: the time for everything that is waited for is counted once, from the first wait.
func TestDeadline(t *testing.T) {
	if until := (&call{}).deadline(); !until.IsZero() {
		t.Errorf("without a timeout it ends at %s", until)
	}
	f := &call{options: options{timeout: time.Hour}}
	if first := f.deadline(); time.Until(first) < 59*time.Minute || f.deadline() != first {
		t.Errorf("%s, then %s", first, f.deadline())
	}
}

// report is a waitReport with what it has printed.
func report(stdout, asJSON, quiet bool) (r waitReport, out, errs *bytes.Buffer) {
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	e := &env{IOStreams: genericiooptions.IOStreams{Out: out, ErrOut: errs}, json: asJSON}
	return waitReport{call: &call{env: e, options: options{quiet: quiet}}, stdout: stdout}, out, errs
}

var waited = wait.Object{Target: cluster.Target{Resource: cluster.Resource{Group: "apps", Kind: "Deployment"}, Namespace: "shop", Name: "web"}}

// TestWaitReport: a change of state is printed where it is looked for: on stdout beside
// outcomes, as a note, or as JSON; failures only at the end.
func TestWaitReport(t *testing.T) {
	problem := ready.Problem{Reason: "CrashLoopBackOff", Message: "back-off\x1b[2J"}
	for _, tt := range []struct {
		reason              string
		stdout, json, quiet bool
		verdict             ready.Verdict
		out, err            string
	}{
		{"ready, beside outcomes", true, false, false, ready.Verdict{State: ready.Ready}, "deployment.apps/web ready\n", ""},
		{"ready, with a remark", true, false, true, ready.Verdict{State: ready.Ready, Problem: ready.Problem{Message: "scaled to 0"}}, "deployment.apps/web ready (scaled to 0)\n", ""},
		{"ready, beside another printer", false, false, false, ready.Verdict{State: ready.Ready}, "", "note: deployment.apps/web: ready\n"},
		{"ready, quiet", false, false, true, ready.Verdict{State: ready.Ready}, "", ""},
		{"waiting", true, false, false, ready.Verdict{State: ready.Waiting, Problem: problem}, "", `note: deployment.apps/web: waiting: ` + strings.ReplaceAll(problem.String(), "\x1b", `\x1b`) + "\n"},
		{"waiting, quiet", true, false, true, ready.Verdict{State: ready.Waiting, Problem: problem}, "", ""},
		{"failed", true, false, false, ready.Verdict{State: ready.Failed, Problem: problem}, "", ""},
		{"failed, for programs", true, true, false, ready.Verdict{State: ready.Failed, Problem: problem}, "", ""},
	} {
		r, out, errs := report(tt.stdout, tt.json, tt.quiet)
		r.changed(waited, tt.verdict)
		if out.String() != tt.out || errs.String() != tt.err {
			t.Errorf("%s: stdout %q, stderr %q\nwant %q, %q", tt.reason, out, errs, tt.out, tt.err)
		}
	}
	r, _, errs := report(false, true, false)
	r.changed(waited, ready.Verdict{State: ready.Waiting, Problem: problem})
	var event waitEvent
	if err := json.Unmarshal(errs.Bytes(), &event); err != nil || event.Object != "deployment.apps/web" || event.Namespace != "shop" || event.Kind != ready.Waiting || event.Reason != problem.Reason {
		t.Errorf("%v, %+v of %s", err, event, errs)
	}
	if strings.Contains(errs.String(), "\x1b") {
		t.Errorf("an escape sequence was printed: %q", errs)
	}
}

// TestWaitNoted: what concerns no object is a note, JSON for programs, and nothing with --quiet.
func TestWaitNoted(t *testing.T) {
	for _, tt := range []struct {
		json, quiet bool
		want        string
	}{{false, false, "note: pods cannot be watched\n"}, {true, false, `"text":"pods cannot be watched"`}, {false, true, ""}, {true, true, ""}} {
		r, _, errs := report(false, tt.json, tt.quiet)
		r.note("", "pods cannot be watched")
		if !strings.Contains(errs.String(), tt.want) || (tt.want == "") != (errs.Len() == 0) {
			t.Errorf("json %t, quiet %t: %q", tt.json, tt.quiet, errs)
		}
	}
}

// TestWaitEnd: an object that is not ready ends the run with code 4, after what may help: events
// and logs of its pod; another error keeps its code.
func TestWaitEnd(t *testing.T) {
	late := &wait.NotReady{
		Object: waited, Because: "timed out",
		Verdict: ready.Verdict{State: ready.Waiting, Problem: ready.Problem{Reason: "CrashLoopBackOff", Pod: "web-1", Container: "app"}},
		Events:  []string{"BackOff: restarting"},
		Logs:    []wait.Log{{Pod: "web-1", Container: "app", Previous: true, Lines: []string{"panic: \x1b[31mno"}}, {Pod: "web-1", Container: "app", Lines: []string{"started"}}},
	}
	r, _, errs := report(false, false, false)
	if err := r.end(errors.Join(late)); exitCode(err) != notReady || !errors.Is(err, error(late)) {
		t.Errorf("%v, code %d", err, exitCode(err))
	}
	const want = `note: deployment.apps/web: pod web-1: event: BackOff: restarting
note: deployment.apps/web: pod web-1, container app: log of the previous run:
  panic: \x1b[31mno
note: deployment.apps/web: pod web-1, container app: log:
  started
`
	if errs.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", errs, want)
	}

	r, _, errs = report(false, true, false)
	err := r.end(errors.Join(late))
	if exitCode(err) != notReady || !errors.Is(err, error(late)) {
		t.Errorf("for programs: %v, code %d: its reason is in no line", err, exitCode(err))
	}
	var event waitEvent
	if err := json.Unmarshal(errs.Bytes(), &event); err != nil || event.Kind != waitNotReady || event.Because != "timed out" || len(event.Logs) != 2 || event.Pod != "web-1" || event.Events[0] != late.Events[0] {
		t.Errorf("%v, %+v of %s", err, event, errs)
	}

	r, _, errs = report(false, false, false)
	broken := errors.New("no server")
	if err := r.end(broken); !errors.Is(err, broken) || exitCode(err) != failed || errs.Len() > 0 {
		t.Errorf("%v, printed %q", err, errs)
	}
	if err := r.end(nil); err != nil {
		t.Error(err)
	}
}

// TestWaitVerb: objects of files, or members of a set, are waited for; nothing is written.
func TestWaitVerb(t *testing.T) {
	local, _ := files(t)
	a := confServer()
	a.by["GET /api/v1/namespaces/shop/configmaps"] = []string{listOf(servedConf())}
	against(t, a, "wait", "-f", local, "--timeout=5s").exactly(t, "a ConfigMap is ready", ended{0, "configmap/conf ready\n", ""})
	if w := a.writes(); len(w) > 0 {
		t.Errorf("sent %q", w)
	}
	gone := confServer()
	gone.by["GET /api/v1/namespaces/shop/configmaps"] = []string{listOf()}
	delete(gone.by, "GET "+confPath)
	against(t, gone, "wait", "-f", local, "--timeout=1ms").is(t, "it is not there", notReady, "", "configmap/conf")
	against(t, a, "wait", "cm/conf", "--timeout=5s").exactly(t, "by its name", ended{0, "configmap/conf ready\n", ""})
	set := shop(member("shop", "old", ""))
	set.by["GET /api/v1/namespaces/shop/configmaps/old"] = []string{member("shop", "old", "")}
	against(t, set, "wait", "--applyset=shop", "--timeout=5s").is(t, "a set", 0, "configmap/old ready\n", "")
	for _, tt := range []struct {
		args []string
		err  string
	}{
		{nil, "must specify one of -f, -k, TYPE/NAME and --applyset"},
		{[]string{"-f", local, "--applyset=shop"}, "the set knows its members"},
		{[]string{"-f", local, "--applyset-namespace=shop"}, "--applyset-namespace needs --applyset: "},
		{[]string{"-f", local, "--timeout=-1s"}, "must not be negative"},
		{[]string{"-f", local, "--rules=" + local + "x"}, "--rules: "},
		{[]string{"conf.yaml"}, "files are given with -f"},
	} {
		against(t, confServer(), append([]string{"wait"}, tt.args...)...).is(t, strings.Join(tt.args, " "), failed, "", tt.err)
	}
	b := confServer()
	b.by["GET /api/v1/namespaces/shop/configmaps"] = []string{listOf(servedConf())}
	b.by["PATCH "+confPath] = written().by["GET "+confPath]
	against(t, b, "-f", local, "--wait").is(t, "after a merge", 0, "configmap/conf configured\nconfigmap/conf ready\n", "")
}

// TestKeepNamed: an object that something still names is kept, and with it the Namespace that
// would take it along; what is deleted from elsewhere stays a deletion.
func TestKeepNamed(t *testing.T) {
	item := func(group, kind, namespace, name string) *run.Item {
		return &run.Item{Details: &run.Details{}, Target: cluster.Target{Resource: cluster.Resource{Group: group, Kind: kind}, Namespace: namespace, Name: name}, Surplus: &run.Surplus{}}
	}
	for _, tt := range []struct {
		use  wait.Use
		want string
	}{
		{wait.Use{By: "pod/web"}, "is still named by pod/web: to have it removed, merge again when nothing names it any more; --wait waits for that"},
		{wait.Use{Unknown: errors.New("pods: forbidden")}, "whether pods name it cannot be known (pods: forbidden): to have it removed, merge again with that permission"},
	} {
		conf, ns, other, lookalike := item("", "ConfigMap", "shop", "conf"), item("", "Namespace", "", "shop"), item("", "Namespace", "", "test"), item("example.com", "Namespace", "", "shop")
		p := &run.Plan{Job: &run.Job{}, Others: []*run.Item{conf, ns, other, lookalike}}
		keepNamed(p, conf, tt.use)
		if conf.Action() != apply.Keep || conf.Reason() != tt.want {
			t.Errorf("%s: %s", conf.Action(), conf.Reason())
		}
		if ns.Action() != apply.Keep || ns.Reason() != "holds configmap/conf, which is kept: to have it removed, merge again when that is gone" {
			t.Errorf("its namespace: %s: %s", ns.Action(), ns.Reason())
		}
		if other.Action() != apply.Delete || lookalike.Action() != apply.Delete {
			t.Errorf("another namespace: %s, %s", other.Action(), lookalike.Action())
		}
	}
	kept := item("", "ConfigMap", "shop", "kept")
	kept.Surplus.Keep = true
	all := []*run.Item{item("", "ConfigMap", "shop", "a"), item("apps", "Deployment", "shop", "b"), kept}
	if named := namedOf(all); len(named) != 1 || named[0] != all[0] || targetsOf(named)[0].Name != "a" {
		t.Errorf("pods can name %d of them", len(namedOf(all)))
	}
}
