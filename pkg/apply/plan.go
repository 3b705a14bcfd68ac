package apply

import (
	"bytes"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Plan is the planned write of one object. It does not change, and is safe for concurrent use.
type Plan struct {
	planned apply.Planned
	manager string
	ignored []merge.Path
}

// Request is a write, as data.
type Request struct {
	// Type of Body, for a Patch. "" is Create: Body is then the new object.
	Type types.PatchType

	// Body is JSON, numbers digit for digit; nil where there is nothing to write. Secrets are not
	// masked in it.
	Body []byte

	// Manager is the field manager to write with.
	Manager string

	// Force: a server-side apply takes fields over from others, as planned. Send it as it is: the
	// server refuses what others have taken since.
	Force bool

	// Again: this write only prepares another one, since server-side apply takes over what was
	// applied from the client's side. Plan again with the object that the server returns.
	Again bool
}

// Changed reports whether anything has to be written.
func (p *Plan) Changed() bool { return p.planned.Action != apply.Nothing }

// Request returns the write. A patch is bound to the resourceVersion of the live object that was
// planned with: the server refuses it with 409 Conflict once another client has written; plan again
// then. It is an error if live had none.
func (p *Plan) Request() (Request, error) {
	r, err := p.planned.Request(false)
	if err != nil {
		return Request{}, fmt.Errorf("%s: %w", p.planned.Subject.Name, err)
	}
	again := p.planned.Applying != nil && p.planned.Applying.Owners != nil && p.Changed()
	return Request{Type: r.Type, Body: bytes.TrimSpace(r.Body), Manager: p.manager, Force: r.Force, Again: again}, nil
}

// Object returns the object as it is after the write, for Create or for a comparison. What the API
// server fills in is not in it. Secrets are not masked. It is an error if a number in it fits
// neither int64 nor float64.
func (p *Plan) Object() (*unstructured.Unstructured, error) {
	return object.Object{Value: p.planned.Final}.Unstructured()
}

// Applied returns what to give to Planner.Since the next time, once the write has succeeded. The
// values of a Secret are blanked in it. nil where the Planner keeps it elsewhere.
func (p *Plan) Applied() []byte { return []byte(p.planned.Record) }

// Warnings reports, one per line of a log, what in desired has no effect: fields that the kind
// does not have or that are the server's, and a record of what was applied that cannot be read.
func (p *Plan) Warnings() []string {
	out := object.Each(p.ignored, func(path merge.Path) string { return path.String() + ": is the server's, and is not applied" })
	return append(out, p.planned.Problems...)
}

// most is the length of Plan.String in bytes: the API takes 1,024 in the note of an Event.
const most = 1000

// String returns the changes on one line that has room in an Event; "unchanged" where there are
// none.
func (p *Plan) String() string {
	var b strings.Builder
	changes := p.Changes()
	for i, c := range changes {
		text := c.String()
		rest := fmt.Sprintf("; and %d more", len(changes)-i)
		if b.Len()+len("; ")+len(text)+len(rest) > most {
			return strings.TrimPrefix(b.String()+rest, "; and ")
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(text)
	}
	if len(changes) == 0 {
		return "unchanged"
	}
	return b.String()
}
