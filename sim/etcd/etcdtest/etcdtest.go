// Package etcdtest is for tests of packages whose runs are on etcd.
package etcdtest

import (
	"testing"

	"ipamsim/sim/etcd"
)

// Main is a TestMain: it runs the tests beside a server, which it puts into store. The
// process ends with what m.Run returned, as package testing has it.
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
