package local

import (
	"context"
	"errors"
	"path"
	"syscall"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/way"
)

// Class is the latency class of requests and answers.
const Class = "local"

// Exchange is a request on its way to a daemon, or the answer on its way back: the
// Detail of a step.
type Exchange struct {
	Node, Socket string
	Operation    string // "GET /v1/addresses", "/ipam.V1/Allocate"
	Answer       bool
	Err          string // the error in an answer; "" is success
}

// Act describes the exchange for reports.
func (x Exchange) Act() act.Act {
	a := act.Act{Verb: act.Call, Thing: act.Thing{Kind: act.Service, Name: x.Operation, State: x.Socket, Owner: model.Ref{Kind: model.RefNode, Name: x.Node}}}
	if x.Answer {
		a.Verb = act.Hear
	}
	if x.Err != "" {
		a.Outcome, a.Error = act.Failed, x.Err
	}
	return a
}

// Request sends a request of a process to a daemon of its node. Two messages pass the
// process's gate: the request, and the result of do as its answer; between them the daemon
// works, and either process may die. do runs once the request is delivered, on a goroutine of
// the caller's process, with a context that ends when the caller stops waiting.
//
// It returns the error of do; an error wrapping syscall.ECONNRESET if the schedule lost the
// request, which the daemon then did not receive, or the answer; sim.ErrKilled or ctx.Err().
// Without a gate it only calls do.
func (s *Sockets) Request(ctx context.Context, g *sim.Gate, socket, operation string, reads bool, do func(context.Context) error) error {
	if g == nil {
		return do(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	send, done := make(chan struct{}), make(chan error, 1)
	go func() {
		select {
		case <-send:
			done <- do(ctx)
		case <-ctx.Done():
		}
	}()
	x := Exchange{Node: s.node, Socket: socket, Operation: operation}
	op := sim.Op{Kind: sim.Write, Class: Class, OnNode: true, Request: x.request("CALL"), Faults: sim.Of(sim.FailBefore, sim.LoseReply), Fails: way.Of(way.Reset), Loses: way.Of(way.Reset)}
	if reads {
		op.Kind = sim.Read
	}
	err := g.Pass(ctx, op, func(ctx context.Context) error {
		sim.Report(ctx, "sent", x)
		close(send)
		return nil
	})
	fault := (*sim.Fault)(nil)
	if err != nil && (!errors.As(err, &fault) || fault.Outcome != sim.LoseReply) {
		return reset(err)
	}
	select {
	case err = <-done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if fault != nil {
		return reset(fault)
	}
	return s.answer(ctx, g, x, err)
}

// answer delivers the answer.
func (s *Sockets) answer(ctx context.Context, g *sim.Gate, x Exchange, answer error) error {
	x.Answer = true
	if answer != nil {
		x.Err = answer.Error()
	}
	r := x.request("ANSWER")
	err := g.Pass(ctx, sim.Op{Kind: sim.Event, Class: Class, OnNode: true, Request: r}, func(ctx context.Context) error {
		note := "ok"
		if x.Err != "" {
			note = x.Err
		}
		sim.Report(ctx, note, x)
		return nil
	})
	if err != nil {
		return err
	}
	return answer
}

func (x *Exchange) request(verb string) *sim.Request {
	return &sim.Request{Verb: verb, Resource: "sockets", Name: x.Operation, Path: path.Join("sockets", x.Node, x.Socket) + " " + x.Operation}
}

// reset returns the error that the caller gets for a fault.
func reset(err error) error {
	if f := (*sim.Fault)(nil); errors.As(err, &f) {
		return failed("read", "", syscall.ECONNRESET)
	}
	return err
}
