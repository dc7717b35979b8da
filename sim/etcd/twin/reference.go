package twin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	_ "unsafe" // for go:linkname

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/types"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/config"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy/adapter"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"ipamsim/sim/etcd"
)

// reference is plain etcd without our code between it and its client: the whole server, fresh,
// and etcd's own client in one bubble. It has no network, so its clock is the bubble's:
// elections, leases, lagging watches and progress notifications take virtual time.
type reference struct {
	server *etcdserver.EtcdServer
	client *clientv3.Client
	player *player
	ids    string // the names of this cluster and member in headers
}

// onEtcd plays the program on plain etcd, in the order of a seed.
func (p Program) onEtcd(s *etcd.Server, seed uint64) ([]string, error) {
	dir, err := s.Temp()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	outside := neverDone
	defer func() { neverDone = outside }()
	return p.play(seed, func(p *player) (store, *clientv3.Client, error) {
		neverDone = make(chan struct{})
		return newReference(p, dir)
	})
}

// neverDone is a channel that the client's watches also wait for and that is never closed. It
// belongs to the process, and a goroutine that waits for a channel of another bubble stops
// virtual time: so each bubble gets its own.
//
//go:linkname neverDone go.etcd.io/etcd/client/v3.valCtxCh
var neverDone chan struct{}

func newReference(p *player, dir string) (store, *clientv3.Client, error) {
	conf, err := settings(dir)
	if err != nil {
		return nil, nil, err
	}
	s, err := etcdserver.NewServer(conf)
	if err != nil {
		return nil, nil, fmt.Errorf("twin: etcd: %w", err)
	}
	s.Start()
	<-s.ReadyNotify()
	c := v3client.New(s)
	c.KV = clientv3.NewKVFromKVClient(wire{adapter.KvServerToKvClient(v3rpc.NewQuotaKVServer(s))}, c)
	l := adapter.LeaseServerToLeaseClient(v3rpc.NewQuotaLeaseServer(s))
	c.Lease = clientv3.NewLeaseFromLeaseClient(&numbered{LeaseClient: l}, c, time.Second)
	r := &reference{s, c, p, fmt.Sprintf("cluster_id:%d member_id:%d ", s.Cluster().ID(), s.MemberID())}
	go r.subscribe(c.Watch(stream(p.ctx, "subscriber"), "", clientv3.WithPrefix(), clientv3.WithPrevKV()))
	return r, c, nil
}

// settings are etcd's defaults, except for the disk.
func settings(dir string) (config.ServerConfig, error) {
	const name = "n"
	d := embed.NewConfig()
	urls, err := types.NewURLs([]string{"http://localhost:2"}) // never dialed
	return config.ServerConfig{
		Name: name, DataDir: dir, ClientURLs: urls, PeerURLs: urls, InitialPeerURLsMap: types.URLsMap{name: urls}, NewCluster: true,
		TickMs: d.TickMs, ElectionTicks: d.ElectionTicks(), PreVote: d.PreVote, AuthToken: d.AuthToken,
		SnapshotCount: d.SnapshotCount, SnapshotCatchUpEntries: d.SnapshotCatchUpEntries, QuotaBackendBytes: d.QuotaBackendBytes,
		MaxTxnOps: d.MaxTxnOps, MaxRequestBytes: d.MaxRequestBytes, UnsafeNoFsync: true, Logger: zap.NewNop(), ServerFeatureGate: d.ServerFeatureGate,
	}, err
}

// wire encodes requests as the network would: in process etcd treats a range end that is empty
// and not nil differently from nil.
type wire struct{ pb.KVClient }

// sent decodes a request from the wire into to.
func sent[T proto.Message](q proto.Message, to T) T {
	b, err := proto.Marshal(q)
	if err = errors.Join(err, proto.Unmarshal(b, to)); err != nil {
		panic(err) // it is one of etcd's own messages
	}
	return to
}

func (w wire) Range(ctx context.Context, q *pb.RangeRequest, o ...grpc.CallOption) (*pb.RangeResponse, error) {
	return w.KVClient.Range(ctx, sent(q, &pb.RangeRequest{}), o...)
}

func (w wire) Put(ctx context.Context, q *pb.PutRequest, o ...grpc.CallOption) (*pb.PutResponse, error) {
	return w.KVClient.Put(ctx, sent(q, &pb.PutRequest{}), o...)
}

func (w wire) DeleteRange(ctx context.Context, q *pb.DeleteRangeRequest, o ...grpc.CallOption) (*pb.DeleteRangeResponse, error) {
	return w.KVClient.DeleteRange(ctx, sent(q, &pb.DeleteRangeRequest{}), o...)
}

func (w wire) Txn(ctx context.Context, q *pb.TxnRequest, o ...grpc.CallOption) (*pb.TxnResponse, error) {
	return w.KVClient.Txn(ctx, sent(q, &pb.TxnRequest{}), o...)
}

// numbered gives leases the ids 1, 2, 3…, as a client may; etcd would draw them.
type numbered struct {
	pb.LeaseClient
	last int64
}

func (n *numbered) LeaseGrant(ctx context.Context, q *pb.LeaseGrantRequest, o ...grpc.CallOption) (*pb.LeaseGrantResponse, error) {
	n.last++
	return n.LeaseClient.LeaseGrant(ctx, &pb.LeaseGrantRequest{TTL: q.TTL, ID: n.last}, o...)
}

func (r *reference) subscribe(all clientv3.WatchChan) {
	for w := range all {
		for _, e := range w.Events {
			ev := etcd.Event{Key: string(e.Kv.Key), Value: e.Kv.Value, Revision: e.Kv.ModRevision, Deleted: e.Type == clientv3.EventTypeDelete}
			if e.PrevKv != nil {
				ev.Prev, ev.PrevRevision = e.PrevKv.Value, e.PrevKv.ModRevision
			}
			r.player.hear(ev)
		}
	}
}

func (r *reference) revision() int64 {
	a, err := r.client.Get(r.player.ctx, "x")
	if err != nil {
		panic(err)
	}
	return a.Header.Revision
}

// stale reads like a cache that lags, which etcd does not have.
func (r *reference) stale(rev int64, key string, opts []clientv3.OpOption) (*clientv3.GetResponse, error) {
	a, err := r.client.Get(r.player.ctx, key, append(opts[:len(opts):len(opts)], clientv3.WithRev(rev))...)
	if err == nil {
		a.Header.Revision = rev
	}
	return a, err
}

func (r *reference) pump() bool { return false }

// plain replaces the names in a text by those of our headers.
func (r *reference) plain(text string) string {
	// protobuf's text has one space or two, depending on the build
	text = strings.ReplaceAll(text, r.ids, "cluster_id:1 member_id:1 ")
	return strings.ReplaceAll(text, strings.ReplaceAll(r.ids, " ", "  "), "cluster_id:1  member_id:1  ")
}

func (r *reference) scan(prefix string, f func(key string, value []byte, rev int64)) error {
	a, err := r.client.Get(r.player.ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		return err
	}
	for _, kv := range a.Kvs {
		f(string(kv.Key), kv.Value, kv.ModRevision)
	}
	return nil
}

func (r *reference) end() error {
	err := errors.Join(r.client.Watcher.Close(), r.client.Lease.Close())
	_ = r.client.Close() // returns the error of its own canceled context
	r.server.Stop()
	return err
}
