package kube

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"time"

	"ipamsim/sim"
)

// Wire returns an actor's transport to API servers that are processes. As with Transport, each
// request is a message at the actor's gate; the serving process sends its own messages. Pick
// chooses the server of a request.
func (s *Server) Wire(g *sim.Gate, pick func(context.Context) (*Peer, error)) http.RoundTripper {
	return &wire{newGated(s, g), pick}
}

type wire struct {
	*gated
	pick func(context.Context) (*Peer, error)
}

// RoundTrip sends the request when the schedule delivers it, and waits for the answer. If the
// server ends in the meantime, the connection breaks.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	p, err := w.pick(req.Context())
	if err != nil {
		return nil, err
	}
	c, err := p.server.begin(req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(req.Context()))
	job := &work{call: c, ctx: ctx, done: make(chan struct{})}
	resp, err := w.answered(req.Context(), p, job)
	if err != nil || c.info.Verb != "watch" || resp != job.resp {
		cancel()
		return resp, err
	}
	return w.stream(job, resp, cancel), nil
}

// answered waits for the answer to a request.
func (w *wire) answered(ctx context.Context, p *Peer, job *work) (*http.Response, error) {
	err := w.g.Pass(ctx, w.op(job.call), func(ctx context.Context) error { return p.take(ctx, job) })
	var f *sim.Fault
	switch {
	case errors.As(err, &f) && f.Outcome != sim.LoseReply:
		return w.inject(job.call, f)
	case err != nil && f == nil:
		return nil, err
	}
	select {
	case <-job.done:
	case <-p.g.Ended():
		return nil, reset()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := p.awake(ctx); err != nil {
		return nil, err
	}
	if f != nil {
		return w.inject(job.call, f)
	}
	return job.resp, job.err
}

// take passes a request to the process.
func (p *Peer) take(ctx context.Context, job *work) error {
	select {
	case p.inbox <- job:
		sim.Report(ctx, "to "+string(p.g.Actor()), nil)
		return nil
	case <-p.g.Ended():
		sim.Report(ctx, "refused by "+string(p.g.Actor()), nil)
		return broken(syscall.ECONNREFUSED)
	}
}

// awake waits until an answer of the server would arrive: a paused server sends none.
func (p *Peer) awake(ctx context.Context) error {
	t := time.NewTicker(awakeEvery)
	defer t.Stop()
	for !p.g.Reached() {
		select {
		case <-t.C:
		case <-p.g.Ended():
			return reset()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// awakeEvery is how soon a client notices that a server has resumed.
const awakeEvery = 100 * time.Millisecond

// stream puts the gate between a watch and the client.
func (w *wire) stream(job *work, resp *http.Response, cancel context.CancelFunc) *http.Response {
	if from, ok := resp.Body.(*pipe); ok {
		to := newPipe(func() { cancel(); from.cancel() })
		f := &frames{g: w.g, conn: w.conn, call: job.call, from: from, to: to, protobuf: strings.Contains(resp.Header.Get("Content-Type"), "protobuf")}
		resp.Body = to
		go f.move(job.ctx, bufio.NewReader(from))
	}
	return resp
}

func reset() error { return broken(syscall.ECONNRESET) }
