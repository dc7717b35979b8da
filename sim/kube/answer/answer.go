// Package answer is the table of errors that clients of a kube-apiserver and of etcd receive
// for a fault: status codes, texts, times and connection errors, as the real server or the
// real client produces them. It links nothing of Kubernetes.
//
// A request fails before its commit (sim.FailBefore) or after it (sim.LoseReply). The client
// cannot know which.
package answer

import (
	"context"
	"errors"
	"io"
	"slices"
	"syscall"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/way"
)

// Server is the server of a request.
type Server uint8

// The servers.
const (
	API  Server = iota // a kube-apiserver, by HTTP/2
	Etcd               // etcd, by gRPC, through etcd's own client
)

// Meets is the set of requests that can get an answer.
type Meets uint8

// The requests. Resume is a watch from a revision; it is also a Watch.
const (
	Read Meets = 1 << iota
	Write
	Watch
	Resume
)

// Answer is one entry of the table.
type Answer struct {
	Way    way.Way
	Of     Server
	Meets  Meets
	Before bool          // for a request that was not executed
	After  bool          // for a request that was executed
	Delay  time.Duration // virtual time before it arrives

	Code       int    // HTTP status, 0 if there is none; 200 for the error event of a watch
	Reason     string // in the Status
	Message    string // of the Status, the whole body if Plain, or the text of the gRPC error
	Plain      bool   // the body is text: client-go creates a Status from the code
	RetryAfter int    // seconds, header
	Close      bool   // header "Connection: close"
	Err        error  // a connection error instead of an answer

	Sources []Source
}

// Source is a line of upstream in a module of go.mod, and a part of its text.
type Source struct {
	Module, Version, File string
	Line                  int
	Text                  string
}

const all = Read | Write | Watch

// Table has every answer. TestSources compares it with the module cache.
var Table = []Answer{
	{
		Way: way.Refused, Of: API, Meets: all, Before: true, Err: syscall.ECONNREFUSED,
		Sources: []Source{apimachinery("pkg/util/net/util.go", 57, "func IsConnectionRefused")},
	},
	{
		Way: way.Throttled, Of: API, Meets: all, Before: true, Code: 429, Plain: true, RetryAfter: 1,
		Message: "Too many requests, please try again later.\n",
		Sources: []Source{
			apiserver("pkg/server/filters/priority-and-fairness.go", 380, `"Too many requests, please try again later."`),
			apiserver("pkg/util/flowcontrol/dropped_requests_tracker.go", 73, "retryAfter.Store(1)"),
		},
	},
	{
		Way: way.ShuttingDown, Of: API, Meets: all, Before: true, Code: 429, Plain: true, RetryAfter: 5, Close: true,
		Message: "The apiserver is shutting down, please try again later.\n",
		Sources: []Source{
			apiserver("pkg/server/filters/with_retry_after.go", 68, `"The apiserver is shutting down, please try again later."`),
			apiserver("pkg/server/filters/with_retry_after.go", 102, `"Retry-After", "5"`),
		},
	},
	{
		Way: way.Unavailable, Of: API, Meets: Read | Write, Before: true, Code: 503, Reason: "ServiceUnavailable", RetryAfter: 1,
		Message: "apiserver is shutting down",
		Sources: []Source{
			apiserver("pkg/server/filters/waitgroup.go", 91, `"Retry-After", "1"`),
			apiserver("pkg/server/filters/waitgroup.go", 94, `NewServiceUnavailable("apiserver is shutting down")`),
		},
	},
	{
		Way: way.Timeout, Of: API, Meets: Read, Before: true, Delay: 60 * time.Second, Code: 504, Reason: "Timeout",
		Message: "Timeout: request did not complete within the allotted timeout",
		Sources: []Source{
			apiserver("pkg/server/config.go", 453, "time.Duration(60) * time.Second"),
			apiserver("pkg/server/filters/timeout.go", 59, `"request did not complete within the allotted timeout"`),
		},
	},
	{
		Way: way.Timeout, Of: API, Meets: Write, Before: true, After: true, Delay: 34 * time.Second, Code: 504, Reason: "Timeout",
		Message: "Timeout: request did not complete within requested timeout - context deadline exceeded",
		Sources: []Source{
			apiserver("pkg/endpoints/handlers/rest.go", 54, "34 * time.Second"),
			apiserver("pkg/endpoints/handlers/finisher/finisher.go", 146, `"request did not complete within requested timeout - %s"`),
		},
	},
	{
		Way: way.EtcdTimeout, Of: API, Meets: Write, Before: true, After: true, Delay: 7 * time.Second, Code: 500,
		Message: "etcdserver: request timed out",
		Sources: []Source{
			etcd("server/v3", "config/config.go", 323, "5*time.Second + 2*time.Duration(c.ElectionTicks"),
			apiserver("pkg/endpoints/handlers/responsewriters/status.go", 79, "StatusReasonUnknown"),
		},
	},
	{
		Way: way.Reset, Of: API, Meets: Write, After: true, Err: syscall.ECONNRESET,
		Sources: []Source{apimachinery("pkg/util/net/util.go", 43, "func IsConnectionReset")},
	},
	{
		Way: way.ConnectionLost, Of: API, Meets: all, Before: true, After: true, Err: io.ErrUnexpectedEOF,
		Sources: []Source{{"golang.org/x/net", "v0.61.0", "http2/transport.go", 1830, "err = io.ErrUnexpectedEOF"}},
	},
	{
		Way: way.Expired, Of: API, Meets: Resume, Before: true, Code: 200, Reason: "Expired", Message: "too old resource version",
		Sources: []Source{
			apiserver("pkg/storage/cacher/watch_cache_history.go", 237, `"too old resource version: %d (%d)"`),
			apiserver("pkg/storage/cacher/cacher.go", 640, "newErrWatcher(err)"),
		},
	},
	{
		Way: way.Refused, Of: Etcd, Meets: Write, Before: true, Message: dialing,
		Sources: []Source{
			{"google.golang.org/grpc", "v1.84.0", "internal/transport/http2_client.go", 230, "transport: Error while dialing: %v"},
			etcd("client/v3", "retry.go", 85, "func isSafeRetryMutableRPC"),
		},
	},
	{ // 100 tries, 25 ms apart
		Way: way.Refused, Of: Etcd, Meets: Read | Watch, Before: true, Delay: 2500 * time.Millisecond, Message: dialing,
		Sources: []Source{
			etcd("client/v3", "options.go", 45, "defaultUnaryMaxRetries uint = 100"),
			etcd("client/v3", "options.go", 53, "defaultBackoffWaitBetween = 25 * time.Millisecond"),
		},
	},
	{
		Way: way.EtcdTimeout, Of: Etcd, Meets: Write, Before: true, After: true, Delay: 7 * time.Second,
		Message: "etcdserver: request timed out",
		Sources: []Source{
			etcd("server/v3", "config/config.go", 323, "5*time.Second + 2*time.Duration(c.ElectionTicks"),
			etcd("server/v3", "etcdserver/v3_server.go", 1130, "parseProposeCtxErr"),
			etcd("api/v3", "v3rpc/rpctypes/error.go", 82, "etcdserver: request timed out"),
		},
	},
	{
		Way: way.ConnectionLost, Of: Etcd, Meets: Write, After: true, Message: "error reading from server: EOF",
		Sources: []Source{{"google.golang.org/grpc", "v1.84.0", "internal/transport/http2_client.go", 1759, "error reading from server: %v"}},
	},
}

