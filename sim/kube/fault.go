package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"ipamsim/sim"
)

// way is one of the ways in which a request fails before the server acts on it:
// the level of a sim.FailBefore.
type way int

const (
	failed      way = iota // 500: etcd changed its leader
	unavailable            // 503: the API server is starting or stopping
	throttled              // 429, try again in a second
	lost                   // the message never arrives and the client times out
	gone                   // 410, only for a watch from a revision
)

// timeoutMax is how long a client that sets no deadline waits for an answer:
// kube-apiserver's own request time-out.
const timeoutMax = 60 * time.Second

// Unanswered is for how long a client waits that sets no deadline, if its request fails
// at a level of sim.FailBefore: 0 if it is answered.
func Unanswered(level int) time.Duration {
	if way(level) == lost {
		return timeoutMax
	}
	return 0
}

// inject is what the client sees of a message that the schedule hurt.
func (c *call) inject(f *sim.Fault) (*http.Response, error) {
	switch {
	case f.Outcome == sim.LoseReply:
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	case f.Outcome != sim.FailBefore:
		return nil, fmt.Errorf("kube: a door cannot express %s", f.Outcome)
	case way(f.Level) == lost:
		return nil, hang(c.req.Context())
	}
	e := refusal(way(f.Level))
	body := rawStatus(way(f.Level)).Raw
	h := http.Header{"Content-Type": {"application/json"}}
	if d := e.ErrStatus.Details; d != nil && d.RetryAfterSeconds > 0 {
		h.Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	return c.response(int(e.ErrStatus.Code), h, body), nil
}

func refusal(w way) *apierrors.StatusError {
	switch w {
	case failed:
		return apierrors.NewInternalError(errors.New("etcdserver: leader changed"))
	case unavailable:
		return apierrors.NewServiceUnavailable("apiserver is shutting down")
	case throttled:
		return apierrors.NewTooManyRequests("too many requests, please try again later", 1)
	default:
		return apierrors.NewResourceExpired("too old resource version")
	}
}

func rawStatus(w way) runtime.RawExtension {
	s := refusal(w).ErrStatus
	s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return runtime.RawExtension{Raw: b}
}

// hang waits as a client does that gets no answer.
func hang(ctx context.Context) error {
	t := time.NewTimer(timeoutMax)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	}
}
