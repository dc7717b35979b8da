// Package etcdtest is for tests of packages whose runs use etcd.
package etcdtest

import (
	"testing"

	"ipamsim/sim/etcd"
)

// Main is a TestMain: it starts a server, stores it in store, and runs the tests. The process exits
// with the result of m.Run.
func Main(m *testing.M, store **etcd.Server) {
	var err error
	if *store, err = etcd.Start(); err != nil {
		panic(err)
	}
	m.Run()
	if err := (*store).Close(); err != nil {
		panic(err)
	}
}
