package twin

import (
	"testing"

	"pgregory.net/rapid"

	"ipamsim/sim/etcd"
	"ipamsim/sim/etcd/etcdtest"
)

var server *etcd.Server

func TestMain(m *testing.M) { etcdtest.Main(m, &server) }

// A program of at least ten operations, so that 10,000 of them are 100,000.
func programs() *rapid.Generator[Program] {
	return rapid.Custom(func(t *rapid.T) Program {
		var p Program
		for range rapid.IntRange(10, 30).Draw(t, "operations") {
			p = append(p, Draw(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }))
		}
		return p
	})
}

// The fast store is etcd, to every byte of every answer.
func TestConformance(t *testing.T) {
	all := programs()
	rapid.Check(t, func(t *rapid.T) {
		if err := all.Draw(t, "program").Play(server); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%d programs were etcd's under another order of its goroutines only", reordered.Load())
}

// Any bytes of a fuzzer are a program.
func TestPlayBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := Play(server, rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "bytes")); err != nil {
			t.Fatal(err)
		}
	})
}
