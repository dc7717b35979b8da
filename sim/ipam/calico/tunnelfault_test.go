package calico

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"

	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/strategy"
)

// Three daemons whose pool changes every two minutes, with all faults of their messages. Each that
// ends is started again. Every run ends, which it would not with a goroutine left over, and
// repeats. After the faults, when each daemon has started once more, every node has the address
// that the pool requires, and no other is claimed.
func TestTunnelsSurviveFaults(t *testing.T) {
	server := startEtcd(t)
	for _, ds := range datastores {
		for seed := range uint64(3) {
			first := faultyTunnels(t, server, ds, seed)
			if again := faultyTunnels(t, server, ds, seed); hermetic.Enabled && again != first {
				t.Errorf("%s, seed %d: %s the first time, then %s", ds, seed, first, again)
			}
		}
	}
}

func faultyTunnels(t *testing.T, server *etcd.Server, ds string, seed uint64) string {
	t.Helper()
	o := sim.Options{Seed: seed, Faults: sim.Budget{
		Allowed: sim.Of(sim.FailBefore, sim.LoseReply, sim.Drop, sim.Gone, sim.Stale, sim.Crash), Max: 40,
	}}
	tr, digest := story(t, server, allocRun{datastore: ds, strategy: strategy.NewRandom(seed, strategy.Settings{}), options: o}, func(w *allocWorld) {
		w.Hooks.Panic = func(sim.ActorID, any, string) {} // its way out when the datastore does not answer
		w.pool("p", "10.64.75.0/24", ipip)
		w.nodes("a", "b", "c")
		nodes := map[string]*sim.Actor{}
		again := func(kill bool) {
			for _, n := range []string{"a", "b", "c"} {
				if d := nodes[n]; d == nil || kill || !w.Alive(d.ID) {
					if d != nil {
						w.Kill(d.ID)
					}
					nodes[n] = w.calicoNode(n)
				}
			}
		}
		for minute := range 20 {
			again(false)
			if minute%2 == 1 {
				w.change("p", func(s *apiv3.IPPoolSpec) {
					s.IPIPMode, s.VXLANMode = apiv3.IPIPModeNever, apiv3.VXLANModeNever
					if minute%4 == 1 {
						s.VXLANMode = apiv3.VXLANModeAlways
					} else {
						s.IPIPMode = apiv3.IPIPModeAlways
					}
				})
			}
			time.Sleep(time.Minute)
		}
		for range 3 { // the next start repairs the effects of an exit
			again(true)
			time.Sleep(time.Minute)
		}
		w.backed()
		theirs := 0
		for handle := range w.devices {
			ips, err := w.direct.IPAM().IPsByHandle(w.ctx, handle)
			w.must(err)
			theirs += len(ips)
		}
		if len(w.devices) != 3 || !strings.HasPrefix(w.left(), fmt.Sprint(theirs, "/")) {
			t.Errorf("%s, seed %d: the devices have %q, %d addresses are theirs, and the record has %s", ds, seed, w.tunnels(), theirs, w.left())
		}
	})
	return fmt.Sprintf("%d steps %x %s", len(tr.Steps), tr.Digest(), digest)
}
