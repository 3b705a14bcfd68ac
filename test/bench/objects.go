package main

import (
	"bufio"
	"fmt"
	"os"
)

// The mix: of every ten objects three are Deployments, three Services, two
// ConfigMaps, one is a ServiceAccount and one a custom resource.
var mix = []func(ns string, i int, tag string) string{
	deployment, service, configMap, deployment, service, shop, deployment, service, configMap, serviceAccount,
}

// namespacesOf are the namespaces that n objects stand in.
func namespacesOf(prefix string, n int) []string {
	var out []string
	for i := range min(max(n/50, 1), 10) {
		out = append(out, fmt.Sprintf("%s-%d", prefix, i))
	}
	return out
}

// changesOf is how many of n objects differ in the second file: three of four, or
// the only one.
func changesOf(n int) int {
	changes := 0
	for i := range n {
		if changed(i) {
			changes++
		}
	}
	return changes
}

// changed: objects 0, 1 and 2 of every four.
func changed(i int) bool { return i%4 != 3 }

// writeObjects writes n objects into a file, as they are to be before or after the
// change.
func writeObjects(file, prefix string, n int, after bool) error {
	return writeSome(file, prefix, n, func(i int) bool { return after && changed(i) })
}

// writeSome writes n objects into a file, of which some are as they are after the change.
func writeSome(file, prefix string, n int, differs func(i int) bool) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	namespaces := namespacesOf(prefix, n)
	for i := range n {
		tag := "1"
		if differs(i) {
			tag = "2"
		}
		fmt.Fprintf(w, "---\n%s", mix[i%len(mix)](namespaces[i*len(namespaces)/n], i, tag))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

func deployment(ns string, i int, tag string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-%[1]d
  namespace: %[2]s
  labels: {app: app-%[1]d, team: shop}
spec:
  replicas: 2
  selector:
    matchLabels: {app: app-%[1]d}
  template:
    metadata:
      labels: {app: app-%[1]d, team: shop}
      annotations: {example.com/scrape: "true"}
    spec:
      containers:
      - name: app
        image: registry.example.com/shop/app:1.%[3]s.0
        ports:
        - {name: http, containerPort: 8080}
        - {name: metrics, containerPort: 9090}
        env:
        - {name: LOG_LEVEL, value: info}
        - {name: RELEASE, value: "%[3]s"}
        - name: POD_NAME
          valueFrom: {fieldRef: {fieldPath: metadata.name}}
        resources:
          requests: {cpu: 100m, memory: 128Mi}
          limits: {memory: 256Mi}
        readinessProbe:
          httpGet: {path: /ready, port: http}
        volumeMounts:
        - {name: config, mountPath: /etc/app}
      - name: proxy
        image: registry.example.com/shop/proxy:1.0.0
        args: [--listen=:8443, --to=localhost:8080]
      volumes:
      - name: config
        configMap: {name: app-%[1]d}
`, i, ns, tag)
}

func service(ns string, i int, tag string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Service
metadata:
  name: app-%[1]d
  namespace: %[2]s
  labels: {app: app-%[1]d, release: "%[3]s"}
spec:
  selector: {app: app-%[1]d}
  ports:
  - {name: http, port: 80, targetPort: http}
  - {name: metrics, port: 9090, targetPort: metrics}
`, i, ns, tag)
}

func configMap(ns string, i int, tag string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata:
  name: app-%[1]d
  namespace: %[2]s
data:
  release: "%[3]s"
  app.properties: |
    server.port=8080
    server.shutdown=graceful
    cache.size=1000
    cache.ttl=30s
`, i, ns, tag)
}

func serviceAccount(ns string, i int, tag string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: ServiceAccount
metadata:
  name: app-%[1]d
  namespace: %[2]s
  labels: {release: "%[3]s"}
automountServiceAccountToken: false
`, i, ns, tag)
}

func shop(ns string, i int, tag string) string {
	return fmt.Sprintf(`apiVersion: bench.example.com/v1
kind: Shop
metadata:
  name: shop-%[1]d
  namespace: %[2]s
spec:
  release: "%[3]s"
  backends:
  - {name: a, url: "https://a.example.com", weight: 1}
  - {name: b, url: "https://b.example.com", weight: 2}
  zones: [north, south]
`, i, ns, tag)
}

// definition are the custom resource, and the kind of the parents of sets.
const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bundles.bench.example.com, labels: {applyset.kubernetes.io/is-parent-type: "true"}}
spec:
  group: bench.example.com
  scope: Cluster
  names: {plural: bundles, singular: bundle, kind: Bundle}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.bench.example.com}
spec:
  group: bench.example.com
  scope: Namespaced
  names: {plural: shops, singular: shop, kind: Shop}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              release: {type: string}
              backends:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    url: {type: string}
                    weight: {type: integer}
              zones:
                type: array
                x-kubernetes-list-type: set
                items: {type: string}
`
