package cluster

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:embed removed.table
var removedText string

// oldest is the minor version of the oldest Kubernetes 1 that is supported
// (docs/versioning.md).
const oldest = 34

// Removed reports whether no supported server has a built-in kind in a version any more, and
// the apiVersion that has taken its place, "" for none
// (https://kubernetes.io/docs/reference/using-api/deprecation-guide/).
func Removed(group, version, kind string) (replacement string, removed bool) {
	_, row, found := strings.Cut(removedText, "\n"+group+"/"+version+" "+kind+" ")
	row, _, _ = strings.Cut(row, "\n")
	release, replacement, _ := strings.Cut(row, " ")
	if minor, err := strconv.Atoi(release); !found || err != nil || minor > oldest {
		return "", false
	}
	return strings.TrimPrefix(replacement, "-"), true
}
