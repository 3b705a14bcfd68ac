package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// server is the throw-away one of test/cluster.
type server struct {
	namespace, host string
	client          *http.Client
}

func (s *server) start(t *testing.T) {
	t.Helper()
	cmd := exec.Command("go", "-C", "../../cluster", "run", ".")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(stdin.Close(), cmd.Wait()); err != nil {
			t.Error(err)
		}
	})
	var line struct{ Kubeconfig string }
	if err := json.NewDecoder(out).Decode(&line); err != nil {
		t.Fatalf("go -C test/cluster run . did not come up: %v", err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", line.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	if s.client, err = rest.HTTPClientFor(config); err != nil {
		t.Fatal(err)
	}
	s.host = config.Host
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ns := typed.CoreV1().Namespaces()
	made := corev1.Namespace(s.namespace)
	if _, err := ns.Apply(context.Background(), made, metav1.ApplyOptions{FieldManager: "sim"}); err != nil {
		t.Fatal(err)
	}
	core := typed.CoreV1().ConfigMaps(s.namespace)
	if err := core.Delete(context.Background(), "kube-root-ca.crt", metav1.DeleteOptions{}); err != nil && !strings.Contains(err.Error(), "not found") {
		t.Fatal(err)
	}
}

// over is the request as it is sent to a server.
func (r request) over(t *testing.T, host, namespace string) *http.Request {
	t.Helper()
	q := url.Values{}
	set := func(k, v string) {
		if v != "" {
			q.Set(k, v)
		}
	}
	if r.dryRun && r.verb != "delete" { // where there is a body of options, the query's are ignored
		set("dryRun", "All")
	}
	if r.force {
		set("force", "true")
	}
	if r.limit > 0 {
		set("limit", strconv.Itoa(r.limit))
	}
	set("continue", r.token)
	set("labelSelector", r.selector)
	if r.only != "" {
		set("fieldSelector", "metadata.name="+r.only)
	}
	method := map[string]string{"get": "GET", "list": "GET", "create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}[r.verb]
	if method != "GET" && method != "DELETE" {
		set("fieldManager", r.manager)
	}
	prefix := "/api/"
	if group(r).Group != "" {
		prefix = "/apis/"
	}
	path := host + prefix + kinds[r.resource].GroupVersion().String() + "/namespaces/" + namespace + "/" + r.resource
	if r.verb != "create" && r.name != "" {
		path += "/" + r.name
	}
	req, err := http.NewRequest(method, path+"?"+q.Encode(), bytes.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if r.patch != "" {
		req.Header.Set("Content-Type", string(r.patch))
	}
	if r.metadata {
		req.Header.Set("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
		if r.verb == "list" {
			req.Header.Set("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
		}
	}
	return req
}

func (s *server) answer(t *testing.T, r request) (int, []byte) {
	t.Helper()
	res, err := s.client.Do(r.over(t, s.host, s.namespace))
	return read(t, res, err)
}

func read(t *testing.T, res *http.Response, err error) (int, []byte) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, out
}
