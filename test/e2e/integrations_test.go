package e2e

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"
)

// root is a file of the repository.
func root(ts *testscript.TestScript, name string) string {
	path, err := filepath.Abs(filepath.Join("../..", name))
	ts.Check(err)
	return path
}

// readYAML reads a file of the repository; of several documents, the last.
func readYAML(ts *testscript.TestScript, name string, into any) {
	text, err := os.ReadFile(root(ts, name))
	ts.Check(err)
	documents := strings.Split(string(text), "\n---\n")
	ts.Check(yaml.Unmarshal([]byte(documents[len(documents)-1]), into))
}

// runners are the variables that a runner gives its steps, which a story sets.
var runners = []string{
	"PATH", "WORK", "RUNNER_TEMP", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY", "GITHUB_REPOSITORY",
	"CI_API_V4_URL", "CI_PROJECT_ID", "CI_MERGE_REQUEST_IID", "GITLAB_TOKEN",
}

// runAs runs what another program would run, and leaves its output in the files
// `stdout.txt` and `stderr.txt`. It reports whether that succeeded.
func runAs(ts *testscript.TestScript, env []string, command ...string) bool {
	cmd := exec.Command("env", command...) // which looks in the story's PATH
	cmd.Dir, cmd.Env = ts.MkAbs("."), slices.Concat(storyOf(ts).env(ts), env)
	for _, name := range runners {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	ts.Check(os.WriteFile(ts.MkAbs("stdout.txt"), out.Bytes(), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs("stderr.txt"), errs.Bytes(), 0o644))
	ts.Logf("[stdout]\n%s[stderr]\n%s", out.String(), errs.String())
	return err == nil
}

// outcome ends the story unless what was run succeeded, or failed where it must.
func outcome(ts *testscript.TestScript, neg, succeeded bool) {
	if succeeded == neg {
		ts.Fatalf("succeeded: %t", succeeded)
	}
}

var expression = regexp.MustCompile(`\$\{\{ *([^ }]+) *\}\}`)

// cmdAction runs the steps of action.yml as a runner does, with inputs NAME=VALUE and the
// number of a pull request in $PULL_REQUEST.
func cmdAction(ts *testscript.TestScript, neg bool, args []string) {
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	readYAML(ts, "action.yml", &action)
	values := map[string]string{"github.event.pull_request.number": ts.Getenv("PULL_REQUEST"), "github.token": "token"}
	evaluated := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(e string) string {
			name := expression.FindStringSubmatch(e)[1]
			value, known := values[name]
			if !known {
				ts.Fatalf("action.yml: %s: is not known", e)
			}
			return value
		})
	}
	for name, input := range action.Inputs {
		values["inputs."+name] = evaluated(input.Default)
	}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		if _, known := action.Inputs[name]; !known {
			ts.Fatalf("action.yml has no input %s", name)
		}
		values["inputs."+name] = strings.ReplaceAll(value, `\n`, "\n")
	}
	succeeded := true
	for _, step := range action.Runs.Steps {
		env := []string{"GITHUB_ACTION_PATH=" + cmp.Or(ts.Getenv("ACTION"), root(ts, "."))} // a story may have another clone
		for name, value := range step.Env {
			env = append(env, name+"="+evaluated(value))
		}
		if succeeded = runAs(ts, env, "bash", "-e", "-o", "pipefail", "-c", step.Run); !succeeded {
			break
		}
	}
	outcome(ts, neg, succeeded)
}

var interpolation = regexp.MustCompile(`\$\[\[ *inputs\.([a-z]+) *\]\]`)

// cmdGitlab runs a job of the GitLab template, with inputs NAME=VALUE.
func cmdGitlab(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) < 1, "gitlab JOB [NAME=VALUE...]")
	var jobs map[string]struct {
		Variables    map[string]struct{ Value string }
		BeforeScript []string `json:"before_script"`
		Script       []string
	}
	readYAML(ts, "integrations/gitlab/kubectl-merge.gitlab-ci.yml", &jobs)
	job, known := jobs[args[0]]
	if !known {
		ts.Fatalf("there is no job %s", args[0])
	}
	inputs := map[string]string{"arguments": "", "version": "installed"}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		inputs[name] = value
	}
	var env []string
	for name, v := range jobs[".kubectl-merge"].Variables {
		env = append(env, name+"="+interpolation.ReplaceAllStringFunc(v.Value, func(e string) string {
			value, given := inputs[interpolation.FindStringSubmatch(e)[1]]
			if !given {
				ts.Fatalf("%s: is not given", e)
			}
			return value
		}))
	}
	script := strings.Join(slices.Concat(jobs[".kubectl-merge"].BeforeScript, job.Script), "\n")
	if interpolation.MatchString(script) {
		ts.Fatalf("an input is part of a script:\n%s", script)
	}
	outcome(ts, neg, runAs(ts, env, "sh", "-e", "-c", script))
}

// cmdHook runs a hook of pre-commit, with the arguments of its user.
func cmdHook(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) < 1, "hook ID [ARGUMENT...]")
	var hooks []struct{ ID, Entry, Language string }
	readYAML(ts, ".pre-commit-hooks.yaml", &hooks)
	for _, hook := range hooks {
		if hook.ID == args[0] {
			entry := strings.Fields(hook.Entry)
			if hook.Language != "script" {
				ts.Fatalf("%s: the language %s has everything of the repository built", hook.ID, hook.Language)
			}
			entry[0] = root(ts, entry[0])
			out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
			ts.Check(err)
			at := strings.Split(string(out), "\n") // HOME is the story's, where nothing is built yet
			outcome(ts, neg, runAs(ts, []string{"GOCACHE=" + at[0], "GOMODCACHE=" + at[1]}, slices.Concat(entry, args[1:])...))
			return
		}
	}
	ts.Fatalf("there is no hook %s", args[0])
}

var variable = regexp.MustCompile(`\$[A-Z_]+`)

// cmdK9s runs a plugin of k9s on the object TYPE/NAME.
func cmdK9s(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) != 2, "k9s PLUGIN TYPE/NAME")
	var file struct {
		Plugins map[string]struct {
			Command string
			Args    []string
		}
	}
	readYAML(ts, "integrations/k9s/plugins.yaml", &file)
	plugin, known := file.Plugins[args[0]]
	if !known {
		ts.Fatalf("there is no plugin %s", args[0])
	}
	kind, name, _ := strings.Cut(args[1], "/")
	namespace := ts.Getenv("NS")
	if kind == "priorityclasses" { // k9s has this for objects of no namespace
		namespace = "-"
	}
	context, err := storyOf(ts).kubectl(ts, "config", "current-context")
	ts.Check(err)
	values := map[string]string{"$RESOURCE_NAME": kind, "$NAME": name, "$NAMESPACE": namespace, "$CONTEXT": strings.TrimSpace(context)}
	command := []string{plugin.Command}
	for _, arg := range plugin.Args {
		command = append(command, variable.ReplaceAllStringFunc(arg, func(v string) string {
			value, known := values[v]
			if !known {
				ts.Fatalf("k9s has no %s that is known here", v)
			}
			return value
		}))
	}
	outcome(ts, neg, runAs(ts, nil, command...))
}
