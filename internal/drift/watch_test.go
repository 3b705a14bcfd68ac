package drift

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func TestChanges(t *testing.T) {
	row := func(path, live, by string) Row {
		p, err := merge.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		r := Row{Object: Object{Name: "c"}, Drift: Changed, Path: p, Wanted: merge.Some("1"), Live: merge.Some(live)}
		if by != "" {
			r.Owner = &merge.Owner{Manager: by}
		}
		return r
	}
	later := row("data.a", "2", "x")
	later.Owner.Time = time.Unix(9, 0)
	owners := ownersOf(t, managed("fixer", `{"f:data":{"f:a":{}}}`))
	for _, tt := range []struct {
		reason  string
		was, is []Row
		want    string
	}{
		{"nothing", nil, nil, ""},
		{"it begins", nil, []Row{row("data.a", "2", "x")}, `began data.a "2" x`},
		{"by a later write of the same value", []Row{row("data.a", "2", "x")}, []Row{later}, ""},
		{"another value", []Row{row("data.a", "2", "x")}, []Row{row("data.a", "3", "x")}, `updated data.a "3" x`},
		{"another manager", []Row{row("data.a", "2", "x")}, []Row{row("data.a", "2", "y")}, `updated data.a "2" y`},
		{"it ends, and who has ended it", []Row{row("data.a", "2", "x")}, nil, `ended data.a - fixer`},
		{"no manager is recorded for a removed value", []Row{row("data.b", "2", "x")}, nil, `ended data.b - -`},
		{"what ends comes first", []Row{row("data.b", "2", "x")}, []Row{row("data.a", "2", "x")}, `ended data.b - -, began data.a "2" x`},
	} {
		var got []string
		for _, e := range changes(tt.was, tt.is, owners, time.Unix(1, 0)) {
			cells := e.cells(longest)
			got = append(got, strings.Join([]string{cells[1], cells[5], cells[7], cells[8]}, " "))
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s: %s, want %s", tt.reason, strings.Join(got, ", "), tt.want)
		}
	}
}

// ownersOf are the owners that a managedFields entry names.
func ownersOf(t *testing.T, entry string) merge.Owners {
	t.Helper()
	return ownership.Of(read(t, `{"metadata":{"managedFields":[`+entry+`]}}`))
}

