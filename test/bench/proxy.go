package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
)

// proxy stands between a program and the server, on loopback, and counts.
type proxy struct {
	http       *httptest.Server
	kubeconfig string // leads through it
	requests   atomic.Int64
}

// kubeconfig is as much of one as is needed.
type kubeconfig struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Current    string         `json:"current-context"`
	Clusters   []namedCluster `json:"clusters"`
	Contexts   any            `json:"contexts"`
	Users      any            `json:"users"`
}

type namedCluster struct {
	Name    string `json:"name"`
	Cluster struct {
		Server    string `json:"server"`
		Authority []byte `json:"certificate-authority-data"`
	} `json:"cluster"`
}

func newProxy(s *server) (*proxy, error) {
	text, err := s.kubectl(context.Background(), "", "config", "view", "--raw", "--minify", "-o", "json")
	if err != nil {
		return nil, err
	}
	var config kubeconfig
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	if len(config.Clusters) != 1 {
		return nil, fmt.Errorf("the kubeconfig has %d clusters, want 1", len(config.Clusters))
	}
	c := &config.Clusters[0].Cluster
	target, err := url.Parse(c.Server)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.Authority)
	p := &proxy{kubeconfig: filepath.Join(s.dir, "kubeconfig-counted")}
	quiet := log.New(io.Discard, "", 0) // a client that goes away is no news
	reverse := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true},
		FlushInterval: -1,
		ErrorLog:      quiet,
	}
	p.http = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.requests.Add(1)
		reverse.ServeHTTP(w, r)
	}))
	p.http.Config.ErrorLog, p.http.EnableHTTP2 = quiet, true
	p.http.StartTLS()
	c.Server = p.http.URL
	c.Authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.http.Certificate().Raw})
	if text, err = json.Marshal(config); err == nil {
		err = os.WriteFile(p.kubeconfig, text, 0o600)
	}
	if err != nil {
		p.close()
	}
	return p, err
}

func (p *proxy) reset()     { p.requests.Store(0) }
func (p *proxy) count() int { return int(p.requests.Load()) }
func (p *proxy) close()     { p.http.Close() }
