package kube

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/kube/answer"
)

// Transport returns the transport of one actor. Each request is a message at the actor's gate,
// and so is each frame of its watches: the schedule decides what a watch shows, and when.
//
// For a fault, the client receives what a real client-go receives: a Status with its code and
// reason, a reset connection, a time-out, an end of stream: see package answer. A Transport is
// one connection. The Detail of a step is the Exchange.
//
// Without a gate it is Direct: the same calls without a kernel, for benchmarks.
func (s *Server) Transport(g *sim.Gate) http.RoundTripper {
	if g == nil {
		return s.Direct()
	}
	return newGated(s, g)
}

type gated struct {
	s    *Server
	g    *sim.Gate
	conn *conn
}

func newGated(s *Server, g *sim.Gate) *gated { return &gated{s, g, newConn(g)} }

type classKey struct{}

// WithClass gives the requests made under ctx another latency class than "api".
func WithClass(ctx context.Context, class string) context.Context {
	return context.WithValue(ctx, classKey{}, class)
}

// RoundTrip waits at the gate and serves the request when the schedule delivers it.
func (d *gated) RoundTrip(req *http.Request) (*http.Response, error) {
	c, err := d.s.begin(req)
	if err != nil {
		return nil, err
	}
	var resp *http.Response
	err = d.g.Pass(req.Context(), d.op(c), func(ctx context.Context) (err error) {
		if d.s.tap != nil {
			d.s.settled.Store(d.s.store.Heard())
		}
		if c.info.Verb == "watch" {
			resp, err = d.watch(ctx, c)
		} else {
			resp = d.serve(ctx, c)
		}
		return err
	})
	var f *sim.Fault
	if errors.As(err, &f) {
		return d.inject(c, f)
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// op describes the request to the schedule.
func (d *gated) op(c *call) sim.Op {
	op := sim.Op{Request: c.message(), Faults: sim.Of(sim.FailBefore), Link: d.conn.link}
	op.Fails, op.Loses = answer.Ways(answer.API, c.meets())
	op.Class, _ = c.req.Context().Value(classKey{}).(string)
	switch c.info.Verb {
	case "watch":
		op.Kind = sim.Watch
	case "get", "list":
		op.Kind = sim.Read
		if c.req.URL.Query().Get("resourceVersion") == "0" { // a watch cache answers "any version"
			op.Faults |= sim.Of(sim.Stale)
		}
	default:
		op.Kind = sim.Write
		op.Faults |= sim.Of(sim.LoseReply)
	}
	return op
}

func (d *gated) serve(ctx context.Context, c *call) *http.Response {
	served := ctx
	if sim.IsStale(ctx) {
		served, c.stale = etcd.AtRevision(ctx, d.s.behind()), true
	}
	resp := c.serve(served)
	x := c.exchange(resp)
	sim.Report(ctx, x.Note(), x)
	return resp
}

// lag is the minimum lag of a stale watch cache.
const lag = time.Second

// behind returns the revision of a stale read: the revision of lag ago, and never the present
// one.
func (s *Server) behind() int64 {
	return max(1, min(s.store.RevisionAt(time.Now().Add(-lag)), s.store.Revision()-1))
}

// watch opens the server's stream and puts the gate between it and the client.
func (d *gated) watch(ctx context.Context, c *call) (*http.Response, error) {
	// The stream ends with the caller's request, not with this step.
	resp, err := c.watch(c.req.Context())
	if err != nil {
		return nil, err
	}
	x := c.exchange(resp)
	sim.Report(ctx, x.Note(), x)
	if from, ok := resp.Body.(*pipe); ok {
		to := newPipe(from.cancel)
		resp.Body = to
		f := &frames{g: d.g, conn: d.conn, call: c, from: from, to: to, protobuf: strings.Contains(resp.Header.Get("Content-Type"), "protobuf")}
		ctx, cancel := context.WithCancel(c.req.Context())
		to.cancel = func() { cancel(); from.cancel() }
		go f.move(ctx, bufio.NewReader(from))
	}
	return resp, nil
}
