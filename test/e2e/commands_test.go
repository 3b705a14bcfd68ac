package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// storyCommands are what stories can say beyond testscript's own commands.
// README.md has the list for those who write stories.
var storyCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"absent":   cmdAbsent,
	"action":   cmdAction,
	"context":  cmdContext,
	"crds":     cmdCRDs,
	"exits":    cmdExits,
	"expand":   cmdExpand,
	"gitlab":   cmdGitlab,
	"hook":     cmdHook,
	"k9s":      cmdK9s,
	"pad":      cmdPad,
	"race":     cmdRace,
	"raced":    cmdRaced,
	"release":  cmdRelease,
	"reqcount": cmdReqcount,
	"rv":       cmdRV,
	"samerv":   cmdSameRV,
	"until":    cmdUntil,
	"wantlive": cmdWantLive,

	"requested": cmdRequested,
	"validplan": cmdValidPlan,
}

// story has what the commands of one story need.
type story struct {
	server *apiServer
	ns     string
	proxy  *proxy // between program and server, once race or reqcount asked for it
	direct string // KUBECONFIG before that
}

type storyKey struct{}

func storyOf(ts *testscript.TestScript) *story { return ts.Value(storyKey{}).(*story) }

// usage ends the story where a command is called wrongly.
func usage(ts *testscript.TestScript, wrong bool, line string) {
	if wrong {
		ts.Fatalf("usage: %s", line)
	}
}

// kubectl runs the peer as admin, past any proxy, in the story's namespace.
func (s *story) kubectl(ts *testscript.TestScript, args ...string) (stdout string, err error) {
	cmd := exec.Command(s.server.kubectl, args...)
	cmd.Env = s.env(ts)
	cmd.Dir = ts.MkAbs(".")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}

// env is the story's environment, leading to the server itself.
func (s *story) env(ts *testscript.TestScript) []string {
	kubeconfig := s.direct
	if kubeconfig == "" {
		kubeconfig = ts.Getenv("KUBECONFIG")
	}
	return append(os.Environ(), "HOME="+s.server.home, "KUBECONFIG="+kubeconfig, "NS="+s.ns)
}

// liveObject reads an object TYPE/NAME as kubectl get shows it; nil where there is none.
func liveObject(ts *testscript.TestScript, target string) map[string]any {
	s := storyOf(ts)
	object, err := s.server.reader.named(s.ns, target)
	ts.Check(err)
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
	}
	return object
}

// cmdWantLive: wantlive TARGET FILE.
func cmdWantLive(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 2, "wantlive TYPE/NAME FILE")
	want, err := decode([]byte(ts.ReadFile(args[1])))
	ts.Check(err)
	got := liveObject(ts, args[0])
	if got == nil {
		ts.Fatalf("%s does not exist", args[0])
	}
	if why := mismatch(want, any(got), ""); why != "" {
		why = strings.TrimPrefix(why, ".")
		ts.Fatalf("%s %s\n%s", args[0], why, liveAt(got, why))
	}
}

// cmdAbsent: absent TARGET...
func cmdAbsent(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) == 0, "absent TYPE/NAME...")
	for _, target := range args {
		if liveObject(ts, target) != nil {
			ts.Fatalf("%s exists", target)
		}
	}
}

func resourceVersion(ts *testscript.TestScript, target string) string {
	object := liveObject(ts, target)
	if object == nil {
		ts.Fatalf("%s does not exist", target)
	}
	version, _ := object["metadata"].(map[string]any)["resourceVersion"].(string)
	return version
}

// cmdRV: rv TARGET VAR.
func cmdRV(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 2, "rv TYPE/NAME VAR")
	ts.Setenv(args[1], resourceVersion(ts, args[0]))
}

// cmdSameRV: [!] samerv TARGET VAR.
func cmdSameRV(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) != 2, "[!] samerv TYPE/NAME VAR")
	before, now := ts.Getenv(args[1]), resourceVersion(ts, args[0])
	switch {
	case before == now && neg:
		ts.Fatalf("%s was not written: resourceVersion is still %s", args[0], now)
	case before != now && !neg:
		ts.Fatalf("%s was written: resourceVersion was %s, is %s", args[0], before, now)
	}
}

// cmdExits: exits CODE COMMAND... is exec for one exit code; stdout and stderr are
// there to be looked at afterwards.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 2, "exits CODE COMMAND...")
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if args[0] != strconv.Itoa(code) {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// cmdUntil: until REGEXP COMMAND... repeats a command until a line that it prints matches.
func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 2, "until REGEXP COMMAND...")
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	if !comes(func() bool {
		var exit *exec.ExitError
		if err := ts.Exec(args[1], args[2:]...); err != nil && !errors.As(err, &exit) {
			ts.Check(err)
		}
		return want.MatchString(ts.ReadFile("stdout") + ts.ReadFile("stderr"))
	}) {
		ts.Fatalf("nothing printed matches %s within %s", want, patience)
	}
}

// installed remembers the CRD files that the run has put in.
var installed struct {
	sync.Mutex
	files map[string]error
}

// cmdCRDs: crds FILE GROUP/VERSION.
func cmdCRDs(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 2, "crds FILE GROUP/VERSION")
	installed.Lock()
	defer installed.Unlock()
	text := ts.ReadFile(args[0])
	err, done := installed.files[text]
	if !done {
		err = installCRDs(ts, ts.MkAbs(args[0]), args[1])
		if installed.files == nil {
			installed.files = map[string]error{}
		}
		installed.files[text] = err
	}
	ts.Check(err)
}

// installCRDs waits until the server serves their schema, which it does a moment
// after it calls them established.
func installCRDs(ts *testscript.TestScript, file, groupVersion string) error {
	s := storyOf(ts)
	if _, err := s.kubectl(ts, "apply", "--server-side", "--force-conflicts", "-f", file); err != nil {
		return err
	}
	rest := s.server.client.Discovery().RESTClient()
	if !comes(func() bool {
		_, err := rest.Get().AbsPath("/openapi/v3/apis/" + groupVersion).DoRaw(context.Background())
		return err == nil
	}) {
		return errors.New("the server does not serve the schema of " + groupVersion)
	}
	return nil
}

// cmdExpand: expand FILE... puts the values of $NS and ${NS} into files.
func cmdExpand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) == 0, "expand FILE...")
	for _, file := range args {
		text := strings.NewReplacer("${NS}", storyOf(ts).ns, "$NS", storyOf(ts).ns).Replace(ts.ReadFile(file))
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o666))
	}
}

// cmdPad: pad FILE... puts 300 KB of letters in place of the word PADDING.
func cmdPad(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) == 0, "pad FILE...")
	for _, file := range args {
		text := strings.ReplaceAll(ts.ReadFile(file), "PADDING", strings.Repeat("x", 300_000))
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o666))
	}
}
