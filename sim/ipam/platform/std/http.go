package std

// A network without servers: a program reaches its servers through the clients that it is
// given.

import (
	"errors"
	real "net/http"

	"ipamsim/sim/ipam/platform"
)

// Request, Response and MethodGet are Go's own.
type (
	Request  = real.Request
	Response = real.Response
)

const (
	MethodGet = real.MethodGet
	StatusOK  = real.StatusOK
)

// NewRequest and NewServeMux are Go's own.
var (
	NewRequest  = real.NewRequest
	NewServeMux = real.NewServeMux
)

// ListenAndServe listens until the program is killed. It receives no requests.
func ListenAndServe(string, real.Handler) error {
	<-platform.Current().Ctx.Done()
	return real.ErrServerClosed
}

// Client connects to nothing.
type Client struct{}

var errRefused = errors.New("connection refused")

// Do sends nothing.
func (*Client) Do(*Request) (*Response, error) { return nil, errRefused }
