// Package attach lets programs of this machine, such as kubectl, read the cluster of a run
// while it is paused between two steps.
//
// A Session connects the two sides of the bubble. Outside, Listen serves HTTPS on loopback, to
// programs with the client certificate of its kubeconfig; inside, the root goroutine answers
// requests (Session.Attend) until an Order resumes the run. Only plain data crosses. Requests
// pass no gate and do not advance the clock, and they cannot change anything.
package attach

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"testing/synctest"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/kube"
	"ipamsim/sim/kube/front"
)

// Order is the next action of a paused run. The zero Order ends it.
type Order struct {
	Steps int // run this many steps, then pause again
	// Arrived connects the sender of the Order and the paused run; Session only passes it on.
	// It is created outside, with room for its messages.
	Arrived chan<- string
}

// Session passes requests to a paused run. Create it outside of the bubble, and Close it when
// the run is over.
type Session struct {
	out       *sim.Outside
	in        chan any // *question, hangUp or Order
	served    chan kube.Served
	over      chan struct{}
	close     func()
	published bool
}

// NewSession returns a Session without a run.
func NewSession() *Session {
	s := &Session{out: sim.NewOutside(1), in: make(chan any), served: make(chan kube.Served, 1), over: make(chan struct{})}
	s.close = sync.OnceFunc(func() { close(s.over) })
	return s
}

// Close refuses the waiting requests, because the run is over.
func (s *Session) Close() { s.close(); s.out.Close() }

// Over is closed when the run is over.
func (s *Session) Over() <-chan struct{} { return s.over }

// Send resumes the paused run. It waits until the run is paused, and reports false if the run
// is over.
func (s *Session) Send(o Order) bool { return s.put(context.Background(), o) }

func (s *Session) put(ctx context.Context, m any) bool {
	select {
	case s.in <- m:
		return true
	case <-ctx.Done():
	case <-s.over:
	}
	return false
}

// question is an incoming request; hangUp: its sender has closed the connection.
type (
	question struct {
		method, uri string
		header      http.Header
		answer      chan answer // created outside, like all channels of both sides
		frames      chan []byte // of a watch; closed at its end
		cancel      func()      // created inside
	}
	hangUp struct{ *question }
)

type answer struct {
	status int
	header http.Header
	body   []byte
	watch  bool // the body comes from question.frames
}

// framesMax is how many writes of a watch may wait for a client that does not read. Then the
// watch ends, as that of a real API server does.
const framesMax = 1000

// beat is the period of the watchdog's heartbeat during a pause.
const beat = time.Second

// Attend answers questions until an Order comes. The caller is the bubble's root
// goroutine between two steps; virtual time does not pass.
func (s *Session) Attend(w *sim.World, api *kube.Server) (Order, error) {
	if !s.published {
		v, err := api.Served()
		if err != nil {
			return Order{}, err
		}
		s.served <- v
		s.published = true
	}
	for {
		var m any
		s.out.Do(func() { m = s.next(w.Progress) })
		switch m := m.(type) {
		case Order:
			return m, nil
		case hangUp:
			if m.cancel != nil {
				m.cancel()
			}
		case *question:
			m.ask(api)
		}
		synctest.Wait()
		for w.Hooks.Settle() {
			synctest.Wait()
		}
	}
}

// next waits outside.
func (s *Session) next(alive func()) any {
	t := time.NewTicker(beat)
	defer t.Stop()
	for {
		select {
		case m := <-s.in:
			return m
		case <-t.C:
			alive()
		}
	}
}

// ask calls the API server, inside.
func (q *question) ask(api *kube.Server) {
	ctx, cancel := context.WithCancel(context.Background())
	q.cancel = cancel
	req, err := http.NewRequestWithContext(ctx, q.method, "http://kube.sim"+q.uri, http.NoBody)
	if err != nil {
		cancel()
		q.answer <- answer{status: http.StatusBadRequest, body: []byte(err.Error())}
		return
	}
	req.Header = q.header
	resp, err := api.Direct().RoundTrip(req)
	if err != nil {
		cancel()
		q.answer <- answer{status: http.StatusInternalServerError, body: []byte(err.Error())}
		return
	}
	a := answer{status: resp.StatusCode, header: resp.Header, watch: resp.ContentLength < 0}
	if a.watch {
		q.answer <- a
		go q.follow(resp.Body)
		return
	}
	defer cancel()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		a = answer{status: http.StatusInternalServerError, body: []byte(err.Error())}
	} else {
		a.body = b.Bytes()
	}
	q.answer <- a
}

// follow passes on the frames of a watch. It never waits for the outside.
func (q *question) follow(from io.ReadCloser) {
	defer close(q.frames)
	defer from.Close()
	for {
		b := make([]byte, 32<<10)
		n, err := from.Read(b)
		if n > 0 {
			select {
			case q.frames <- b[:n]:
			default:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// front serves discovery, OpenAPI and version, once the run is paused.
func (s *Session) front() http.Handler {
	select {
	case v := <-s.served:
		return front.Handler(v)
	case <-s.over:
		return front.Handler(kube.Served{})
	}
}

// serve passes a request to the inside.
func (s *Session) serve(w http.ResponseWriter, r *http.Request) {
	q := &question{method: r.Method, uri: r.URL.RequestURI(), header: r.Header.Clone(), answer: make(chan answer, 1), frames: make(chan []byte, framesMax)}
	if !s.put(r.Context(), q) {
		refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable", "the run is over")
		return
	}
	select {
	case a := <-q.answer:
		for k, v := range a.header {
			w.Header()[k] = v
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body)
		if a.watch {
			s.stream(w, r, q)
		}
	case <-s.over:
		refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable", "the run is over")
	}
}

// stream writes a watch until the client or the server ends it.
func (s *Session) stream(w http.ResponseWriter, r *http.Request, q *question) {
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	for {
		select {
		case b, ok := <-q.frames:
			if !ok {
				return
			}
			if _, err := w.Write(b); err != nil || flush.Flush() != nil {
				s.put(context.Background(), hangUp{q})
				return
			}
		case <-r.Context().Done():
			s.put(context.Background(), hangUp{q})
			return
		case <-s.over:
			return
		}
	}
}
