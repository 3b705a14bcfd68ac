package controller

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Shop is the parent of the objects: a cluster-scoped custom resource without fields of its own.
type Shop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// ShopList is a list of them.
type ShopList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Shop `json:"items"`
}

var shopKind = schema.GroupVersionKind{Group: "controller.example.com", Version: "v1", Kind: "Shop"}

// DeepCopyObject implements runtime.Object.
func (s *Shop) DeepCopyObject() runtime.Object {
	out := &Shop{TypeMeta: s.TypeMeta}
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return out
}

// DeepCopyObject implements runtime.Object.
func (l *ShopList) DeepCopyObject() runtime.Object {
	out := &ShopList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		if s, ok := l.Items[i].DeepCopyObject().(*Shop); ok {
			out.Items = append(out.Items, *s)
		}
	}
	return out
}

// addShop adds the kind to a scheme.
func addShop(s *runtime.Scheme) error {
	s.AddKnownTypes(shopKind.GroupVersion(), &Shop{}, &ShopList{})
	metav1.AddToGroupVersion(s, shopKind.GroupVersion())
	return nil
}
