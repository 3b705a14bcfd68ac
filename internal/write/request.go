package write

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// body is what a request carries: an object, a merge patch, or a JSON patch.
type body struct {
	value any
	text  json.RawMessage // in place of value
	JSON  bool            // it is a JSON patch
}

func (b body) any() any {
	if b.text != nil {
		return b.text
	}
	return b.value
}

// request is what is to be sent for a plan that writes. A pinned one is bound to
// the values that it replaces, any other to the version of the object that was
// merged.
func request(p apply.Planned, pinned bool) (body, error) {
	if p.Sealed != nil {
		return body{text: p.Sealed.Body, JSON: p.Sealed.JSON}, nil
	}
	if p.Action == apply.Create {
		return body{value: p.Final}, nil
	}
	_, sayable := diff.Sayable(p.Live, p.Final)
	if pinned || !sayable {
		ops := diff.JSONPatch(p.Live, p.Final, diff.JSONPatchOptions{PinAbsent: true})
		if !pinned {
			ops = append([]diff.Op{{Op: "test", Path: "/metadata/resourceVersion", Value: version(p.Live)}}, ops...)
		}
		return body{value: ops, JSON: true}, nil
	}
	patch, err := bound(p)
	return body{value: patch}, err
}

// bound is the merge patch with the resourceVersion of the object that was merged,
// so that the server refuses it if anybody has written since.
func bound(p apply.Planned) (map[string]any, error) {
	patch, _ := diff.MergePatch(p.Live, p.Final)
	rv := version(p.Live)
	if rv == "" {
		return nil, errors.New("metadata.resourceVersion: the server gave none, so that a write could go over somebody else's: nothing was written")
	}
	out := make(map[string]any, len(patch)+1)
	for k, v := range patch {
		out[k] = v
	}
	meta := map[string]any{"resourceVersion": rv}
	was, _ := patch["metadata"].(map[string]any)
	for k, v := range was {
		meta[k] = v
	}
	out["metadata"] = meta
	return out, nil
}

// Seal is the plan with the request that it comes to in place of Live, Final and
// Result, which take far more room. Where it has to be merged anew, that makes a
// whole plan of it again.
func Seal(p apply.Planned) (apply.Planned, error) {
	if p.Sealed != nil {
		return p, nil
	}
	sealed := &apply.Sealed{Version: strings.Clone(version(p.Live))} // a part of the server's whole answer, else
	if p.Action != apply.Nothing {
		b, err := request(p, false)
		if err != nil {
			return p, fmt.Errorf("%s: %w", p.Name, err)
		}
		text, err := cluster.Encode(b.value)
		if err != nil {
			return p, fmt.Errorf("%s: cannot be written as JSON: %w", p.Name, err)
		}
		sealed.Body, sealed.JSON = bytes.Clone(text), b.JSON // without the room that encoding took
	}
	p.Sealed, p.Live, p.Final, p.Type = sealed, nil, nil, nil
	p.Result, p.Changes, p.Because = nil, nil, nil
	return p, nil
}

// read is the version of the live object that was merged.
func read(p apply.Planned) string {
	if p.Sealed != nil {
		return p.Sealed.Version
	}
	return version(p.Live)
}

func version(obj map[string]any) string {
	meta, _ := obj["metadata"].(map[string]any)
	rv, _ := meta["resourceVersion"].(string)
	return rv
}
