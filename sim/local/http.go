package local

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"

	"ipamsim/sim"
)

// Transport returns a process's HTTP transport to the daemon behind a socket, through its
// gate: GET and HEAD are reads. The whole answer is read before it is returned, so that it is
// one message. ctx is the process's.
func (s *Sockets) Transport(ctx context.Context, g *sim.Gate, socket string) http.RoundTripper {
	return &transport{s, g, socket, &http.Transport{
		DisableKeepAlives: true, // an idle connection would outlive its use
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return s.Dial(ctx, socket) },
	}}
}

type transport struct {
	sockets *Sockets
	gate    *sim.Gate
	socket  string
	wire    *http.Transport
}

// RoundTrip sends one request.
func (t *transport) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	err = t.sockets.Request(r.Context(), t.gate, t.socket, r.Method+" "+r.URL.RequestURI(), reads, func(ctx context.Context) error {
		got, err := t.wire.RoundTrip(r.WithContext(ctx))
		if err != nil {
			return err
		}
		body, err := io.ReadAll(got.Body)
		if err := got.Body.Close(); err != nil {
			return err
		}
		if err != nil {
			return err
		}
		got.Body, got.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		resp = got
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}
