package etcd

import (
	"fmt"
	"os"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy/adapter"
)

// Direct empties the store and returns etcd's own in-process client, for code outside of
// bubbles: the same etcd without the bridge, to measure the bridge's cost. Its writes reach no
// subscriber.
//
// With localReads it reads as runs do, without the round of raft in which etcd's members
// confirm each other; without, it is the ordinary client.
//
// The previous run is over. Call end, which empties the store again, before the next Begin or
// Close.
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
	s.store.close() // otherwise the tap is never emptied, and etcd works to fill it
	c = v3client.New(s.embed.Server)
	if localReads {
		c.KV = clientv3.NewKVFromKVClient(adapter.KvServerToKvClient(s.store), c)
	}
	return c, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = c.Close() // returns the error of its own canceled context
		store, err := newReal(s.embed.Server)
		if err != nil {
			return fmt.Errorf("etcd: tap: %w", err)
		}
		s.store = store
		_, err = store.wipe()
		return err
	}, nil
}

// Temp creates a directory that Close removes, in memory if the machine supports it. The
// server must have been started.
func (s *Server) Temp() (string, error) { return os.MkdirTemp(s.dir, "t") }
