// Package strategic merges objects of built-in kinds with kubectl's own library, for the strategy
// of that name. It is a package of its own because that library needs an OpenAPI parser and
// protobuf, which pkg/apply leaves out. It refuses to choose a strategy and to read an object.
package strategic

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// By returns for each kind the merge by the tags of its Go type, as strategy.Input takes it; nil
// for a kind of which object returns nil.
func By(object func(group, version, kind string) any) func(group, version, kind string) strategy.ThreeWay {
	return func(group, version, kind string) strategy.ThreeWay { return Of(object(group, version, kind)) }
}

// Of returns the merge by the tags of a value's Go type; nil for nil. Its errors keep the library's
// reason, and omit the documents that it quotes.
func Of(object any) strategy.ThreeWay {
	if object == nil {
		return nil
	}
	return func(original, modified, live []byte) ([]byte, error) {
		meta, err := strategicpatch.NewPatchMetaFromStruct(object)
		if err != nil {
			return nil, err
		}
		patch, err := strategicpatch.CreateThreeWayMergePatch(original, modified, live, meta, true)
		if err != nil {
			return nil, refused(err)
		}
		merged, err := strategicpatch.StrategicMergePatchUsingLookupPatchMeta(live, patch, meta)
		if err != nil {
			return nil, refused(err)
		}
		return merged, nil
	}
}

// refused returns the library's reason, without the documents that it quotes.
func refused(err error) error {
	text := err.Error()
	const noKey = " does not contain declared merge key: "
	if i := strings.LastIndex(text, noKey); i > 0 && strings.HasPrefix(text, "map: ") {
		text = fmt.Sprintf("an entry of a list has no %s, by which kubectl tells its entries apart", text[i+len(noKey):])
	} else if i := strings.IndexAny(text, "{[\n"); i > 0 {
		text = strings.TrimRight(text[:i], ": ")
	}
	return fmt.Errorf("%s; --strategy=auto can merge it", text)
}
