package wait

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// BenchmarkLarge waits for one object with a list of so many entries: the time of 20000 may be at most
// 2.5 times that of 10000.
func BenchmarkLarge(b *testing.B) {
	for _, list := range []struct {
		name, around string // a Pod
		entry        func(i int) string
	}{
		{"env", `"spec":{"containers":[{"name":"c","image":"i","env":[%s]}]},"status":{"conditions":[{"type":"Ready","status":"True"}]}`,
			func(i int) string { return fmt.Sprintf(`{"name":"V%d","value":"%d"}`, i, i*10) }},
		{"statuses", `"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[%s]}`,
			func(i int) string { return fmt.Sprintf(`{"name":"c%d","image":"i%d","ready":false}`, i, i) }},
		{"conditions", `"status":{"conditions":[%s,{"type":"Ready","status":"True"}]}`,
			func(i int) string { return fmt.Sprintf(`{"type":"T%d","status":"False","reason":"R%d"}`, i, i) }},
		{"failed", `"status":{"phase":"Failed","containerStatuses":[%s]}`,
			func(i int) string {
				return fmt.Sprintf(`{"name":"c%d","state":{"terminated":{"exitCode":%d}}}`, i, i%2)
			}},
		{"crashing", `"spec":{"restartPolicy":"Always"},"status":{"phase":"Running","containerStatuses":[%s,{"name":"last","state":{"waiting":{"reason":"InvalidImageName"}}}]}`,
			func(i int) string {
				return fmt.Sprintf(`{"name":"c%d","state":{"waiting":{"reason":"ImagePullBackOff","message":"image %d"}}}`, i, i)
			}},
	} {
		for _, n := range []int{5000, 10000, 20000} {
			b.Run(fmt.Sprintf("%s/n=%d", list.name, n), func(b *testing.B) {
				entries := make([]string, n)
				for i := range entries {
					entries[i] = list.entry(i)
				}
				object := `{"metadata":{"name":"web","namespace":"ns","uid":"u","generation":1},` + fmt.Sprintf(list.around, strings.Join(entries, ",")) + `}`
				a := &answers{by: map[string][]string{"list /api/v1/namespaces/ns/pods": {listOf(object)}, "list /api/v1/namespaces/ns/events": {listOf()}}}
				api := a.serve(b)
				for b.Loop() {
					err := (&Waiter{API: api}).Wait(b.Context(), []Object{{Target: cluster.Target{Resource: podResource, Namespace: "ns", Name: "web"}}})
					if fails := list.name == "failed" || list.name == "crashing"; (err != nil) != fails {
						b.Fatalf("%.200v", err)
					}
				}
			})
		}
	}
}
