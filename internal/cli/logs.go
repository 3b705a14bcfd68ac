package cli

import (
	"flag"
	"io"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// addLogFlags adds the two of klog's flags that users of kubectl know.
func addLogFlags(flags *pflag.FlagSet) {
	all := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(all)
	for _, name := range []string{"v", "vmodule"} {
		flags.AddGoFlag(all.Lookup(name))
	}
}

// quietLogs keeps the client library's log lines out of stderr, where others read notes, unless -v
// or --vmodule ask for them. Errors that it both returns and logs are printed as errors; one that
// it only logs becomes a warning.
func quietLogs(flags *pflag.FlagSet, w *warnings) {
	if flags.Changed("v") || flags.Changed("vmodule") {
		return
	}
	klog.SetLogger(klog.New(logged{w}))
}

// logged is a log sink for the library.
type logged struct{ warnings *warnings }

// Init does nothing.
func (logged) Init(klog.RuntimeInfo) {}

// Enabled returns false: only errors are handled.
func (logged) Enabled(int) bool { return false }

// Info drops the line.
func (logged) Info(int, string, ...any) {}

// Error passes on a message without an error; errors are returned elsewhere.
func (l logged) Error(err error, msg string, _ ...any) {
	if err == nil {
		l.warnings.HandleWarningHeader(299, "", msg)
	}
}

// WithValues changes nothing.
func (l logged) WithValues(...any) klog.LogSink { return l }

// WithName changes nothing.
func (l logged) WithName(string) klog.LogSink { return l }

// hush ends all logging: client-go's messages about a server that is down would appear on the
// completed command line, or among JSON.
func hush() { logTo(io.Discard) }
