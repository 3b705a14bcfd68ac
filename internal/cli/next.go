package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// leftOut lists the flags that no suggested command has: with these more may be lost, a preview is no run,
// and credentials are not repeated.
var leftOut = []string{"recreate", "force-conflicts", "yes", "save-rules", "dry-run", "interactive", "token", "password"}

// vector returns a command with the user's flags that it takes and more does not replace, and with more.
func (c *call) vector(command string, takes func(name string) bool, more ...string) []string {
	out := strings.Fields(command)
	c.cmd.Flags().Visit(func(f *pflag.Flag) {
		replaced := slices.ContainsFunc(more, func(m string) bool { return strings.HasPrefix(m, "--"+f.Name+"=") })
		if replaced || slices.Contains(leftOut, f.Name) || !takes(f.Name) {
			return
		}
		out = append(out, "--"+f.Name+"="+plainValue(f))
	})
	return append(out, more...)
}

// shared reports whether all verbs take a flag.
func (c *call) shared(name string) bool { return c.cmd.Root().PersistentFlags().Lookup(name) != nil }

func isAmong(rows []*flagRow, name string) bool {
	return slices.ContainsFunc(rows, func(f *flagRow) bool { return f.name == name })
}

// reading returns the vector of a verb over the objects of this call; nil for calls that do not merge them.
func (c *call) reading(verb string, more ...string) [][]string {
	if !slices.Contains(strings.Fields(plans+" wait"), c.verb.name()) {
		return nil
	}
	names, _ := namesAndFields(c.cmd.Flags().Args())
	takes := func(name string) bool { return c.shared(name) || isAmong(rowsOf()[verb], name) }
	return [][]string{append(c.vector(c.cmd.Root().CommandPath()+" "+verb, takes, more...), names...)}
}

// toPlan makes the plan that a run can be bound to.
func toPlan(c *call, _ string) [][]string { return c.reading("diff", "--output=plan") }

// toKeep makes the plan with which all that others have set stays.
func toKeep(c *call, _ string) [][]string {
	more := []string{"--policy=live", "--output=plan"}
	if c.given("overwrite") { // --overwrite=false is another policy
		more = append(more, "--overwrite=true")
	}
	return c.reading("diff", more...)
}

// toExplain shows what the sides have at a field.
func toExplain(c *call, field string) [][]string {
	next := c.reading("explain", "--output=json")
	if next != nil && field != "" {
		next[0] = append(next[0], field)
	}
	return next
}

// toWait waits for the objects again.
func toWait(c *call, _ string) [][]string { return c.reading("wait") }

// toRepeat runs the same command.
func toRepeat(c *call, _ string) [][]string {
	all := func(string) bool { return true }
	return [][]string{append(c.vector(c.cmd.CommandPath(), all), c.cmd.Flags().Args()...)}
}

// toPlace runs the same command, with the objects in their own namespaces.
func toPlace(c *call, field string) [][]string {
	return [][]string{slices.DeleteFunc(toRepeat(c, field)[0], func(word string) bool { return strings.HasPrefix(word, "--namespace=") })}
}

// toList lists the namespaces that there are.
func toList(c *call, _ string) [][]string {
	return [][]string{c.vector("kubectl get namespaces", func(name string) bool {
		return name != "namespace" && c.shared(name) && !isAmong(rowsOf()["every"], name)
	})}
}

// failure prints an error for programs: a note, its reason, and what can be run next.
func (e *env) failure(n diff.Note, err error) {
	r, field := reasonOf(err), fieldOf(err)
	more := struct {
		Reason    string     `json:"reason"`
		Path      string     `json:"path,omitempty"`
		Retryable bool       `json:"retryable"`
		Next      [][]string `json:"next"`
	}{r.name, field, r.wait, [][]string{}}
	if r.next != nil && e.ran != nil {
		more.Next = append(more.Next, r.next(e.ran, field)...)
	}
	head, bad := n.MarshalJSON()
	tail, worse := json.Marshal(more)
	if bad == nil && worse == nil { // only stdout matters
		_ = escape.WriteJSON(e.ErrOut, json.RawMessage(string(head[:len(head)-1])+","+string(tail[1:])), "")
	}
}
