package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net/url"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// watching is a watch that is open on the real server.
type watching struct {
	n      int
	m      *Message
	mu     sync.Mutex
	events []any
	more   chan struct{} // has room for one
}

// watch opens a watch there.
func (p *Replay) watch(ctx context.Context, n int, m *Message, uri string) error {
	resp, err := p.to.Open(ctx, m.Method, uri, "", asJSON(m.Accept), nil)
	if err != nil {
		return err
	}
	p.watched++
	if resp.StatusCode != m.Status {
		_ = resp.Body.Close()
		p.found(n, m.Method+" "+m.URI, fmt.Sprintf("answered %d here and %d there", m.Status, resp.StatusCode))
		return nil
	}
	w := &watching{n: n, m: m, more: make(chan struct{}, 1)}
	p.watches = append(p.watches, w)
	go func() {
		defer resp.Body.Close()
		in := bufio.NewReader(resp.Body)
		for {
			line, err := in.ReadBytes('\n')
			if e, bad := decode(line); bad == nil && counts(e) {
				w.mu.Lock()
				w.events = append(w.events, e)
				w.mu.Unlock()
				select {
				case w.more <- struct{}{}:
				default:
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return nil
}

// overhear learns the revision at which a watch begins, if it is that of a deletion: the response to
// a DELETE may be a Status without one, and only other watches show it.
func (p *Replay) overhear(uri string) {
	u, err := url.ParseRequestURI(uri)
	if err != nil {
		return
	}
	rev := u.Query().Get("resourceVersion")
	if rev == "" || rev == "0" || p.terms.knows(rev) {
		return
	}
	for _, w := range p.watches {
		for i, e := range w.m.ours() {
			if field(e, "type") != "DELETED" || field(e, "object", "metadata", "resourceVersion") != rev {
				continue
			}
			if theirs := w.wait(i+1, p.known); len(theirs) > i && field(theirs[i], "type") == "DELETED" {
				p.terms.learn(e.(map[string]any)["object"], theirs[i].(map[string]any)["object"])
				return
			}
		}
	}
}

// counts reports whether an event is compared.
func counts(e any) bool {
	return field(e, "type") != "BOOKMARK"
}

// ours returns the events of a watch in the simulator.
func (m *Message) ours() (out []any) {
	b := m.Events.Bytes()
	for len(b) > 0 {
		n := 0
		if b[0] == '{' {
			line, _, _ := bytes.Cut(b, []byte("\n"))
			n = min(len(line)+1, len(b))
		} else if n = len(b); n >= 4 {
			n = min(n, 4+int(binary.BigEndian.Uint32(b)))
		}
		if e, err := decode(m.json(b[:n])); err == nil && counts(e) {
			out = append(out, e)
		}
		b = b[n:]
	}
	return out
}

// settled is how long the real server may take to send an unexpected event.
const settled = 100 * time.Millisecond

// quiet is how long the real server may take to send a known event.
const quiet = 5 * time.Second

// compareWatch compares the events of both servers. The real one may have more: those after the
// client of the simulated one had disconnected.
func (p *Replay) compareWatch(w *watching) {
	request := w.m.Method + " " + w.m.URI
	ours := w.m.ours()
	theirs := w.wait(len(ours), p.known)
	for i, e := range ours {
		if field(e, "type") == "ERROR" && field(e, "object", "reason") == string(metav1.StatusReasonExpired) {
			p.expired++
			return
		}
		p.events++
		if i >= len(theirs) {
			p.found(w.n, request, fmt.Sprintf("event %d of %d is not sent there: %s %s", i+1, len(ours), field(e, "type"), identity(e.(map[string]any)["object"])))
			return
		}
		before := len(p.terms.conflicts)
		p.terms.learn(e.(map[string]any)["object"], theirs[i].(map[string]any)["object"])
		for _, c := range p.terms.conflicts[before:] {
			p.found(w.n, request, fmt.Sprintf("event %d: %s", i+1, c))
		}
		e = p.terms.revisions(p.terms.tree(e))
		a, b := e.(map[string]any), theirs[i].(map[string]any)
		d := unlike(a["object"], b["object"], p.Controlled)
		if a["type"] != b["type"] {
			d = fmt.Sprintf("%s here and %s there\n", a["type"], b["type"]) + d
		}
		if d != "" {
			p.found(w.n, request, fmt.Sprintf("event %d: %s", i+1, d))
			return
		}
	}
	for _, e := range theirs[len(ours):] {
		o := e.(map[string]any)["object"]
		if rev := field(o, "metadata", "resourceVersion"); p.terms.before(rev, w.m.Events.Until()) {
			p.found(w.n, request, fmt.Sprintf("%s %s at revision %s is sent there, and not here up to %d", field(e, "type"), identity(o), rev, w.m.Events.Until()))
			return
		}
	}
}

// known are events of what is no object of the real server's own.
func (p *Replay) known(events []any) (out []any) {
	for _, e := range events {
		if !p.strange(e.(map[string]any)["object"]) {
			out = append(out, e)
		}
	}
	return out
}

// wait waits until n events of known objects have arrived.
func (w *watching) wait(n int, known func([]any) []any) []any {
	late := time.After(quiet)
	for {
		w.mu.Lock()
		events := known(w.events)
		w.mu.Unlock()
		if len(events) >= n {
			return events
		}
		select {
		case <-w.more:
		case <-late:
			return events
		}
	}
}
