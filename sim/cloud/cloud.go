// Package cloud simulates a provider's API with a model: an engine with interfaces, addresses
// and prefixes, quotas, rate limits in virtual time and reads that lag behind writes. A
// manager's model adds its operations.
//
// Each call is a message at the gate of its process. Managers use Call if their SDK has a Go
// interface, and Transport if they use HTTP.
package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"sync"
	"time"

	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/way"
)

// Options describe a provider's API.
type Options struct {
	Name       string // "ec2"
	Operations map[string]Operation
	// Reads and Writes are the rate limits of an account; the zero Bucket has no limit.
	Reads, Writes Bucket
	// Lag is the maximum lag of a read; the schedule draws each lag. 0: no lag.
	Lag time.Duration
	// Quota is how many resources of a kind another resource may hold; a missing kind has no
	// limit.
	Quota map[Kind]int
}

// Operation is an operation of a manager's model.
type Operation struct {
	Reads  bool
	Handle Handler
}

// Handler answers a call. Its input is in c and its result is sent as JSON. An *Error is the
// provider's; any other error is an invalid call: 400, InvalidParameter.
type Handler func(c *Call) (output any, err error)

// Bucket is a rate limit: a burst of Burst calls, then Rate per second.
type Bucket struct {
	Rate  float64
	Burst int
}

// Error is a provider's error, as SDKs represent it.
type Error struct {
	Status  int    // of HTTP
	Code    string // "RequestLimitExceeded"
	Message string
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// The engine's own errors.
var (
	ErrThrottled   = &Error{503, "RequestLimitExceeded", "Request limit exceeded."}
	ErrUnavailable = &Error{503, "Unavailable", "The server is overloaded and can't handle the request."}
	ErrInternal    = &Error{500, "InternalError", "An internal error has occurred."}
	ErrQuota       = &Error{400, "LimitExceeded", "You have reached the limit of resources."}
	ErrNotFound    = &Error{400, "NotFound", "The resource does not exist."}
)

// Cloud is the provider in one run.
type Cloud struct {
	opts Options
	now  func() time.Duration

	mu     sync.Mutex
	state  state
	reads  bucket
	writes bucket
	share  [faults][]float64
	slow   sim.Slowness
}

// New returns a provider without resources, on the clock of a run.
func New(w *sim.World, o Options) *Cloud {
	return &Cloud{
		opts: o, now: w.Now, state: state{},
		reads: bucket{Bucket: o.Reads, tokens: float64(o.Reads.Burst)}, writes: bucket{Bucket: o.Writes, tokens: float64(o.Writes.Burst)},
	}
}

// bucket is the state of a Bucket.
type bucket struct {
	Bucket
	tokens float64
	at     time.Duration
}

// take reports whether a call is allowed now.
func (b *bucket) take(now time.Duration) bool {
	if b.Burst == 0 {
		return true
	}
	b.tokens = math.Min(float64(b.Burst), b.tokens+b.Rate*(now-b.at).Seconds())
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// Exchange is a call with its answer: the Detail of a step.
type Exchange struct {
	Cloud, Operation string
	Reads            bool
	Input, Output    json.RawMessage
	Behind           time.Duration // of a read
	Gives, Takes     []act.Thing   // addresses and prefixes
	Err              *Error        // nil: executed
}

// Act describes the call for reports.
func (x Exchange) Act() act.Act {
	a := act.Act{Verb: act.Call, Thing: act.Thing{Kind: act.Cloud, Name: x.Operation, State: x.Cloud}, Gives: x.Gives, Takes: x.Takes}
	if x.Err != nil {
		a.Outcome, a.Error = act.Failed, x.Err.Error()
	}
	return a
}

// Size returns the size of input and output.
func (x Exchange) Size() int { return len(x.Input) + len(x.Output) }

// Short returns the call without them.
func (x Exchange) Short() any { x.Input, x.Output = nil, nil; return x }

// ways are the errors of a call that the schedule fails before it is served.
var ways = map[way.Way]*Error{way.Internal: ErrInternal, way.Unavailable: ErrUnavailable, way.Throttled: ErrThrottled}

// ErrLost is the error of a call that was served and whose answer is lost.
var ErrLost = errors.New("read: connection reset by peer")

// Call makes a call for a process: input is sent as JSON, and the answer is decoded into
// output unless output is nil. The error is an *Error, ErrLost, or that of the gate. Without a
// gate the call is served immediately, without lag.
func (c *Cloud) Call(ctx context.Context, g *sim.Gate, operation string, input, output any) error {
	in, err := json.Marshal(input)
	if err != nil {
		return fmt.Errorf("cloud: %s: %w", operation, err)
	}
	x, err := c.send(ctx, g, operation, in)
	switch {
	case err != nil:
		return err
	case x.Err != nil:
		return x.Err
	case output == nil:
		return nil
	}
	return json.Unmarshal(x.Output, output)
}

// send passes the gate.
func (c *Cloud) send(ctx context.Context, g *sim.Gate, operation string, in json.RawMessage) (*Exchange, error) {
	x := &Exchange{Cloud: c.opts.Name, Operation: operation, Input: in, Reads: c.opts.Operations[operation].Reads}
	if g == nil {
		c.serve(x, 0)
		return x, nil
	}
	if err := c.slow.Wait(ctx); err != nil {
		return nil, err
	}
	op := sim.Op{
		Kind: sim.Write, Class: Class, Faults: sim.Of(sim.FailBefore, sim.LoseReply), Draws: c.draws(x),
		Fails: way.Of(way.Internal, way.Unavailable, way.Throttled), Loses: way.Of(way.Reset),
		Request: &sim.Request{Verb: "CALL", Resource: "cloud", Name: operation, Path: path.Join("cloud", c.opts.Name)},
	}
	if x.Reads {
		op.Kind, op.Faults = sim.Read, sim.Of(sim.FailBefore)
	}
	op.Key = "CALL " + path.Join(c.opts.Name, operation)
	err := g.Pass(ctx, op, func(ctx context.Context) error {
		c.serve(x, sim.Drawn(ctx))
		note := "ok"
		if x.Err != nil {
			note = x.Err.Code
		}
		sim.Report(ctx, note, *x)
		return nil
	})
	f := (*sim.Fault)(nil)
	switch {
	case !errors.As(err, &f):
		return x, err
	case f.Outcome == sim.LoseReply:
		return nil, ErrLost
	}
	x.Err = ways[way.Way(f.Level)]
	return x, nil
}

// Class is the latency class of calls.
const Class = "cloud"

// serve executes a call.
func (c *Cloud) serve(x *Exchange, drawn int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, known := c.opts.Operations[x.Operation]
	b, lot := &c.writes, c.draw(x.Reads, drawn)
	if x.Reads {
		b = &c.reads
	}
	switch {
	case !known:
		x.Err = &Error{400, "InvalidAction", "The action " + x.Operation + " is not valid for this web service."}
		return
	case lot.refused:
		x.Err = ErrUnavailable
		return
	case !b.take(c.now()):
		x.Err = ErrThrottled
		return
	}
	x.Behind = c.opts.Lag / (lags - 1) * time.Duration(lot.lag)
	call := &Call{Input: x.Input, cloud: c, seen: c.now() - x.Behind, exchange: x, left: math.MaxInt}
	if lot.partial {
		call.left = 1
	}
	out, err := o.Handle(call)
	if err == nil {
		x.Output, err = json.Marshal(out)
	}
	if err != nil && !errors.As(err, &x.Err) {
		x.Err = &Error{400, "InvalidParameter", err.Error()}
	}
}