func plainMap(name, value string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"a":%q}}`, name, value)
}

// script is a server whose answers are known: each is given once, and the context ends
// after the last.
type script struct {
	lists   []any // objects, as a list of JSON texts, or an error
	watches []any // events, as lists of (type, JSON text), or an error
	now     any   // the list that is read at the end; nil: the last one
	last    any
	over    bool
	end     func()
	t       *testing.T
}

func (s *script) ends() {
	s.over = true
	s.end()
}

func (s *script) Snapshot(_ context.Context, _ cluster.Watching, keep func(map[string]any) map[string]any) (cluster.Snapshot, error) {
	switch {
	case s.over && s.now != nil:
		s.last = s.now
	case s.over:
	case len(s.lists) == 0:
		s.ends()
		return cluster.Snapshot{}, context.Canceled
	default:
		s.last, s.lists = s.lists[0], s.lists[1:]
	}
	one := s.last
	if err, bad := one.(error); bad {
		return cluster.Snapshot{}, err
	}
	var out cluster.Snapshot
	for _, text := range one.([]string) {
		if obj := keep(read(s.t, text)); obj != nil {
			out.Objects = append(out.Objects, obj)
		}
	}
	return out, nil
}

func (s *script) Watch(_ context.Context, _ cluster.Watching, each func(cluster.Event)) error {
	if len(s.watches) == 0 {
		s.ends()
		return context.Canceled
	}
	one := s.watches[0]
	s.watches = s.watches[1:]
	if err, bad := one.(error); bad {
		return err
	}
	for _, e := range one.([][2]string) {
		each(cluster.Event{Type: cluster.EventType(e[0]), Object: read(s.t, e[1])})
	}
	return nil
}

func (s *script) Get(context.Context, cluster.Target) (map[string]any, error) {
	return nil, &cluster.Refusal{Code: 403, Text: "forbidden"}
}

// at is a ConfigMap of a version of the server's.
func at(version, name, value string) string {
	return strings.Replace(plainMap(name, value), `"metadata":{`, `"metadata":{"resourceVersion":"`+version+`",`, 1)
}

func TestWatcher(t *testing.T) {
	denied, gone := &cluster.Refusal{Code: 403, Text: "forbidden"}, &cluster.Refusal{Code: 410, Text: "too old"}
	for _, tt := range []struct {
		reason   string
		s        script
		said     []string
		compared int // after what is compared first
		drifted  int
		failed   string
	}{
		{
			reason:   "what has changed between the first look and the list",
			s:        script{lists: []any{[]string{at("3", "a", "2"), at("1", "b", "1"), at("9", "other", "1")}}},
			said:     []string{`began a data.a "2"`},
			compared: 2, drifted: 1,
		},
		{
			reason: "events, of which another version is not compared twice",
			s: script{
				lists:   []any{[]string{at("1", "a", "1"), at("1", "b", "1")}},
				watches: []any{[][2]string{{"MODIFIED", at("2", "a", "2")}, {"MODIFIED", at("2", "a", "2")}, {"MODIFIED", at("3", "a", "1")}, {"DELETED", at("4", "b", "1")}}},
				now:     []string{at("3", "a", "1")},
			},
			said:     []string{`began a data.a "2"`, `ended a data.a -`, `began b - -`},
			compared: 7, drifted: 1,
		},
		{
			reason:   "a watch that says nothing is not believed",
			s:        script{lists: []any{[]string{at("1", "a", "1"), at("1", "b", "1")}}, now: []string{at("2", "a", "2"), at("1", "b", "1")}},
			said:     []string{`began a data.a "2"`},
			compared: 3, drifted: 1,
		},
		{
			reason:   "what cannot be read at the end is not known",
			s:        script{lists: []any{[]string{at("1", "a", "1"), at("1", "b", "1")}}, now: &cluster.Unreachable{Text: "away"}},
			said:     []string{"note: cannot be read any more"},
			compared: 2, failed: "a: away, b: away",
		},
		{
			reason: "after 410 all is looked at again, and compared if it has changed",
			s: script{
				lists:   []any{[]string{at("1", "a", "1"), at("1", "b", "1")}, []string{at("1", "a", "1")}},
				watches: []any{gone},
			},
			said:     []string{`began b - -`},
			compared: 4, drifted: 1,
		},
		{
			reason: "a server that is away",
			s: script{
				lists:   []any{&cluster.Unreachable{}, &cluster.Unreachable{}, []string{at("2", "a", "2"), at("1", "b", "1")}},
				watches: []any{},
			},
			said:     []string{"note: trying again", "note: answers again", `began a data.a "2"`},
			compared: 2, drifted: 1,
		},
		{
			reason:   "what may not be read any more",
			s:        script{lists: []any{[]string{at("1", "a", "1"), at("1", "b", "1")}, denied}, watches: []any{gone}},
			said:     []string{"note: cannot be read any more"},
			compared: 2, failed: "a: forbidden, b: forbidden",
		},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			tt.s.end, tt.s.t = cancel, t
			var said []string
			compared := 0
			w := &Watcher{API: &tt.s, Manager: apply.DefaultManager, Every: time.Second}
			w.Event = func(e Event) error {
				cells := e.cells(longest)
				said = append(said, strings.Join([]string{cells[1], e.Name, cells[5], cells[7]}, " "))
				return nil
			}
			w.Noted = func(text string) {
				for _, part := range []string{"trying again", "answers again", "cannot be read any more"} {
					if strings.Contains(text, part) {
						said = append(said, "note: "+part)
					}
				}
			}
			w.Compare = func(_ context.Context, i *run.Item, live map[string]any) *run.Item {
				compared++
				whole, err := i.Object.Whole()
				if err != nil {
					t.Error(err)
				}
				p := &apply.Planner{Policy: merge.Policies[0], Manager: apply.DefaultManager, Validate: apply.Strict, Compare: true}
				out := run.NewItem(i.Object, i.Target)
				out.Planned, out.Err = p.Plan(ctx, apply.Subject{Object: whole, Name: i.Target.String(), HasStatus: true}, live)
				return out
			}
			for _, name := range []string{"a", "b"} {
				i := item(t, plainMap(name, "1"), at("1", name, "1"))
				w.Add(i, Of(i, w.Manager))
			}
			if err := w.Watch(ctx); err != nil {
				t.Error(err)
			}
			if !reflect.DeepEqual(said, tt.said) {
				t.Errorf("%q, want %q", said, tt.said)
			}
			if compared != tt.compared {
				t.Errorf("%d comparisons, want %d", compared, tt.compared)
			}
			if got := w.Report(); got.Drifted != tt.drifted {
				t.Errorf("%d drifted, want %d", got.Drifted, tt.drifted)
			}
			failed := ""
			if err := w.Failed(); err != nil {
				failed = strings.ReplaceAll(strings.ReplaceAll(err.Error(), "\n", ", "), "configmap/", "")
			}
			if failed != tt.failed {
				t.Errorf("failed: %s, want %s", failed, tt.failed)
			}
		})
	}
}

func TestWatchOrphans(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	orphan := &run.Item{Details: &run.Details{}, Target: cluster.Target{Resource: cluster.Resource{Version: "v1", Kind: "ConfigMap"}, Name: "old"}, Surplus: &run.Surplus{Reason: "is in no file"}}
	answers := []any{[]*run.Item{orphan}, []*run.Item{orphan}, errors.New("away"), []*run.Item(nil)}
	var said []string
	w := &Watcher{Every: time.Millisecond, Noted: func(string) { said = append(said, "note") }}
	w.Event = func(e Event) error {
		said = append(said, string(e.Event)+" "+e.Name)
		return nil
	}
	w.Orphans = func(context.Context) ([]*run.Item, error) {
		if len(answers) == 0 {
			cancel()
			return nil, nil
		}
		one := answers[0]
		answers = answers[1:]
		if err, bad := one.(error); bad {
			return nil, err
		}
		return one.([]*run.Item), nil
	}
	if err := w.Watch(ctx); err != nil {
		t.Error(err)
	}
	if want := []string{"began old", "note", "ended old"}; !reflect.DeepEqual(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

func TestWatchEndsWithItsReader(t *testing.T) {
	broken := errors.New("broken pipe")
	w := &Watcher{API: &script{t: t, end: func() {}, lists: []any{[]string{at("2", "a", "2")}}}, Noted: func(string) {}, Event: func(Event) error { return broken }}
	w.Compare = func(_ context.Context, i *run.Item, live map[string]any) *run.Item {
		return item(t, plainMap("a", "1"), at("2", "a", "2"))
	}
	w.Add(item(t, plainMap("a", "1"), at("1", "a", "1")), nil)
	if err := w.Watch(context.Background()); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}
