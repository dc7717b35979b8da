package etcd

import (
	"fmt"
	"os"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy/adapter"
)

// Direct empties the store and returns etcd's own in-process client of it, for
// code outside of bubbles: the same etcd without the bridge, to measure what the
// bridge costs. Nobody is told of what it writes.
//
// With localReads it reads as runs do, without the round of raft that assures
// etcd's members of each other; without, it is the client that anybody gets.
//
// The run before it is over. Call end, which empties the store again, before the
// next Begin or Close.
func (s *Server) Direct(localReads bool) (c *clientv3.Client, end func() error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run.Store(nil)
	if err := s.start(); err != nil {
		return nil, nil, err
	}
	if _, err := s.store.wipe(); err != nil {
		return nil, nil, fmt.Errorf("etcd: wipe: %w", err)
	}
	s.store.close() // nobody would empty the tap, and etcd would work to fill it
	c = v3client.New(s.embed.Server)
	if localReads {
		c.KV = clientv3.NewKVFromKVClient(adapter.KvServerToKvClient(s.store), c)
	}
	return c, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = c.Close() // says that its own context is at an end
		store, err := newReal(s.embed.Server)
		if err != nil {
			return fmt.Errorf("etcd: tap: %w", err)
		}
		s.store = store
		_, err = store.wipe()
		return err
	}, nil
}

// Temp makes a directory that Close removes, in memory where the machine has such. The
// server must have been started.
func (s *Server) Temp() (string, error) { return os.MkdirTemp(s.dir, "t") }
