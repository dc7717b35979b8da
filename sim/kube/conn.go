package kube

import (
	"io"
	"slices"
	"sync"

	"ipamsim/sim"
)

// conn is the one connection of a Transport for all its requests and watches, as with HTTP/2.
// They end with the connection; the next request opens another.
type conn struct {
	g    *sim.Gate
	link int

	mu      sync.Mutex
	lost    chan struct{} // closed when the connection is lost
	watches []*carried
}

// carried is a watch on a connection.
type carried struct{ end func(error) }

func newConn(g *sim.Gate) *conn {
	return &conn{g: g, link: g.NewLink(), lost: make(chan struct{})}
}

// carry registers a watch until done is called. End ends it with an error of the connection.
func (c *conn) carry(end func(error)) (done func()) {
	w := &carried{end}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watches = append(c.watches, w)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.watches = slices.DeleteFunc(c.watches, func(o *carried) bool { return o == w })
	}
}

// lose ends the connection, as if the server or a middlebox had closed it.
func (c *conn) lose() {
	c.mu.Lock()
	watches := c.watches
	c.watches = nil
	close(c.lost)
	c.lost = make(chan struct{})
	c.mu.Unlock()
	for _, w := range watches {
		w.end(io.ErrUnexpectedEOF)
	}
	c.g.Cut(c.link)
}

// end returns a channel that is closed when the connection is lost.
func (c *conn) end() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}
