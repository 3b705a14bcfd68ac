package drift

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// Shard is a part of an input: the objects of some namespaces. The zero value is all of it.
type Shard struct{ index, of int }

// ParseShard reads I/N, the part I of N, counted from 0; or N, where index, the value of
// JOB_COMPLETION_INDEX, is I. "" selects all. Anything else is an error that shows the form.
//
// See https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode.
func ParseShard(text, index string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	i, n, both := strings.Cut(text, "/")
	if !both {
		i, n = index, text
	}
	if i == "" {
		return Shard{}, fmt.Errorf("--shard=%s: write I/N, or set JOB_COMPLETION_INDEX to I, as the pods of an Indexed Job have it", text)
	}
	at, err := strconv.Atoi(i)
	of, bad := strconv.Atoi(n)
	if err != nil || bad != nil || at < 0 || at >= of {
		return Shard{}, fmt.Errorf("--shard=%s: part %q of %q: must be I/N with I from 0 to N-1", text, i, n)
	}
	return Shard{at, of}, nil
}

// Has reports whether the objects of a namespace are in the shard; "" is that of
// cluster-scoped objects.
func (s Shard) Has(namespace string) bool {
	if s.of == 0 {
		return true
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(namespace)) // it never fails
	return h.Sum32()%uint32(s.of) == uint32(s.index)
}
