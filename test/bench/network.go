package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// network describes the connection between a program and the server. The zero value is
// loopback as it is.
type network struct {
	trip time.Duration // there and back
	rate float64       // bytes in a second, in each direction, of all connections together
}

// networkOf reads "50ms,10": time of a round trip, and Mbit/s.
func networkOf(text string) (network, error) {
	if text == "" {
		return network{}, nil
	}
	trip, rate, _ := strings.Cut(text, ",")
	d, err := time.ParseDuration(trip)
	mbit, err2 := strconv.ParseFloat(rate, 64)
	if err != nil || err2 != nil || d < 0 || mbit <= 0 {
		return network{}, fmt.Errorf("%q is not TIME,MBIT, as 50ms,10", text)
	}
	return network{d, mbit * 1e6 / 8}, nil
}

func (n network) String() string {
	if n.rate == 0 {
		return "on loopback"
	}
	return fmt.Sprintf("through a line of %v there and back and %g Mbit/s", n.trip, n.rate*8/1e6)
}

// line carries connections to the server as the network would. TLS is none of its business.
type line struct {
	network
	kubeconfig string // leads through it
	target     string
	listener   net.Listener
	up, down   pipe
}

// pipe is one direction: bytes leave it one after the other.
type pipe struct {
	mu   sync.Mutex
	free time.Time // when the last byte so far has left
}

// leave is when so many bytes that are there now have left the pipe.
func (p *pipe) leave(bytes int, rate float64) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(time.Duration(float64(bytes) / rate * float64(time.Second)))
	return p.free
}

func newLine(ctx context.Context, s *server, n network) (*line, error) {
	config, err := s.config(ctx)
	if err != nil {
		return nil, err
	}
	to := &config.Clusters[0].Cluster.Server
	target, err := url.Parse(*to)
	if err != nil {
		return nil, err
	}
	l := &line{network: n, target: target.Host, kubeconfig: filepath.Join(s.dir, "kubeconfig-slow")}
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	*to = "https://" + l.listener.Addr().String()
	go l.accept()
	return l, config.write(l.kubeconfig)
}

func (l *line) close() { _ = l.listener.Close() }

func (l *line) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return // closed
		}
		go l.connect(client)
	}
}

// connect carries one connection. To set it up takes a round trip.
func (l *line) connect(client net.Conn) {
	defer client.Close()
	time.Sleep(l.trip)
	server, err := net.Dial("tcp", l.target)
	if err != nil {
		return
	}
	defer server.Close()
	var both sync.WaitGroup
	both.Go(func() { l.carry(server, client, &l.up) })
	both.Go(func() { l.carry(client, server, &l.down) })
	both.Wait()
}

// parcel is bytes on their way.
type parcel struct {
	bytes []byte
	due   time.Time
}

// segment is how much leaves at a time, so that connections share the line.
const segment = 16 << 10

// carry carries what comes from one side to the other, half a round trip after it has left.
func (l *line) carry(to, from net.Conn, p *pipe) {
	way := make(chan parcel, 1024)
	go func() {
		defer close(way)
		for {
			buffer := make([]byte, segment)
			n, err := from.Read(buffer)
			if n > 0 {
				left := p.leave(n, l.rate)
				time.Sleep(time.Until(left)) // the sender's own buffer holds the rest
				way <- parcel{buffer[:n], left.Add(l.trip / 2)}
			}
			if err != nil {
				return
			}
		}
	}()
	var err error
	for parcel := range way {
		time.Sleep(time.Until(parcel.due))
		if err == nil {
			_, err = to.Write(parcel.bytes)
		}
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok && !errors.Is(err, io.ErrClosedPipe) {
		_ = half.CloseWrite()
	}
}
