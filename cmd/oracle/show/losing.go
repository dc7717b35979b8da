package show

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// losing is etcd's own proxy between kube-apiserver and its etcd. It withholds one response: the
// write is done, and the client receives a timeout, as from an etcd that loses its leader in the
// meantime.
type losing struct {
	mu   sync.Mutex
	key  []byte // the next write of it loses its answer; nil: none does
	lost int
}

// next has the answer to the next write of a key kept back.
func (l *losing) next(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.key = []byte(key)
}

// intercept is a gRPC server's.
func (l *losing) intercept(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	answer, err := handle(ctx, request)
	txn, ok := request.(*pb.TxnRequest)
	if !ok || err != nil {
		return answer, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, op := range txn.Success {
		if put := op.GetRequestPut(); put != nil && l.key != nil && bytes.Equal(put.Key, l.key) && answer.(*pb.TxnResponse).Succeeded {
			l.key = nil
			l.lost++
			return nil, rpctypes.ErrGRPCTimeout
		}
	}
	return answer, err
}

// listen serves the etcd at a URL on a port of loopback, until ctx ends.
func (l *losing) listen(ctx context.Context, etcd string) (through string, err error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd}, Logger: zap.NewNop()})
	if err != nil {
		return "", err
	}
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	kv, _ := grpcproxy.NewKvProxy(client)
	watch, _ := grpcproxy.NewWatchProxy(ctx, zap.NewNop(), client)
	lease, _ := grpcproxy.NewLeaseProxy(ctx, client)
	s := grpc.NewServer(grpc.UnaryInterceptor(l.intercept))
	pb.RegisterKVServer(s, kv)
	pb.RegisterWatchServer(s, watch)
	pb.RegisterLeaseServer(s, lease)
	pb.RegisterMaintenanceServer(s, grpcproxy.NewMaintenanceProxy(client))
	go func() { _ = s.Serve(port) }()
	context.AfterFunc(ctx, func() { s.Stop(); _ = client.Close() })
	return (&url.URL{Scheme: "http", Host: port.Addr().String()}).String(), nil
}
