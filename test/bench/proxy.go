package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"sync/atomic"
)

// proxy stands between a program and the server, on loopback, and counts.
type proxy struct {
	http       *httptest.Server
	kubeconfig string // leads through it
	requests   atomic.Int64
}

func newProxy(s *server) (*proxy, error) {
	config, err := s.config(context.Background())
	if err != nil {
		return nil, err
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
	if err := config.write(p.kubeconfig); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *proxy) reset()     { p.requests.Store(0) }
func (p *proxy) count() int { return int(p.requests.Load()) }
func (p *proxy) close()     { p.http.Close() }
