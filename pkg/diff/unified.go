package diff

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/linediff"
	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Doc is one object in two forms. A nil Live is an object that will be created,
// a nil Result one that will be deleted.
type Doc struct {
	Name   string // as DocName gives it
	Live   any
	Result any
	Local  any // the file's object, of whose Secrets no value is shown either; nil: none

	// Contested is Result as if local had won the conflicts (see Contested), which are then
	// marked in the diff; nil where there are none.
	Contested any

	Sensitive redact.Fields // are masked too; nil: none
}

// Options of Unified.
type Options struct {
	Color   bool
	Context int // lines around a change; 0 means 3, as in diff -u

	// ShowManagedFields shows managedFields and the rest of the API's own book-keeping: the
	// last-applied annotation, generation, resourceVersion, uid, creationTimestamp, and a
	// status in which nothing changes.
	ShowManagedFields bool

	ShowSecrets bool // print a Secret's values

	// From and To are the names of the two forms above the diff; "" is live and merged.
	From, To string
}

// DocName names an object's diff as kubectl diff names its files:
// apps.v1.Deployment.prod.web.
func DocName(obj any) string {
	version := strings.Replace(merge.At[string](obj, "apiVersion"), "/", ".", 1)
	ns, name := merge.At[string](obj, "metadata", "namespace"), merge.At[string](obj, "metadata", "name")
	return strings.Join([]string{version, merge.At[string](obj, "kind"), ns, name}, ".")
}

// Unified writes the unified diff of the YAML of both forms, and reports whether there is
// one; nothing is written where there is none. A Secret's values are masked, book-keeping
// is left out, and characters that could control a terminal are escaped. The error is w's,
// or that of a value that is not JSON.
func Unified(w io.Writer, d Doc, o Options) (changed bool, err error) {
	old, now, err := Texts(d, o)
	if err != nil {
		return false, fmt.Errorf("%s: %w", escape.Line(d.Name), err)
	}
	if old == now {
		return false, nil
	}
	name := escape.Line(d.Name)
	from, to := cmp.Or(o.From, "live"), cmp.Or(o.To, "merged")
	text := Text(Pair{From: from + "/" + name, To: to + "/" + name, Old: old, Now: now}, max(cmp.Or(o.Context, 3), 0))
	if o.Color {
		text = Colored(text)
	}
	_, err = io.WriteString(w, text)
	return true, err
}

// Texts returns the two texts that Unified compares: the YAML of both forms, masked,
// without book-keeping, "" for a missing form. In a result with conflicts, what live and
// local ask for is between markers. An external diff program gets these as its files. The
// error is that of a value that is not JSON.
func Texts(d Doc, o Options) (live, result string, err error) {
	a, b := d.Live, d.Result
	if !o.ShowManagedFields {
		a, b = quiet(a, b) // first, since it leaves out more than half of what there is to mask
	}
	if !o.ShowSecrets {
		a, b = redact.Mask(a, b, d.Sensitive, d.Local, d.Live) // its last-applied annotation has former values
	}
	if live, err = yamlText(a); err != nil {
		return "", "", err
	}
	if result, err = yamlText(b); err != nil || d.Contested == nil {
		return live, result, err
	}
	d.Result, d.Contested = d.Contested, nil
	_, local, err := Texts(d, o)
	return live, marked(result, local), err
}

func yamlText(v any) (string, error) {
	if v == nil {
		return "", nil
	}
	y, err := yamldoc.Encode(v)
	return escape.Text(string(y)), err
}

// bookkeeping lists metadata that changes with every write.
var bookkeeping = []string{"managedFields", "generation", "resourceVersion", "uid", "creationTimestamp", "selfLink"}

// quiet leaves book-keeping out. A status is left out only if nothing changes in it, since
// without a status subresource it is configuration.
func quiet(a, b any) (any, any) {
	s, had := merge.At[map[string]any](a)["status"]
	t, has := merge.At[map[string]any](b)["status"]
	drop := a == nil || b == nil || had && has && merge.Identical(s, t)
	return hush(a, drop), hush(b, drop)
}

func hush(v any, status bool) any {
	obj, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if status {
		obj = merge.Without(obj, "status")
	}
	for _, name := range bookkeeping {
		obj = merge.Without(obj, "metadata", name)
	}
	return lastapplied.Without(obj)
}

// Colored returns the text of unified diffs, of any number of files, in the colors of git diff.
func Colored(text string) string {
	var b strings.Builder
	lines := strings.SplitAfter(text, "\n")
	names := 0 // how many of the next lines name the two forms
	for i, line := range lines {
		body := strings.TrimSuffix(line, "\n")
		color := ""
		if begins(lines[i:]) {
			names = 2
		}
		names--
		switch {
		case names >= 0:
			color = Bold
		case strings.HasPrefix(body, "@@"):
			color = Cyan
		case strings.HasPrefix(body, "-"):
			color = Red
		case strings.HasPrefix(body, "+<<<<<<< "), body == "+=======", strings.HasPrefix(body, "+>>>>>>> "):
			color = Yellow
		case strings.HasPrefix(body, "+"):
			color = Green
		}
		b.WriteString(Paint(body, color, true) + line[len(body):])
	}
	return b.String()
}

// begins reports whether a diff begins with these lines.
func begins(lines []string) bool {
	return len(lines) > 2 && strings.HasPrefix(lines[0], "--- ") && strings.HasPrefix(lines[1], "+++ ") && !strings.HasPrefix(lines[2], "+")
}

// Pair holds two forms of a text, and their names in the head of a diff.
type Pair struct {
	From, To string
	Old, Now string
}

