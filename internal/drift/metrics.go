package drift

import (
	"fmt"
	"io"
	"strings"
)

// writeMetrics prints gauges in Prometheus' text format. Every group of compared objects has its
// lines, also without drift, so that alerts end.
//
// The format: https://prometheus.io/docs/instrumenting/exposition_formats/.
func writeMetrics(w io.Writer, r *Report, o Options) error {
	var b strings.Builder
	family := func(name, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
	}
	family("kubectl_merge_drift_objects_checked", "Objects that were compared with their files.")
	for _, g := range r.sorted() {
		fmt.Fprintf(&b, "kubectl_merge_drift_objects_checked{%s} %d\n", g.labels(), r.groups[g].checked)
	}
	family("kubectl_merge_drift_objects", "Objects that differ from their files.")
	for _, g := range r.sorted() {
		fmt.Fprintf(&b, "kubectl_merge_drift_objects{%s} %d\n", g.labels(), r.groups[g].drifted)
	}
	family("kubectl_merge_drift_rows", "Differences by kind: fields that were changed, removed or added, and objects that are missing or orphaned.")
	for _, g := range r.sorted() {
		for _, k := range Kinds {
			fmt.Fprintf(&b, "kubectl_merge_drift_rows{%s,drift=%q} %d\n", g.labels(), k, r.groups[g].rows[k])
		}
	}
	family("kubectl_merge_drift_errors", "Objects, or parts of the input, that could not be compared.")
	fmt.Fprintf(&b, "kubectl_merge_drift_errors %d\n", len(r.Errors))
	family("kubectl_merge_drift_last_run_timestamp_seconds", "When the objects were compared.")
	fmt.Fprintf(&b, "kubectl_merge_drift_last_run_timestamp_seconds %d\n", o.Now.Unix())
	_, err := io.WriteString(w, b.String())
	return err
}

// labels returns the labels of the group.
func (g group) labels() string {
	return fmt.Sprintf(`namespace="%s",group="%s",kind="%s"`, label.Replace(g.namespace), label.Replace(g.apiGroup), label.Replace(g.kind))
}

// label escapes the value of a label.
var label = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
