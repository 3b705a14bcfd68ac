package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// setMix makes the objects of a set: of every ten, one of each kind.
var setMix = []func(ns string, i int, tag string) string{
	deployment, service, configMap, serviceAccount, shop,
	simple("rbac.authorization.k8s.io/v1", "Role", `rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]`),
	simple("rbac.authorization.k8s.io/v1", "RoleBinding", `roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}`),
	simple("networking.k8s.io/v1", "NetworkPolicy", `spec: {podSelector: {matchLabels: {app: shop}}, policyTypes: [Ingress]}`),
	simple("v1", "LimitRange", ""), // kubectl apply calls some other kinds configured, whatever they are
	simple("networking.k8s.io/v1", "Ingress", `spec: {defaultBackend: {service: {name: app, port: {number: 80}}}}`),
}

func simple(apiVersion, kind, rest string) func(ns string, i int, tag string) string {
	return func(ns string, i int, _ string) string {
		return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: app-%d, namespace: %s}\n%s\n", apiVersion, kind, i, ns, rest)
	}
}

// writeSet writes n objects of ten kinds into a file. They stand beside those of
// writeObjects, in the same namespaces.
func writeSet(file, prefix string, n int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	namespaces := namespacesOf(prefix, n)
	for i := range n {
		text := setMix[i%len(setMix)](namespaces[i*len(namespaces)/n], i, "1")
		fmt.Fprintf(w, "---\n%s", strings.NewReplacer(fmt.Sprintf("name: app-%d\n", i), fmt.Sprintf("name: set-%d\n", i), "name: shop-", "name: set-").Replace(text))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
