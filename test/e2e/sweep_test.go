package e2e

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-merge/kubectl-merge/test/part"
)

// sweepOnly is for looking into what fails.
var sweepOnly = flag.String("kinds", "", "sweep only the kinds that match (apps/v1 Deployment)")

// TestSweep holds the laws of a merge on the server, in every merging list of every
// built-in kind that it lets people write; one run, in those of a part of the kinds (see ../part).
// See testdata/sweep/README.md.
func TestSweep(t *testing.T) {
	s := newSweep(fragile.need(t).user(t, "sweep"))
	kinds := s.sweptKinds()
	s.data.stale(t)
	only, err := regexp.Compile(*sweepOnly)
	if err != nil {
		t.Fatal(err)
	}
	kinds = slices.DeleteFunc(kinds, func(k *sweptKind) bool { return !only.MatchString(k.String()) })
	if s.legal(kinds); t.Failed() {
		return
	}
	together, chosen, played := round{sweep: s}, part.Chosen(t), map[string]bool{}
	for i, k := range kinds {
		if played[k.String()] = *sweepOnly != "" || chosen.Has(i); played[k.String()] {
			together.objects = append(together.objects, s.objects(i, k)...)
		}
	}
	kinds = slices.DeleteFunc(kinds, func(k *sweptKind) bool { return !played[k.String()] })
	s.cleanUp(&together)
	together.play()

	// What is refused together with others is tried alone.
	alone := round{sweep: s}
	for _, o := range together.objects {
		for i, e := range o.edits {
			if o.refused != nil {
				alone.objects = append(alone.objects, s.object(o.kind, fmt.Sprintf("%s-%d", o.word, i), 1<<15+len(alone.objects), e))
			}
		}
	}
	s.cleanUp(&alone)
	alone.play()
	s.count(kinds, together.objects, alone.objects)
	(&owners{round: &round{sweep: s, objects: together.objects}}).play()
	if *sweepOnly == "" {
		s.compare(played)
	}
}

// sweep has the state that all rounds share.
type sweep struct {
	*user
	client   rest.Interface
	data     *sweepData
	reported map[string][]string // what the server refuses in any write: the edits, by list and reason
}

// newSweep makes a sweep with a connection of its own, which ignores warnings.
func newSweep(u *user) *sweep {
	u.t.Helper()
	quiet := rest.CopyConfig(u.server.config)
	quiet.WarningHandler = rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(quiet)
	if err != nil {
		u.t.Fatal(err)
	}
	return &sweep{user: u, client: client.Discovery().RESTClient(), data: readSweepData(u.t), reported: map[string][]string{}}
}

func (s *sweep) refused(list, edit, when string, err error) {
	key := fmt.Sprintf("%s: %s (%s)", list, when, reason(err))
	if !slices.Contains(s.reported[key], edit) {
		s.reported[key] = append(s.reported[key], edit)
	}
}

// reason is the server's message, without the values.
func reason(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err.Error()
	}
	var causes []string
	if s := status.Status(); s.Details != nil {
		for _, c := range s.Details.Causes {
			causes = append(causes, string(c.Type))
		}
	}
	slices.Sort(causes)
	if len(causes) == 0 {
		return string(status.Status().Reason)
	}
	return strings.Join(slices.Compact(causes), ", ")
}

// cleanUp takes away what could be in the way of other tests.
func (s *sweep) cleanUp(r *round) {
	s.t.Cleanup(func() {
		parallel(r.objects, func(o *sweptObject) {
			if o.kind.namespaced || o.before == nil {
				return
			}
			if err := s.remove(context.Background(), o); err != nil && !apierrors.IsNotFound(err) {
				s.t.Errorf("taking away %s: %v", o, err)
			}
		})
	})
}

// count reports how much was merged, and that it was something in every list.
func (s *sweep) count(kinds []*sweptKind, together, alone []*sweptObject) {
	s.t.Helper()
	seen := map[*sweptList]int{}
	merges := 0
	for _, o := range slices.Concat(together, alone) {
		for _, e := range o.edits {
			if o.refused == nil {
				seen[e.list]++
				merges++
			}
		}
	}
	for _, o := range alone {
		if o.refused != nil {
			s.refused(fmt.Sprint(o.kind, " ", o.edits[0].list), o.edits[0].sides.Name, o.stage, o.refused)
		}
	}
	lists := 0
	for _, k := range kinds {
		for _, l := range k.lists {
			if lists++; seen[l] == 0 {
				s.t.Errorf("%s: %s: nothing was merged", k, l)
			}
		}
	}
	refused := 0
	for _, edits := range s.reported {
		refused += len(edits)
	}
	s.t.Logf("%d kinds, %d merging lists, %d merges in %d objects; %d tried again alone; %d kinds of edits refused in any write",
		len(kinds), lists, merges, len(together), len(alone), refused)
}

// compare holds what was refused against what is known to be, save for edits that only kinds have
// which are not played.
func (s *sweep) compare(kinds map[string]bool) {
	s.t.Helper()
	const file = "testdata/sweep/refused.golden"
	var text bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(s.reported)) {
		fmt.Fprintf(&text, "%s: %s\n", key, strings.Join(slices.Sorted(slices.Values(s.reported[key])), "; "))
	}
	if *update {
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			s.t.Error(err)
		}
		return
	}
	golden, err := os.ReadFile(file)
	var want strings.Builder
	for line := range strings.Lines(string(golden)) {
		kind := strings.Join(strings.SplitN(line, " ", 3)[:2], " ")
		if played, one := kinds[kind]; played || !one {
			want.WriteString(line)
		}
	}
	if err != nil || want.String() != text.String() {
		s.t.Errorf("%s says otherwise (%v); -part=all -update regenerates it:\n%s", file, err, &text)
	}
}
