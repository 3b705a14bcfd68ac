package diff

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Section is one object in a Markdown comment.
type Section struct {
	Report
	Context string // of the clusters, in a comment about several; "" in one about one
	Doc     Doc
	Outcome string // what happened or would happen to it: created, configured, unchanged…
	Impact  string // its effect on what runs: rolls out 3 pods…; "" if nothing is written
}

// MarkdownOptions of a Comment.
type MarkdownOptions struct {
	Title string  // of the comment; "" has none
	Diff  Options // Color and ShowSecrets are ignored
	Limit int     // bytes; rows and diffs that do not fit are left out and counted. 0 means 60000: GitHub takes 65536
}

// Comment collects a comment for a pull request object by object: a table of what is created,
// changed, removed and in conflict, and each object's diff, conflicts and notes, collapsed. Objects
// without changes are only counted. Secrets are masked whatever the options are: a comment
// has more readers than a terminal. It keeps only each object's text, and that only as long as it may fit.
type Comment struct {
	options MarkdownOptions
	rows    strings.Builder
	context [2]string // the head of the column with contexts, and the rule below; "" if there is none
	more    int       // objects for which the table has no room
	details []string
	room    int // bytes that the details may still take
	left    int // objects whose details do not fit
	same    int // objects in which nothing changes
}

// NewComment returns an empty comment.
func NewComment(o MarkdownOptions) *Comment {
	o.Limit = cmp.Or(o.Limit, 60000)
	o.Diff.Color, o.Diff.ShowSecrets = false, false
	return &Comment{options: o, room: o.Limit}
}

// Add adds an object. The error is that of a value that is not JSON.
func (c *Comment) Add(s Section) error {
	if s.quiet() {
		c.same++
		return nil
	}
	c.row(s)
	text, err := s.details(c.options.Diff)
	switch {
	case err != nil:
		return err
	case len(text) > c.room:
		c.left++
	default:
		c.details = append(c.details, text)
		c.room -= len(text)
	}
	return nil
}

func (c *Comment) row(s Section) {
	added, changed, removed := tally(s.Plan.Changes)
	if s.Doc.Live == nil || s.Doc.Result == nil {
		added, changed, removed = 0, 0, 0 // the object is created or deleted as a whole
	}
	if c.rows.Len() > c.options.Limit/3*2 {
		c.more++
		return
	}
	if s.Context != "" {
		c.context = [2]string{"| Context ", "|---"}
		fmt.Fprintf(&c.rows, "| %s ", inline(s.Context))
	}
	fmt.Fprintf(&c.rows, "| %s | %s | %s | %s | %s | %s | %s |\n", strings.ReplaceAll(Code(s.Object), "|", "\\|"), inline(s.Outcome), inline(s.Impact),
		some(added), some(changed), some(removed), some(len(s.Plan.Conflicts)))
}

// Write writes the comment. The error is w's.
func (c *Comment) Write(w io.Writer) error {
	var b strings.Builder
	if c.options.Title != "" {
		fmt.Fprintf(&b, "### %s\n\n", inline(c.options.Title))
	}
	if c.rows.Len() > 0 {
		b.WriteString(c.context[0] + "| Object | Outcome | Impact | Fields created | changed | removed | Conflicts |\n" + c.context[1] + "|---|---|---|--:|--:|--:|--:|\n" + c.rows.String())
	}
	if c.more > 0 {
		fmt.Fprintf(&b, "\nAnd %s: the table would be too long.\n", Count(c.more, "object more", "objects more"))
	}
	left := c.left
	for _, text := range c.details {
		if b.Len()+len(text) > c.options.Limit {
			left++
			continue
		}
		b.WriteString(text)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n%s left out: the comment would be too long.\n", Count(left, "object's diff", "objects' diffs"))
	}
	if c.same > 0 {
		fmt.Fprintf(&b, "\n%s unchanged.\n", Count(c.same, "object", "objects"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Section) quiet() bool {
	return s.Impact == "" && s.Doc.Live != nil && s.Doc.Result != nil && len(s.Plan.Changes) == 0 && len(s.Plan.Conflicts) == 0 && len(Brief(Notes(s.Report), 0, s.Preview)) == 0
}

func tally(changes []merge.Change) (added, changed, removed int) {
	for _, c := range changes {
		switch {
		case c.Op == merge.OpRemove:
			removed++
		case c.Op == merge.OpSet && !c.Old.Set:
			added++
		default:
			changed++
		}
	}
	return added, changed, removed
}

func some(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// Count returns a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Counts lists numbers of what is named by words, those that are not 0: "1 created, 3 configured".
func Counts[W ~string](of map[W]int, order []W) string {
	var parts []string
	for _, w := range order {
		if of[w] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", of[w], w))
		}
	}
	return strings.Join(parts, ", ")
}

// details returns one object's collapsed part.
func (s Section) details(o Options) (string, error) {
	var d strings.Builder
	if _, err := Unified(&d, s.Doc, o); err != nil {
		return "", err
	}
	s.ShowSecrets = false
	var b strings.Builder
	title := strings.TrimSuffix(s.Object+" "+s.Outcome+", "+s.Context, ", ")
	fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n\n", html.EscapeString(escape.Line(title)))
	notes := append(append(Conflicts(s.Report), s.Guards...), Brief(Notes(s.Report), 0, s.Preview)...)
	for _, n := range notes {
		b.WriteString("- " + Code(n.Text()) + "\n")
		for _, way := range n.Ways() {
			b.WriteString("  - " + Code(way) + "\n")
		}
	}
	if len(notes) > 0 {
		b.WriteString("\n")
	} else if d.Len() == 0 {
		return "", nil
	}
	if d.Len() > 0 {
		b.WriteString(Fenced("diff", d.String()))
	}
	b.WriteString("\n</details>\n")
	return b.String(), nil
}

// Fenced returns a text of whole lines as a block of Markdown in a language.
func Fenced(language, text string) string {
	f := fence(text, 3)
	return f + language + "\n" + text + f + "\n"
}

// fence returns a run of backticks that the text does not contain, at least n long.
func fence(text string, n int) string {
	f := strings.Repeat("`", n)
	for strings.Contains(text, f) {
		f += "`"
	}
	return f
}

// Code returns a text so that Markdown prints it to the letter, on one line.
func Code(s string) string {
	s = strings.ReplaceAll(escape.Text(s), "\n", " ")
	f := fence(s, 1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return f + s + f
}

// inline escapes what has a meaning in Markdown or HTML.
func inline(s string) string {
	s = html.EscapeString(strings.ReplaceAll(escape.Text(s), "\n", " "))
	for _, c := range []string{"\\", "|", "*", "_", "`", "[", "]"} {
		s = strings.ReplaceAll(s, c, "\\"+c)
	}
	return s
}
