package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// others edit the objects, at random.
func (p *promises) others(state int) {
	for _, o := range p.all {
		if !o.left && o.live[state] != nil {
			o.added = p.edit(o, o.live[state]) && state == asPlanned
		}
	}
}

// edit has another client edit an object, in one of the ways that there are. What the server
// refuses is not an edit. It returns true if no more than a label was added.
func (p *promises) edit(o *promised, was map[string]any) (added bool) {
	manager, ctx := editors[p.IntN(len(editors))], p.t.Context()
	here := o.kind.url(p.ns, o.name)
	other := o.other
	switch p.IntN(4) {
	case 0:
		other = func() map[string]any { return o.v2 }
	case 1:
		other = func() map[string]any { return o.v1 }
	}
	from := other()
	if from == nil {
		from = o.other()
	}
	edited := edit(p.Rand, was, from)
	var err error
	how := p.IntN(10)
	switch {
	case how == 0:
		p.counts.add("not edited by others", 1)
		return true
	case how <= 2:
		_, err = p.ask(ctx, "PATCH", here, map[string]any{"metadata": map[string]any{"labels": map[string]any{"theirs": fmt.Sprint(p.IntN(3))}}}, "fieldManager", manager)
		added = err == nil
		p.edited("label", err)
	case how <= 4:
		_, err = p.ask(ctx, "PUT", here, edited, "fieldManager", manager)
		p.edited("replace", err)
	case how <= 6:
		_, err = p.ask(ctx, "PATCH", here, mergePatch(was, edited), "fieldManager", manager)
		p.edited("patch", err)
	case how <= 8:
		err = p.applies(o, from, manager)
		p.edited("server-side apply", err)
	case o.kind.kind != "Namespace":
		err = p.remove(ctx, &sweptObject{kind: o.kind, name: o.name})
		p.edited("delete", err)
		if err == nil {
			p.cleaned(ctx, o)
		}
		if err == nil && p.IntN(3) > 0 {
			_, err = p.ask(ctx, "POST", o.kind.url(p.ns, ""), from, "fieldManager", "kubectl-create")
			p.edited("create anew", err)
		}
	}
	return added
}

// cleaned waits until the server has finished what it does itself before a definition that
// was deleted is gone.
func (p *promises) cleaned(ctx context.Context, o *promised) {
	if o.kind.kind != "CustomResourceDefinition" {
		return
	}
	p.awaits(func() bool {
		_, err := p.ask(ctx, "GET", o.kind.url(p.ns, o.name), nil)
		return apierrors.IsNotFound(err)
	})
}

func (p *promises) edited(how string, err error) {
	if err == nil {
		p.counts.add("edits by others: "+how, 1)
	} else {
		p.counts.add("edits by others that are refused", 1)
	}
}

// applies has another client apply a single value by server-side apply.
func (p *promises) applies(o *promised, from map[string]any, manager string) error {
	paths := slices.DeleteFunc(places(from, nil, anything), func(path []any) bool {
		return len(path) > 3 || slices.ContainsFunc(path, func(step any) bool { _, ok := step.(string); return !ok }) || at(from, path) == nil
	})
	v := any(map[string]any{"apiVersion": o.kind.apiVersion(), "kind": o.kind.kind, "metadata": map[string]any{"name": o.name}})
	if len(paths) > 0 {
		path := paths[p.IntN(len(paths))]
		v = setAt(v, path, at(from, path))
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return p.client.Verb("PATCH").AbsPath(o.kind.url(p.ns, o.name)).Param("fieldManager", url.QueryEscape(manager)).Param("force", "true").
		SetHeader("Content-Type", "application/apply-patch+yaml").Body(text).Do(p.t.Context()).Error()
}

// mergePatch leads from one value to another (RFC 7386).
func mergePatch(from, to map[string]any) map[string]any {
	out := map[string]any{}
	for name := range from {
		if _, ok := to[name]; !ok {
			out[name] = nil
		}
	}
	for name, v := range to {
		a, okA := from[name].(map[string]any)
		b, okB := v.(map[string]any)
		switch was, had := from[name]; {
		case okA && okB:
			if inner := mergePatch(a, b); len(inner) > 0 {
				out[name] = inner
			}
		case !had || !merge.Identical(was, v):
			out[name] = v
		}
	}
	return out
}

// patched is v with a merge patch applied (RFC 7386).
func patched(v, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	m, _ := v.(map[string]any)
	out := maps.Clone(m)
	if out == nil {
		out = map[string]any{}
	}
	for name, e := range p {
		if e == nil {
			delete(out, name)
		} else {
			out[name] = patched(out[name], e)
		}
	}
	return out
}
