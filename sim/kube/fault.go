package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"ipamsim/sim"
	"ipamsim/sim/kube/answer"
	"ipamsim/sim/way"
)

// meets returns the request's kind in the table of answers.
func (c *call) meets() answer.Meets {
	switch c.info.Verb {
	case "watch":
		if rv := c.req.URL.Query().Get("resourceVersion"); rv != "" && rv != "0" {
			return answer.Watch | answer.Resume
		}
		return answer.Watch
	case "get", "list":
		return answer.Read
	}
	return answer.Write
}

// inject returns what the client receives for a message with a fault.
func (d *gated) inject(c *call, f *sim.Fault) (*http.Response, error) {
	switch f.Outcome {
	case sim.FailBefore, sim.LoseReply:
	case sim.Drop: // see conn.lose
		return nil, io.ErrUnexpectedEOF
	default:
		return nil, fmt.Errorf("kube: a transport cannot express %s", f.Outcome)
	}
	a := answer.Of(answer.API, c.meets(), way.Way(f.Level))
	if err := d.conn.await(c.req.Context(), &a); err != nil {
		return nil, err
	}
	if a.Way == way.Expired {
		return c.expired(&a), nil
	}
	h, body := http.Header{"Content-Type": {"application/json"}}, marshal(statusOf(&a))
	if a.Plain {
		h.Set("Content-Type", "text/plain; charset=utf-8")
		body = []byte(a.Message)
	}
	if a.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(a.RetryAfter))
	}
	if a.Close {
		h.Set("Connection", "close")
	}
	return c.response(a.Code, h, body), nil
}

// await waits for an answer as its client does. It returns the error of the connection, caused
// by the answer or earlier, or the error of the client's context.
func (c *conn) await(ctx context.Context, a *answer.Answer) error {
	if a.Delay > 0 {
		t := time.NewTimer(a.Delay)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.end():
			return io.ErrUnexpectedEOF
		case <-t.C:
		}
	}
	if a.Way == way.ConnectionLost {
		c.lose()
	}
	return broken(a.Err)
}

// broken returns a connection error as package net formats it.
func broken(err error) error {
	switch err {
	case syscall.ECONNREFUSED:
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", err)}
	case syscall.ECONNRESET:
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", err)}
	}
	return err
}

// statusOf returns the body of an answer.
func statusOf(a *answer.Answer) *metav1.Status {
	s := &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: int32(a.Code), Reason: metav1.StatusReason(a.Reason), Message: a.Message,
	}
	switch a.Way {
	case way.Timeout:
		s.Details = &metav1.StatusDetails{}
	case way.Expired:
		s.Code = http.StatusGone
	}
	return s
}

// errorOf returns client-go's error for an answer.
func errorOf(a *answer.Answer, verb string, of schema.GroupResource) error {
	if a.Plain {
		return apierrors.NewGenericServerResponse(a.Code, verb, of, "", a.Message, a.RetryAfter, true)
	}
	return &apierrors.StatusError{ErrStatus: *statusOf(a)}
}

// gone is the last event of a watch whose history is compacted.
var gone = answer.Of(answer.API, answer.Resume, way.Expired)

// expired is a watch that consists of that event.
func (c *call) expired(a *answer.Answer) *http.Response {
	f := &frames{protobuf: strings.Contains(c.req.Header.Get("Accept"), "protobuf")}
	h := http.Header{"Content-Type": {"application/json"}}
	if f.protobuf {
		h.Set("Content-Type", "application/vnd.kubernetes.protobuf;stream=watch")
	}
	p := newPipe(func() {})
	_, _ = p.Write(f.expired())
	p.end()
	resp := c.response(a.Code, h, nil)
	resp.Body, resp.ContentLength = p, -1
	return resp
}

func marshal(s *metav1.Status) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}
