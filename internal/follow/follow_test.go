package follow

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// script is a server whose answers are known. The last watch ends the test's context.
type script struct {
	lists, watches []func() error
	gets           map[string]error
	events         []cluster.Event
	end            func()
	asked          []string
}

func (s *script) Snapshot(_ context.Context, _ cluster.Watching, keep func(map[string]any) map[string]any) (cluster.Snapshot, error) {
	s.asked = append(s.asked, "list")
	if err := next(&s.lists); err != nil {
		return cluster.Snapshot{}, err
	}
	var out cluster.Snapshot
	for _, name := range []string{"a", "b"} {
		if obj := keep(object(name)); obj != nil {
			out.Objects = append(out.Objects, obj)
		}
	}
	out.Version = "7"
	return out, nil
}

func (s *script) Watch(_ context.Context, w cluster.Watching, each func(cluster.Event)) error {
	s.asked = append(s.asked, "watch from "+w.Version)
	if len(s.watches) == 0 {
		s.end()
		return context.Canceled
	}
	for _, e := range s.events {
		each(e)
	}
	s.events = nil
	return next(&s.watches)
}

func (s *script) Get(_ context.Context, t cluster.Target) (map[string]any, error) {
	s.asked = append(s.asked, "get "+t.Name)
	if err := s.gets[t.Name]; err != nil {
		return nil, err
	}
	return object(t.Name), nil
}

func next(answers *[]func() error) error {
	if len(*answers) == 0 {
		return nil
	}
	one := (*answers)[0]
	*answers = (*answers)[1:]
	return one()
}

func object(name string) map[string]any {
	return map[string]any{"metadata": map[string]any{"name": name}}
}

func code(n int) func() error {
	return func() error { return &cluster.Refusal{Code: n, Text: "refused"} }
}

func down() error { return &cluster.Unreachable{} }

func none() error { return nil }

func TestFollower(t *testing.T) {
	for _, tt := range []struct {
		what  string
		s     script
		names []string
		asked []string
		sent  []string
	}{
		{
			what:  "events, and a watch that the server ends",
			names: []string{"a", "b"},
			s: script{watches: []func() error{none}, events: []cluster.Event{
				{Type: cluster.Modified, Object: object("a"), Version: "8"},
				{Type: cluster.Modified, Object: object("other"), Version: "9"},
				{Type: cluster.Deleted, Object: object("b"), Version: "10"},
				{Type: cluster.Bookmark, Object: object(""), Version: "20"},
			}},
			asked: []string{"list", "watch from 7", "watch from 20"},
			sent:  []string{"all a b", "a", "gone b"},
		},
		{
			what:  "a version that is too old",
			names: []string{"a"},
			s:     script{watches: []func() error{code(410)}},
			asked: []string{"list", "watch from 7", "list", "watch from 7"},
			sent:  []string{"all a", "all a"},
		},
		{
			what:  "a server that restarts",
			names: []string{"a"},
			s:     script{lists: []func() error{none, down, down, none}, watches: []func() error{down}},
			asked: []string{"list", "watch from 7", "list", "list", "list", "watch from 7"},
			sent:  []string{"all a", "trouble", "all a"},
		},
		{
			what:  "no permission to watch",
			names: []string{"a"},
			s:     script{watches: []func() error{code(403), code(403)}},
			asked: []string{"list", "watch from 7", "list", "watch from 7", "list", "watch from 7"},
			sent:  []string{"all a", "all a", "all a"},
		},
		{
			what:  "no permission to list",
			names: []string{"a", "b"},
			s:     script{lists: []func() error{code(403), code(403)}, gets: map[string]error{"b": code(404)()}},
			asked: []string{"list", "get a", "get b", "list", "get a", "get b", "list", "watch from 7"},
			sent:  []string{"all a", "all a", "all a b"},
		},
		{
			what:  "no permission at all",
			names: []string{"a", "b"},
			s:     script{lists: []func() error{code(403), none}, gets: map[string]error{"a": code(403)()}},
			asked: []string{"list", "get a", "list", "watch from 7"},
			sent:  []string{"denied", "all a b"},
		},
		{
			what:  "all of a kind, which may not be listed",
			s:     script{lists: []func() error{code(403)}},
			asked: []string{"list"},
			sent:  []string{"denied"},
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			tt.s.end = cancel
			f := &Follower{API: &tt.s, Source: Source{Names: tt.names}, Every: time.Millisecond}
			f.Keep = func(obj map[string]any) map[string]any {
				if f.Names == nil || f.Has(obj) {
					return obj
				}
				return nil
			}
			var sent []string
			f.Send = func(_ context.Context, u Update) { sent = append(sent, words(u)) }
			f.Run(ctx)
			if !reflect.DeepEqual(tt.s.asked, tt.asked) {
				t.Errorf("asked %q, want %q", tt.s.asked, tt.asked)
			}
			if !reflect.DeepEqual(sent, tt.sent) {
				t.Errorf("sent %q, want %q", sent, tt.sent)
			}
		})
	}
}

// silent is a server whose first watch says nothing until its reader ends it.
type silent struct {
	*script
	watched bool
}

func (s *silent) Watch(ctx context.Context, w cluster.Watching, each func(cluster.Event)) error {
	if s.watched {
		return s.script.Watch(ctx, w, each)
	}
	s.watched = true
	<-ctx.Done()
	return ctx.Err()
}

// TestSilence: the objects are read where a watch has said nothing for too long.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &silent{script: &script{end: cancel}}
		begun, updates := time.Now(), 0
		f := &Follower{API: s, Source: Source{Names: []string{"a"}}, Every: time.Second, Keep: func(obj map[string]any) map[string]any { return obj }}
		f.Send = func(context.Context, Update) { updates++ }
		f.Run(ctx)
		if updates != 2 || time.Since(begun) != Silence {
			t.Errorf("%d updates in %s", updates, time.Since(begun))
		}
	})
}

// words are an update in words.
func words(u Update) string {
	text := ""
	switch {
	case u.Trouble != nil:
		return "trouble"
	case u.Denied != nil:
		return "denied"
	case u.Whole:
		text = "all "
	case u.Gone:
		text = "gone "
	}
	for i, o := range u.Objects {
		if i > 0 {
			text += " "
		}
		text += fmt.Sprint(o["metadata"].(map[string]any)["name"])
	}
	return text
}

func TestSources(t *testing.T) {
	at := func(kind, namespace, name string) cluster.Target {
		return cluster.Target{Resource: cluster.Resource{Version: "v1", Kind: kind, Status: name == "a"}, Namespace: namespace, Name: name}
	}
	got := Sources([]cluster.Target{at("Pod", "n", "a"), at("Secret", "n", "s"), at("Pod", "n", "b"), at("Pod", "m", "a"), at("Secret", "n", "t")})
	want := "Pod n  [a b], Secret n metadata.name=s [s], Pod m metadata.name=a [a], Secret n metadata.name=t [t]"
	text := ""
	for i, s := range got {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %s %s %v", s.Kind, s.Namespace, s.Fields, s.Names)
	}
	if text != want {
		t.Errorf("%s, want %s", text, want)
	}
}
