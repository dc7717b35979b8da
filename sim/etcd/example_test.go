package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Every run of a process finds a fresh etcd.
func ExampleServer_Begin() {
	for range 2 {
		onEtcd(nil, func(ctx context.Context, r *Run, c *clientv3.Client) {
			first := must(c.Put(ctx, "/a", "1"))
			keys := must(c.Get(ctx, "/", clientv3.WithPrefix(), clientv3.WithCountOnly()))
			fmt.Println("revision", first.Header.Revision, "keys", keys.Count)
		})
	}
	// Output:
	// revision 2 keys 1
	// revision 2 keys 1
}

// The fast store needs no etcd, and does the same.
func ExampleServer_BeginMemory() {
	store := New("")
	defer store.Close()
	for range 2 {
		in(store.BeginMemory(), func(ctx context.Context, r *Run, c *clientv3.Client) {
			first := must(c.Put(ctx, "/a", "1"))
			keys := must(c.Get(ctx, "/", clientv3.WithPrefix(), clientv3.WithCountOnly()))
			fmt.Println("revision", first.Header.Revision, "keys", keys.Count)
		})
	}
	// Output:
	// revision 2 keys 1
	// revision 2 keys 1
}
