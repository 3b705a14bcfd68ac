package strategy

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// setFields lists the fields (scalars, atomic values, objects) that somebody has set
// in live, by managedFields, and that local lacks. Entries are told already.
func setFields(in Input, result any, told []merge.Removal) []merge.Removal {
	conf := lastapplied.FromManagedFields(in.Triple.Live, lastapplied.Managers(persons(in.Triple.Live)...), in.Schema)
	if conf == nil {
		return nil
	}
	s := set{Input: in, result: result, told: told}
	s.look(in.Schema, nil, merge.Diff(conf, in.Triple.Local, in.Schema))
	return s.found
}

// set is one search for fields that were set.
type set struct {
	Input
	result any
	told   []merge.Removal
	found  []merge.Removal
}

// look goes through what differs between what was set and local. typ is the type of
// the value at base.
func (s *set) look(typ *merge.Type, base merge.Path, changes []merge.Change) {
	for _, c := range changes {
		p := append(base[:len(base):len(base)], c.Path...)
		isEntry, t := entry(typ, c.Path)
		last := len(c.Path) - 1
		_, parent := entry(typ, c.Path[:last])
		switch {
		case isServers(p) || isKey(p) || isDerived(parent, c.Path[last].Name, c.Old.Value):
		case c.Op == merge.OpSet && c.Old.Set && t != nil && (t.Atomic || t.Kind == merge.List):
			if s.stays(p) {
				s.lacking(t, p, p, c.Old.Value, c.New.Value)
			}
		case c.Op != merge.OpRemove || isEntry || hasEntries(t):
		case t != nil && t.Kind == merge.Object && !t.Atomic && s.toldBelow(p):
			s.look(t, p, merge.Diff(c.Old.Value, map[string]any{}, t))
		default:
			s.add(p, p, c.Old.Value)
		}
	}
}

// derived are fields that the server works out of others when an object is made, by
// type and name (SetDefaults_* and the strategies of k8s.io/kubernetes): whoever made the
// object owns them all the same.
var derived = map[string]bool{
	"io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior.scaleDown":                              true,
	"io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior.scaleUp":                                true,
	"io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec.metrics":                                    true,
	"io.k8s.api.autoscaling.v2.HPAScalingRules.policies":                                               true,
	"io.k8s.api.autoscaling.v2.HPAScalingRules.selectPolicy":                                           true,
	"io.k8s.api.autoscaling.v2.HPAScalingRules.stabilizationWindowSeconds":                             true,
	"io.k8s.api.core.v1.LimitRangeItem.default":                                                        true,
	"io.k8s.api.core.v1.LimitRangeItem.defaultRequest":                                                 true,
	"io.k8s.api.core.v1.PersistentVolumeClaim.apiVersion":                                              true,
	"io.k8s.api.core.v1.PersistentVolumeClaim.kind":                                                    true,
	"io.k8s.api.core.v1.PersistentVolumeClaimStatus.phase":                                             true,
	"io.k8s.api.core.v1.PersistentVolumeClaim.status":                                                  true,
	"io.k8s.api.core.v1.PodSpec.serviceAccount":                                                        true,
	"io.k8s.api.core.v1.ReplicationControllerSpec.selector":                                            true,
	"io.k8s.api.core.v1.ServicePort.targetPort":                                                        true,
	"io.k8s.api.core.v1.ServiceSpec.sessionAffinityConfig":                                             true,
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames.listKind":  true,
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames.singular":  true,
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec.conversion": true,
}

// isDerived: the server has worked the value v of a field of t out of others. A volume
// without a source is an emptyDir.
func isDerived(t *merge.Type, name string, v any) bool {
	if t == nil {
		return false
	}
	m, isMap := v.(map[string]any)
	name = t.Name + "." + name
	return derived[name] || name == "io.k8s.api.core.v1.Volume.emptyDir" && isMap && len(m) == 0
}

// isKey: the value says which entry of a list it stands in.
func isKey(p merge.Path) bool {
	if len(p) < 2 || p[len(p)-2].Kind != merge.KeyStep {
		return false
	}
	return slices.ContainsFunc(p[len(p)-2].Keys, func(k merge.KeyPart) bool { return k.Name == p[len(p)-1].Name })
}

func hasEntries(t *merge.Type) bool {
	return t != nil && !t.Atomic && (t.Kind == merge.Map || t.Kind == merge.Keyed || t.Kind == merge.Set)
}

func (s *set) toldBelow(p merge.Path) bool {
	at := p.String()
	for _, r := range s.told {
		if len(r.Path) > len(p) && r.Path[:len(p)].String() == at {
			return true
		}
	}
	return false
}

// stays: the merge has left live's value alone, though local states less.
func (s *set) stays(p merge.Path) bool {
	was, _ := merge.Lookup(s.Triple.Live, p, s.Schema)
	is, _ := merge.Lookup(s.result, p, s.Schema)
	return merge.Identical(was, is)
}

// lacking lists what v has and l, in the same atomic value at whole, has not: by
// key, and by index in lists of one length. What the server fills in by itself is no
// matter.
func (s *set) lacking(t *merge.Type, whole, p merge.Path, v, l any) {
	switch v := v.(type) {
	case map[string]any:
		lm, ok := l.(map[string]any)
		if !ok {
			return
		}
		for k := range v {
			at := append(p[:len(p):len(p)], merge.Named(k))
			lv, stated := lm[k]
			switch {
			case stated:
				s.lacking(t.Field(k).Type, whole, at, v[k], lv)
			case v[k] != nil && !isDerived(t, k, v[k]) && !lastapplied.ByDefault(t, k, v[k]):
				s.add(whole, at, v[k])
			}
		}
	case []any:
		ll, ok := l.([]any)
		for i := 0; ok && len(ll) == len(v) && i < len(v); i++ {
			at := append(p[:len(p):len(p)], merge.Step{Kind: merge.IndexStep, Index: i})
			s.lacking(t.EntryType(), whole, at, v[i], ll[i])
		}
	}
}

// add tells of a value that stays; owned is the path at which managedFields know it.
func (s *set) add(owned, p merge.Path, v any) {
	if now, ok := merge.Lookup(s.result, p, s.Schema); !ok || now == nil {
		return // it goes: another variant displaces it
	}
	owner, _ := person(s.Triple.Owners, owned)
	s.found = append(s.found, merge.Removal{Path: p, Value: v, Cause: merge.CauseLive, Owner: owner})
}

// persons are the managers in managedFields that are no part of the control plane.
func persons(live any) []string {
	entries, _ := at(live, "metadata", "managedFields").([]any)
	var names []string
	for _, e := range entries {
		if name, _ := at(e, "manager").(string); !controlPlane(name) {
			names = append(names, name)
		}
	}
	return names
}
