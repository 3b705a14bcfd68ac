package cluster

import (
	"bytes"
	"net"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// TestSilentServer: a server that never answers is an error, and the client library logs
// nothing about the transports that wrap its own.
func TestSilentServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var logged bytes.Buffer
	klog.LogToStderr(false)
	klog.SetOutput(&logged)
	defer klog.LogToStderr(true)
	config := &rest.Config{Host: "http://" + listener.Addr().String(), Timeout: 50 * time.Millisecond}
	Bound(config)
	throttle(config)
	client, err := disk.NewCachedDiscoveryClientForConfig(config, t.TempDir(), t.TempDir(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.ServerGroups(); err == nil {
		t.Error("no error")
	}
	klog.Flush()
	if strings.Contains(logged.String(), "CancelRequest") {
		t.Errorf("logged: %s", &logged)
	}
}