const dialing = `connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:2379: connect: connection refused"`

func apiserver(file string, line int, text string) Source {
	return Source{"k8s.io/apiserver", "v0.37.2", file, line, text}
}

func apimachinery(file string, line int, text string) Source {
	return Source{"k8s.io/apimachinery", "v0.37.2", file, line, text}
}

func etcd(module, file string, line int, text string) Source {
	return Source{"go.etcd.io/etcd/" + module, "v3.7.3", file, line, text}
}

// Of returns a server's answer to a request, for a way that Ways contains.
func Of(s Server, m Meets, w way.Way) Answer {
	i := slices.IndexFunc(Table, func(a Answer) bool { return a.Of == s && a.Way == w && a.Meets&m != 0 })
	return Table[i]
}

// Ways returns the answers to a request that was not executed, and those to one that was.
func Ways(s Server, m Meets) (before, after sim.Ways) {
	for _, a := range Table {
		switch of := way.Of(a.Way); {
		case a.Of != s || a.Meets&m == 0:
		case a.Before && a.After:
			before, after = before|of, after|of
		case a.Before:
			before |= of
		default:
			after |= of
		}
	}
	if m&Write == 0 {
		after = 0 // a read changes nothing: its answer can also be lost before it
	}
	return before, after
}

// Wait waits until the answer arrives, for a client of etcd. It returns the error of the
// client's context if that ends first, else the error of etcd's client: etcd's own texts
// unchanged, those of gRPC with its prefix (rpctypes.Error).
func (a *Answer) Wait(ctx context.Context) error {
	t := time.NewTimer(a.Delay)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		if a.Way == way.EtcdTimeout {
			return errors.New(a.Message)
		}
		return errors.New("rpc error: code = Unavailable desc = " + a.Message)
	}
}

// Longest is how long a client without a deadline waits for an answer of an API server.
func Longest(kind sim.OpKind, w way.Way) time.Duration {
	m := map[sim.OpKind]Meets{sim.Read: Read, sim.Write: Write, sim.Watch: Watch | Resume}[kind]
	for _, a := range Table {
		if a.Of == API && a.Way == w && a.Meets&m != 0 {
			return a.Delay
		}
	}
	return 0
}
