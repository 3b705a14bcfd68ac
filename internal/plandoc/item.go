package plandoc

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// top reads the parts around the objects.
func (d *decoder) top(f fieldsAt) (*Document, error) {
	doc := &Document{}
	var version, kind, secrets, salt, rules string
	err := f.texts(map[string]*string{"apiVersion": &version, "kind": &kind, "secrets": &secrets, "salt": &salt, "sensitive": &rules})
	if err != nil {
		return nil, err
	}
	if doc.Rules, err = schema.ParseRules([]byte(rules)); err != nil {
		return nil, f.bad("sensitive", "must be rules: "+err.Error())
	}
	if err := errors.Join(f.flag("record", &doc.Record), f.flag("serverSide", &doc.ServerSide)); err != nil {
		return nil, err
	}
	switch secrets {
	case "shown":
		doc.ShowSecrets = true
	case "hashed":
	default:
		return nil, f.bad("secrets", "must be shown or hashed")
	}
	if doc.Salt, err = base64.StdEncoding.DecodeString(salt); err != nil || len(doc.Salt) < 8 {
		return nil, f.bad("salt", "must be at least 8 bytes in base64")
	}
	if err := f.mapping("cluster", doc.Cluster.read); err != nil {
		return nil, err
	}
	if c := doc.Cluster; c == (Cluster{}) {
		return nil, f.bad("cluster", "must have the uid of the cluster: without it the plan would be bound to none")
	}
	if err := f.mapping("set", doc.readSet); err != nil {
		return nil, err
	}
	if err := f.mapping("summary", doc.readSummary); err != nil {
		return nil, err
	}
	return doc, f.end()
}

func (c *Cluster) read(f fieldsAt) error {
	if err := f.texts(map[string]*string{"uid": &c.UID, "server": &c.Server}); err != nil {
		return err
	}
	return f.flag("offline", &c.Offline)
}

func (doc *Document) readSet(f fieldsAt) error {
	doc.Set = &Set{}
	return f.texts(map[string]*string{"id": &doc.Set.ID, "parent": &doc.Set.Parent, "namespace": &doc.Set.Namespace})
}

func (doc *Document) readSummary(f fieldsAt) error {
	doc.Summary = &Summary{Counts: map[Action]int{}}
	for _, a := range append(slices.Clone(actions), "unchanged") {
		v, given := f.take(string(a))
		n, isNumber := v.(json.Number)
		count, err := strconv.Atoi(n.String())
		if given && (!isNumber || err != nil || count < 0) {
			return f.bad(string(a), "must be a number")
		}
		doc.Summary.Counts[a] = count
	}
	doc.Summary.Unchanged = doc.Summary.Counts["unchanged"]
	delete(doc.Summary.Counts, "unchanged")
	return nil
}

// item reads an object.
func (d *decoder) item(f fieldsAt, v any) (Item, error) {
	f, err := f.of(v)
	if err != nil {
		return Item{}, err
	}
	i := Item{Line: f.doc.LineOf(f.path)}
	var action, outcome string
	err = f.texts(map[string]*string{
		"action": &action, "apiVersion": &i.APIVersion, "kind": &i.Kind, "namespace": &i.Namespace, "name": &i.Name,
		"uid": &i.UID, "resourceVersion": &i.ResourceVersion, "impact": &i.Impact, "reason": &i.Reason, "outcome": &outcome,
	})
	if err != nil {
		return Item{}, err
	}
	i.Action, i.Outcome = Action(action), Outcome(outcome)
	if err := i.check(f); err != nil {
		return Item{}, err
	}
	if err := f.mapping("written", func(f fieldsAt) error {
		return f.texts(map[string]*string{"uid": &i.Written.UID, "resourceVersion": &i.Written.ResourceVersion})
	}); err != nil {
		return Item{}, err
	}
	if err := f.each("conflicts", func(f fieldsAt) error {
		var c ConflictAt
		err := f.texts(map[string]*string{"path": &c.Path, "reason": &c.Reason})
		i.Conflicts = append(i.Conflicts, c)
		return err
	}); err != nil {
		return Item{}, err
	}
	if i.Notes, err = f.strings("notes"); err != nil {
		return Item{}, err
	}
	if err := f.each("changes", i.readChange); err != nil {
		return Item{}, err
	}
	if err := f.mapping("lastApplied", func(f fieldsAt) error {
		i.LastApplied = &Sides{stated(f.opt("before")), stated(f.opt("after"))}
		return nil
	}); err != nil {
		return Item{}, err
	}
	return i, f.end()
}

// stated returns o, and absent for null.
func stated(o merge.Opt) merge.Opt {
	o.Set = o.Set && o.Value != nil
	return o
}

// check reports missing and impossible fields.
func (i *Item) check(f fieldsAt) error {
	switch {
	case !slices.Contains(actions, i.Action):
		return f.bad("action", fmt.Sprintf("must be one of %v", actions))
	case i.APIVersion == "" || i.Kind == "" || i.Name == "":
		return f.fail(f.path, "must have apiVersion, kind and name")
	case !slices.Contains([]Outcome{"", Begun, Done, Refused}, i.Outcome):
		return f.bad("outcome", "must be begun, done or refused")
	case (i.Action == Change || i.Action == Delete) && i.UID == "":
		return f.fail(f.path, "must have the uid of the object: without it the plan would be bound to none")
	}
	return nil
}

// readChange reads a change of the object.
func (i *Item) readChange(f fieldsAt) error {
	c := ChangeOf{Sides: Sides{f.opt("before"), f.opt("after")}}
	if err := f.texts(map[string]*string{"path": &c.Path, "reason": &c.Reason}); err != nil {
		return err
	}
	if c.Path == "" {
		return f.fail(f.path, "must have a path")
	}
	if _, err := c.ParsedPath(); err != nil {
		return f.bad("path", err.Error())
	}
	err := f.mapping("order", func(f fieldsAt) (err error) {
		c.Order = &Order{}
		if c.Order.Before, err = f.strings("before"); err == nil {
			c.Order.After, err = f.strings("after")
		}
		return err
	})
	if err != nil {
		return err
	}
	if c.Order == nil && !c.Before.Set && !c.After.Set {
		return f.fail(f.path, "must have before or after")
	}
	i.Changes = append(i.Changes, c)
	return nil
}

// ParsedPath returns the path of a change; empty for the whole object. The error is
// merge.ParsePath's.
func (c ChangeOf) ParsedPath() (merge.Path, error) {
	if c.Path == "." {
		return merge.Path{}, nil
	}
	return merge.ParsePath(c.Path)
}
