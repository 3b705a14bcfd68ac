package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// served is the cost of runs for the API server, by its own metrics.
type served struct {
	CPU      float64 `json:"cpuSeconds"`
	Reads    float64 `json:"etcdReads"`
	Writes   float64 `json:"etcdWrites"`
	Requests float64 `json:"requests"`
}

func (s served) minus(t served) served {
	return served{s.CPU - t.CPU, s.Reads - t.Reads, s.Writes - t.Writes, s.Requests - t.Requests}
}

// meter reads the metrics of the server.
type meter struct {
	http  *http.Client
	url   string
	token string
	own   served // what looking costs
}

// newMeter makes a meter and lets it find out what it costs itself: the median of some
// looks at a server that has nothing to do.
func newMeter(ctx context.Context, c kubeconfig) (*meter, error) {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.Clusters[0].Cluster.Authority)
	m := &meter{
		http:  &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}, Timeout: time.Minute},
		url:   c.Clusters[0].Cluster.Server + "/metrics",
		token: c.Users[0].User.Token,
	}
	var cpu []float64
	for last := (served{}); len(cpu) < 6; {
		now, err := m.look(ctx)
		if err != nil {
			return nil, err
		}
		cpu, last = append(cpu, now.minus(last).CPU), now
	}
	m.own.CPU = median(cpu[1:])
	return m, nil
}

// look is the state of the counters.
func (m *meter) look(ctx context.Context) (served, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url, nil)
	if err != nil {
		return served{}, err
	}
	req.Header.Set("Authorization", "Bearer "+m.token)
	resp, err := m.http.Do(req)
	if err != nil {
		return served{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return served{}, fmt.Errorf("%s: %s", m.url, resp.Status)
	}
	return counters(resp.Body)
}

// counters adds up what the text has of interest. What a server without clients does for
// itself (leases, its peers' addresses, its own looks at namespaces) is left out.
func counters(text io.Reader) (served, error) {
	var s served
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		name, labels, value := sample(line)
		switch {
		case name == "process_cpu_seconds_total":
			s.CPU = value
		case strings.Contains(labels, `resource="leases"`), strings.Contains(labels, `resource="apiServerPeerIPInfo"`):
		case name == "etcd_requests_total" && reading(labels):
			s.Reads += value
		case name == "etcd_requests_total":
			s.Writes += value
		case name == "apiserver_request_total" && !strings.Contains(labels, `subresource="/metrics"`):
			s.Requests += value
		}
	}
	return s, lines.Err()
}

// reading: get, getList, list, listWithCount, count; all else writes.
func reading(labels string) bool {
	return strings.Contains(labels, `operation="get`) || strings.Contains(labels, `operation="list`) || strings.Contains(labels, `operation="count`)
}

// sample takes a line of Prometheus's text format apart.
func sample(line string) (name, labels string, value float64) {
	if strings.HasPrefix(line, "#") {
		return "", "", 0
	}
	at := strings.LastIndexByte(line, ' ')
	if at < 0 {
		return "", "", 0
	}
	value, _ = strconv.ParseFloat(line[at+1:], 64)
	name, labels, _ = strings.Cut(line[:at], "{")
	return name, labels, value
}

// since returns the cost of all other requests since the counters were as before.
func (m *meter) since(ctx context.Context, before served) (served, error) {
	now, err := m.look(ctx)
	cost := now.minus(before).minus(m.own)
	cost.CPU = max(cost.CPU, 0)
	return cost, err
}
