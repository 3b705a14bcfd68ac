package cli

import (
	"flag"
	"io"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// addLogFlags adds the two of klog's flags that a user of kubectl knows.
func addLogFlags(flags *pflag.FlagSet) {
	all := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(all)
	for _, name := range []string{"v", "vmodule"} {
		flags.AddGoFlag(all.Lookup(name))
	}
}

// quietLogs keeps the client library's log lines out of stderr, where others read
// notes, unless -v or --vmodule ask for them. The errors that it returns as well as
// logs are printed as errors; what it only logs becomes a warning.
func quietLogs(flags *pflag.FlagSet, w *warnings) {
	if flags.Changed("v") || flags.Changed("vmodule") {
		return
	}
	klog.SetLogger(klog.New(logged{w}))
}

// logged is where the library logs to.
type logged struct{ warnings *warnings }

// Init has nothing to do.
func (logged) Init(klog.RuntimeInfo) {}

// Enabled: nothing but errors is looked at.
func (logged) Enabled(int) bool { return false }

// Info passes nothing on.
func (logged) Info(int, string, ...any) {}

// Error passes on what comes without an error that somebody else returns.
func (l logged) Error(err error, msg string, _ ...any) {
	if err == nil {
		l.warnings.HandleWarningHeader(299, "", msg)
	}
}

// WithValues changes nothing.
func (l logged) WithValues(...any) klog.LogSink { return l }

// WithName changes nothing.
func (l logged) WithName(string) klog.LogSink { return l }

// hush ends all logging: what client-go reports of a server that is down would stand
// on the command line that is completed, or among JSON.
func hush() { logTo(io.Discard) }
