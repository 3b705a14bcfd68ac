package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// kubelet plays the scheduler and the kubelet of one node: no container ever runs, but
// each pod's status, events and logs are what those of a real one would be. The
// name of a container's image says what the container does, see acts.
type kubelet struct {
	api    client
	stream *http.Client // for watches, which last
	logs   net.Listener

	mu   sync.Mutex
	pods map[string]chan<- struct{} // by uid: closed when the pod is to end
}

// node is the one that there is. Its labels are what a nodeSelector can ask for.
const (
	node       = "node-1"
	nodeLabels = `{"kubernetes.io/hostname":"node-1","kubernetes.io/os":"linux"}`
)

// newKubelet registers the node, with the port at which it answers for logs.
func newKubelet(ctx context.Context, api client, creds credentials) (*kubelet, error) {
	cert, err := tls.LoadX509KeyPair(creds.certFile, creds.keyFile)
	if err != nil {
		return nil, err
	}
	logs, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		return nil, err
	}
	k := &kubelet{api: api, stream: &http.Client{Transport: api.http.Transport}, logs: logs, pods: map[string]chan<- struct{}{}}
	_, port, _ := net.SplitHostPort(logs.Addr().String())
	spec := `{"apiVersion":"v1","kind":"Node","metadata":{"name":"` + node + `","labels":` + nodeLabels + `}}`
	if _, err := api.do(ctx, http.MethodPost, "/api/v1/nodes", spec); err != nil {
		return nil, err
	}
	// It is born with the taint of a node that is not ready, which a controller would take away.
	if _, err := api.do(ctx, http.MethodPatch, "/api/v1/nodes/"+node, `{"spec":{"taints":null}}`); err != nil {
		return nil, err
	}
	status := `{"status":{"addresses":[{"type":"InternalIP","address":"127.0.0.1"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":` + port + `}},
		"capacity":{"pods":"10000","cpu":"1000","memory":"1Ti"},"allocatable":{"pods":"10000","cpu":"1000","memory":"1Ti"},
		"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","lastHeartbeatTime":"` + now() + `","lastTransitionTime":"` + now() + `"}]}}`
	_, err = api.do(ctx, http.MethodPatch, "/api/v1/nodes/"+node+"/status", status)
	return k, err
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// run watches all pods until ctx ends, also across restarts of the server.
func (k *kubelet) run(ctx context.Context) {
	server := &http.Server{Handler: http.HandlerFunc(serveLogs), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(k.logs) }()
	defer server.Close()
	for ctx.Err() == nil {
		k.watch(ctx)
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// watch follows the pods until the connection ends. A watch without a version begins
// with all that there are.
func (k *kubelet) watch(ctx context.Context) {
	resp, err := k.api.send(ctx, k.stream, http.MethodGet, "/api/v1/pods?watch=1", "")
	if err != nil {
		return
	}
	defer resp.Body.Close()
	for events := json.NewDecoder(resp.Body); ; {
		var e struct {
			Type   string
			Object podObject
		}
		if err := events.Decode(&e); err != nil || e.Type == "ERROR" {
			return
		}
		k.event(ctx, e.Type, e.Object)
	}
}

// podObject has the fields that the kubelet reads.
type podObject struct {
	Metadata struct {
		Name, Namespace, UID string
		DeletionTimestamp    string
	}
	Spec struct {
		NodeSelector               map[string]string
		SchedulingGates            []struct{ Name string }
		RestartPolicy              string
		InitContainers, Containers []containerSpec
		Volumes                    []volumeSpec
	}
	Status struct{ Phase string }
}

type containerSpec struct {
	Name, Image, ImagePullPolicy string
	Env                          []struct {
		ValueFrom struct{ ConfigMapKeyRef, SecretKeyRef nameRef }
	}
	EnvFrom []struct{ ConfigMapRef, SecretRef nameRef }
}

type volumeSpec struct {
	Name      string
	ConfigMap nameRef
	Secret    struct {
		SecretName string
		Optional   bool
	}
}

type nameRef struct {
	Name     string
	Optional bool
}

func (p podObject) path() string {
	return "/api/v1/namespaces/" + p.Metadata.Namespace + "/pods/" + p.Metadata.Name
}

func (k *kubelet) event(ctx context.Context, what string, p podObject) {
	k.mu.Lock()
	defer k.mu.Unlock()
	uid := p.Metadata.UID
	end, played := k.pods[uid]
	switch {
	case what == "DELETED", p.Metadata.DeletionTimestamp != "":
		if played && end != nil {
			close(end)
			k.pods[uid] = nil
		}
		if what == "DELETED" {
			delete(k.pods, uid)
		} else if !played || end != nil {
			k.pods[uid] = nil
			go k.remove(ctx, p)
		}
	case !played && p.Status.Phase != "Succeeded" && p.Status.Phase != "Failed":
		end := make(chan struct{})
		k.pods[uid] = end
		go k.play(ctx, p, end)
	}
}

// remove ends a pod that is being deleted, as soon as its containers would have ended.
func (k *kubelet) remove(ctx context.Context, p podObject) {
	time.Sleep(50 * time.Millisecond)
	for ctx.Err() == nil {
		status, err := k.api.do(ctx, http.MethodDelete, p.path(), `{"gracePeriodSeconds":0,"preconditions":{"uid":"`+p.Metadata.UID+`"}}`)
		if err == nil && status < http.StatusInternalServerError {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// report writes a Warning event about the pod.
func (k *kubelet) report(ctx context.Context, p podObject, reason, message string) {
	e := map[string]any{
		"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": reason, "message": message,
		"metadata":       map[string]any{"generateName": p.Metadata.Name + ".", "namespace": p.Metadata.Namespace},
		"involvedObject": map[string]any{"apiVersion": "v1", "kind": "Pod", "name": p.Metadata.Name, "namespace": p.Metadata.Namespace, "uid": p.Metadata.UID},
		"source":         map[string]any{"component": "kubelet", "host": node}, "count": 1,
		"firstTimestamp": now(), "lastTimestamp": now(),
	}
	if body, err := json.Marshal(e); err == nil {
		_, _ = k.api.do(ctx, http.MethodPost, "/api/v1/namespaces/"+p.Metadata.Namespace+"/events", string(body)) // an event may get lost in life, too
	}
}

// serveLogs answers GET /containerLogs/NAMESPACE/POD/CONTAINER.
func serveLogs(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) != 4 || parts[0] != "containerLogs" {
		http.NotFound(w, r)
		return
	}
	which := "this"
	if r.URL.Query().Get("previous") == "true" {
		which = "the previous"
	}
	fmt.Fprintf(w, "%s: starting\n%s: fatal: written by %s container\n", parts[3], parts[3], which)
}
