package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// list is of one state, whatever is written between its pages.
func (m *Model) list(r request) (any, error) {
	selector, err := labels.Parse(r.selector)
	if err != nil {
		return nil, Uncovered("a selector that cannot be parsed")
	}
	rest, begun := m.pages[r.token]
	if r.token == "" {
		rest = slices.SortedFunc(maps.Values(m.objects[r.resource]), func(a, b runtime.Object) int { return strings.Compare(of(a).GetName(), of(b).GetName()) })
	} else if !begun {
		return nil, Uncovered("a token that it has not given")
	}
	var items []runtime.Object
	for len(rest) > 0 && (r.limit == 0 || len(items) < r.limit) {
		if selector.Matches(labels.Set(of(rest[0]).GetLabels())) && (r.only == "" || r.only == of(rest[0]).GetName()) {
			items = append(items, rest[0])
		}
		rest = rest[1:]
	}
	list := metav1.ListMeta{ResourceVersion: strconv.Itoa(m.revision)}
	if len(rest) > 0 { // whether the selector matches any of them or none
		if r.only != "" {
			return nil, Uncovered("pages of a list of one name")
		}
		list.Continue = fmt.Sprint("page-", len(m.pages)+1)
		m.pages[list.Continue] = rest
		if left := int64(len(rest)); r.selector == "" {
			list.RemainingItemCount = &left
		}
	}
	bare := []any{} // entries of a list of a built-in kind have no kind
	for _, o := range items {
		text, err := m.text(o)
		if err != nil {
			return nil, err
		}
		at := bytes.Index(text, []byte(`"metadata"`))
		bare = append(bare, json.RawMessage("{"+string(text[at:])))
	}
	gvk := kinds[r.resource]
	return map[string]any{"kind": gvk.Kind + "List", "apiVersion": gvk.GroupVersion().String(), "metadata": list, "items": bare}, nil
}

// reduced is an answer as one who asks for metadata alone is given it.
func reduced(out any) (any, error) {
	text, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	var v struct {
		Kind     string          `json:"kind"`
		Metadata json.RawMessage `json:"metadata"`
		Items    []struct {
			Metadata json.RawMessage `json:"metadata"`
		} `json:"items"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	one := map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": v.Metadata}
	if !strings.HasSuffix(v.Kind, "List") {
		return one, nil
	}
	var items []any // null where there are none
	for _, item := range v.Items {
		items = append(items, map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": item.Metadata})
	}
	one["kind"], one["items"] = "PartialObjectMetadataList", items
	return one, nil
}
