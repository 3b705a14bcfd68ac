package cli

import "testing"

func TestProgramOf(t *testing.T) {
	for executable, want := range map[string]program{
		"kubectl-merge":                      own,
		"/usr/local/bin/kubectl-merge":       own,
		"kubectl-merge.EXE":                  own,
		"kubectl-three_way":                  {"kubectl three-way", "kubectl-three_way"},
		"km":                                 {"km", "km"},
		"kubectl-merge3.exe":                 {"kubectl merge3", "kubectl-merge3"},
		"":                                   own, // as exec allows
		"kubectl-merge\x1b[2J":               own, // nothing that drives a terminal
		"/tmp/a b/kubectl-merge":             own,
		"/opt/plugins/kubectl-apply-by-hand": {"kubectl apply-by-hand", "kubectl-apply-by-hand"},
	} {
		if got := programOf(executable); got != want {
			t.Errorf("%q: %v, want %v", executable, got, want)
		}
	}
}
