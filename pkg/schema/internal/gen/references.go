package main

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const referencesHeader = `# Where a PodSpec names other objects of its namespace.
# Generated from k8s.io/api; do not edit: go generate ./pkg/schema
#
# KIND PATH: below a PodSpec, [] is every entry of a list; KIND "-" is stated beside the name
`

// references writes every path below a PodSpec at which the pod names a ConfigMap, a
// Secret, a ServiceAccount or a PersistentVolumeClaim. It refuses to write if a field looks
// like such a name and is not listed as one, or as not one.
func references() ([]byte, error) {
	var rows []string
	if err := findReferences(reflect.TypeFor[corev1.PodSpec](), nil, &rows); err != nil {
		return nil, err
	}
	slices.Sort(rows)
	var b bytes.Buffer
	b.WriteString(referencesHeader + "\n")
	for _, row := range rows {
		b.WriteString(row + "\n")
	}
	return b.Bytes(), nil
}

// findReferences adds the rows of a struct's fields and of those below them.
func findReferences(t reflect.Type, path []string, rows *[]string) error {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		below, of, list := path, f.Type, ""
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			if of.Kind() == reflect.Slice {
				list = "[]"
			}
			of = of.Elem()
		}
		if _, leaf := leaves[of]; leaf || name == "-" {
			continue
		}
		inline := name == "" || strings.Contains(options, "inline")
		if !inline {
			below = append(slices.Clone(path), name+list)
		}
		switch of.Kind() {
		case reflect.String:
			kind, err := namedKind(t, below)
			if err != nil {
				return err
			}
			if kind != "" {
				*rows = append(*rows, kind+" "+strings.Join(below, "."))
			}
		case reflect.Struct:
			if of.Name() == "LocalObjectReference" && inline { // the type around it states the kind
				if kind := typeKind(t.Name()); kind != "" {
					*rows = append(*rows, kind+" "+strings.Join(append(slices.Clone(path), "name"), "."))
					continue
				}
			}
			if err := findReferences(of, below, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// typeKind returns the kind in a type's name: SecretVolumeSource, ConfigMapKeySelector.
func typeKind(typeName string) string {
	for _, kind := range []string{"ConfigMap", "Secret", "PersistentVolumeClaim"} {
		if strings.HasPrefix(typeName, kind) {
			return kind
		}
	}
	return ""
}

// looksNamed matches a field that may name one of the four kinds, by its own name, that of
// the field around it, or its type.
var looksNamed = regexp.MustCompile(`(?i)secret|configmap|serviceaccount|claim`)

// notNames lists fields that look as if they named an object of one of the four kinds.
var notNames = map[string]bool{
	"Container.name": true, "ResourceClaim.name": true, "ResourceClaim.request": true,
	"PersistentVolumeClaimSpec.volumeName": true, "PersistentVolumeClaimSpec.storageClassName": true,
	"PersistentVolumeClaimSpec.volumeAttributesClassName": true,
	"PodResourceClaim.name":                               true, "PodResourceClaim.resourceClaimName": true, "PodResourceClaim.resourceClaimTemplateName": true,
}

// namedKind returns the kind of the object that a string names. It is "" where it does not
// name one of the four kinds, and "-" where a field beside it names the kind.
func namedKind(owner reflect.Type, path []string) (string, error) {
	field := path[len(path)-1]
	around := ""
	if len(path) > 1 {
		around = strings.ToLower(path[len(path)-2])
	}
	switch {
	case field == "serviceAccountName", field == "serviceAccount":
		return "ServiceAccount", nil
	case field == "claimName":
		return "PersistentVolumeClaim", nil
	case field == "secretName":
		return "Secret", nil
	case field == "name" && owner.Name() == "LocalObjectReference" && strings.Contains(around, "secret"):
		return "Secret", nil
	case field == "name" && strings.HasPrefix(owner.Name(), "Typed"):
		return "-", nil
	case !strings.HasSuffix(strings.ToLower(field), "name"), notNames[owner.Name()+"."+field]:
		return "", nil
	case looksNamed.MatchString(field + " " + around + " " + owner.Name()):
		return "", fmt.Errorf("%s (%s) looks like a name of another object: say in references.go whether it is one", strings.Join(path, "."), owner.Name())
	}
	return "", nil
}
