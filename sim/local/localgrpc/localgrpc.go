// Package localgrpc runs gRPC over the sockets of a simulated machine, with the real client
// and the real server.
package localgrpc

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"ipamsim/sim"
	"ipamsim/sim/local"
)

// NewClient connects a process, whose context is ctx, to the daemon behind a socket. Each
// unary call is a request that passes the process's gate, and an answer; reads reports the
// methods that only read ("/ipam.V1/Get"), nil: none. Streams pass no gate.
//
// A call that the schedule loses fails as Unavailable, like a call with a broken connection.
// Close the client when the process no longer needs it.
func NewClient(ctx context.Context, g *sim.Gate, s *local.Sockets, socket string, reads func(method string) bool, more ...grpc.DialOption) (*grpc.ClientConn, error) {
	gated := func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		err := s.Request(ctx, g, socket, method, reads != nil && reads(method), func(ctx context.Context) error {
			return invoke(ctx, method, req, reply, conn, opts...)
		})
		if errors.Is(err, syscall.ECONNRESET) {
			return status.Error(codes.Unavailable, "error reading from server: "+err.Error())
		}
		return err
	}
	return grpc.NewClient("passthrough:///"+strings.TrimPrefix(socket, "/"), append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return s.Dial(ctx, socket) }),
		grpc.WithChainUnaryInterceptor(gated),
	}, more...)...)
}