// Text returns the unified diff of two texts, with context lines around each change, as
// diff -u prints it; "" where they are equal. It masks nothing.
func Text(t Pair, context int) string {
	if t.Old == t.Now {
		return ""
	}
	h := hunks{old: linediff.Lines(t.Old), now: linediff.Lines(t.Now), context: context}
	h.out.WriteString("--- " + t.From + "\n+++ " + t.To + "\n")
	all := linediff.Between(h.old, h.now)
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j].Old-all[j-1].OldEnd <= 2*context {
			j++
		}
		h.hunk(all[i:j])
		i = j
	}
	return h.out.String()
}

// hunks writes changes, and counts the offset of the new text's lines from the old one's.
type hunks struct {
	old, now []string
	context  int
	shift    int
	out      strings.Builder
}

func (h *hunks) hunk(all []linediff.Change) {
	first := max(all[0].Old-h.context, 0)
	end := min(all[len(all)-1].OldEnd+h.context, len(h.old))
	grown := 0
	for _, c := range all {
		grown += c.NewEnd - c.New - (c.OldEnd - c.Old)
	}
	fmt.Fprintf(&h.out, "@@ -%s +%s @@\n", span(first, end-first), span(first+h.shift, end-first+grown))
	h.shift += grown
	at := first
	for _, c := range all {
		h.lines(' ', h.old[at:c.Old])
		h.lines('-', h.old[c.Old:c.OldEnd])
		h.lines('+', h.now[c.New:c.NewEnd])
		at = c.OldEnd
	}
	h.lines(' ', h.old[at:end])
}

// span names lines as diff does: a single one without a count, none by the line before.
func span(first, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", first)
	case 1:
		return fmt.Sprint(first + 1)
	}
	return fmt.Sprintf("%d,%d", first+1, n)
}

func (h *hunks) lines(mark byte, lines []string) {
	for _, l := range lines {
		h.out.WriteByte(mark)
		h.out.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			h.out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// The colors of git diff, for a terminal.
const (
	Bold   = "\x1b[1m"
	Red    = "\x1b[31m"
	Green  = "\x1b[32m"
	Yellow = "\x1b[33m"
	Cyan   = "\x1b[36m"

	reset = "\x1b[0m"
)

// Paint returns a text in a color, if on is set; color "" is none.
func Paint(text, color string, on bool) string {
	if !on || color == "" || text == "" {
		return text
	}
	return color + text + reset
}

// Contested returns a merge's result as if local had won every conflict, for Doc.Contested,
// with what the server fills in (see Expected). It is nil where there are no conflicts.
// local is the file's object, typ its type; nil knows no defaults. A conflict in a place
// that the result does not have is left out.
func Contested(result any, conflicts []merge.Disagreement, local any, typ *merge.Type) any {
	if len(conflicts) == 0 {
		return nil
	}
	out := result
	var changes []merge.Change
	set := func(p merge.Path, was, now merge.Opt) {
		c := merge.Change{Op: merge.OpSet, Path: p, Old: was, New: now}
		if !stated(now) {
			c.Op, c.New = merge.OpRemove, merge.Opt{}
		}
		if v, err := merge.Replay(out, []merge.Change{c}); err == nil {
			out, changes = v, append(changes, c)
		}
	}
	for _, d := range conflicts {
		set(d.Path, d.Live, d.Local)
		if v, ok := merge.Lookup(local, d.By, nil); ok && len(d.By) > 0 {
			set(d.By, merge.Opt{}, merge.Some(v))
		}
	}
	return Expected(out, changes, typ)
}

// sideMarks are the labels of what live and local have.
var sideMarks = linemerge.Marks{Ours: "live", Theirs: "local"}

// marked returns live's text. Where local differs, it has the lines of both between the markers
// that git uses, so that a diff shows what either side asks for.
func marked(live, local string) string {
	old, now := linediff.Lines(live), linediff.Lines(local)
	var b strings.Builder
	at := 0
	for _, c := range linediff.Between(old, now) {
		b.WriteString(strings.Join(old[at:c.Old], ""))
		b.WriteString(sideMarks.Conflict(strings.Join(old[c.Old:c.OldEnd], ""), strings.Join(now[c.New:c.NewEnd], "")))
		at = c.OldEnd
	}
	b.WriteString(strings.Join(old[at:], ""))
	return b.String()
}

// Expected returns what the server is expected to store for a result of a merge's changes.
// A value that is merged as one and that live also had gets what the server fills into it,
// since a default that live states is not a difference. Elsewhere the result is as sent.
// typ is the object's type; nil knows no defaults.
func Expected(result any, changes []merge.Change, typ *merge.Type) any {
	in := merge.NewFinder(result, typ)
	var filled []merge.Change
	for _, c := range changes {
		if c.Op != merge.OpSet || merge.IsScalar(c.Old.Value) || merge.IsScalar(c.New.Value) {
			continue
		}
		if made := in.CompleteAt(c.Path, c.New.Value); !merge.Identical(made, c.New.Value) {
			filled = append(filled, merge.Change{Op: merge.OpSet, Path: c.Path, Old: c.New, New: merge.Some(made)})
		}
	}
	if with, err := merge.Replay(result, filled); err == nil {
		return with
	}
	return result
}

// Stored names a change from what a server has stored to what was planned, on one line,
// masked as in notes.
func (r Report) Stored(c merge.Change) string {
	s := r.mask(c.Path, sides{live: c.Old, local: c.New})
	has := func(o merge.Opt) string { return orAbsent(o, content(o, mostParts), "nothing") }
	return c.Path.String() + ": planned is " + has(s.local) + ", the server has " + has(s.live)
}
