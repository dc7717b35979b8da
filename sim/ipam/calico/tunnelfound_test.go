package calico

import (
	"context"
	"testing"
	"time"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"

	"ipamsim/sim"
	"ipamsim/sim/ipam/calico/store"
)

// Defects of calico-node's allocator of tunnel addresses that tests found, on the real 3.31.0. A
// test that fails here means that upstream has fixed the defect, or that the story no longer shows
// it.

// The channel between syncer and loop is unbuffered, and the syncer does not wait: an event that
// arrives while the loop works is lost. Here the encapsulation of the pool changes while the node
// gets its first address, which takes 60 ms. The old address stays forever, and the new device has
// none.
func TestTunnelForgetsWhatItHearsAtWork(t *testing.T) {
	onEach(t, allocRun{}, func(t *testing.T, w *allocWorld) {
		w.pool("p", "10.64.75.0/24", ipip)
		w.nodes("a")
		w.calicoNode("a")
		for w.holder("10.64.75.192") == "" {
			time.Sleep(time.Millisecond)
		}
		w.change("p", func(s *apiv3.IPPoolSpec) { s.IPIPMode = apiv3.IPIPModeNever; vxlan(s) })
		time.Sleep(4 * time.Hour)
		if got := w.tunnels(); got != "ipip-tunnel-addr-a 10.64.75.192" {
			t.Errorf("it was noticed: %q", got)
		}
	})
}

// Pools reach the daemon in Felix's old form, which has neither node selectors nor allowed uses. A
// node that its pool no longer selects keeps its tunnel address in the pool until calico-node
// starts again.
func TestTunnelDoesNotSeeSelectors(t *testing.T) {
	for name, set := range map[string]func(*apiv3.IPPoolSpec){
		"nodeSelector": func(s *apiv3.IPPoolSpec) { s.NodeSelector = "has(gpu)" },
		"allowedUses":  func(s *apiv3.IPPoolSpec) { s.AllowedUses = []apiv3.IPPoolAllowedUse{apiv3.IPPoolAllowedUseWorkload} },
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, allocRun{}, func(t *testing.T, w *allocWorld) {
				w.pool("p", "10.64.75.0/24", ipip)
				w.nodes("a")
				d := w.calicoNode("a")
				time.Sleep(5 * time.Second)
				w.change("p", set)
				time.Sleep(4 * time.Hour)
				if got := w.tunnels(); got != "ipip-tunnel-addr-a 10.64.75.192" {
					t.Errorf("it was noticed: %q", got)
				}
				w.Kill(d.ID)
				w.calicoNode("a")
				time.Sleep(5 * time.Second)
				if got := w.tunnels(); got != "" {
					t.Errorf("after a restart: %q", got)
				}
			})
		})
	}
}

// The update of the node takes effect, but its answer is lost. The daemon takes it
// for failed, gives the address back and exits: Felix has put an address on the
// tunnel device that the record calls free, and the next pod on the node may get
// it. Here it does, and holds it together with the device until calico-node has
// started again.
func TestTunnelGivesBackWhatTheNodeHas(t *testing.T) {
	for ds, update := range map[string]string{store.Etcd: "Update /calico/resources/v3/projectcalico.org/nodes/a", store.Kubernetes: "nodes/a"} {
		t.Run(ds, func(t *testing.T) {
			lost := newFated(t, 1, 1, sim.LoseReply, tunnelName, update)
			lost.armed.Store(true)
			story(t, startEtcd(t), allocRun{datastore: ds, strategy: lost, options: lost.budget()}, func(w *allocWorld) {
				w.pool("p", "10.64.75.0/30", ipip, func(s *apiv3.IPPoolSpec) { s.BlockSize = 30 })
				w.nodes("a")
				d := w.calicoNode("a")
				<-d.Done()
				if h := w.holder("10.64.75.0"); h != "" {
					t.Errorf("the address of the device is given to %q", h)
				}
				got := w.fill("a", 4)
				if got != "10.64.75.0" || w.tunnels() != "ipip-tunnel-addr-a 10.64.75.0" {
					t.Errorf("the fourth pod got %s, the devices have %q", got, w.tunnels())
				}
			})
		})
	}
}

// If the datastore fails once when the daemon reads the owner of the node's address, the daemon
// panics. Any other failure makes it exit.
func TestTunnelPanicsWithoutAnAnswer(t *testing.T) {
	for ds, block := range map[string]string{store.Etcd: "Get /calico/ipam/v2/assignment/", store.Kubernetes: "GET ipamblocks"} {
		t.Run(ds, func(t *testing.T) {
			lost := newFated(t, 1, 1, sim.FailBefore, tunnelName, block)
			crashed := sim.ActorID("")
			story(t, startEtcd(t), allocRun{datastore: ds, strategy: lost, options: lost.budget()}, func(w *allocWorld) {
				w.Hooks.Panic = func(id sim.ActorID, _ any, _ string) { crashed = id }
				w.pool("p", "10.64.75.0/24", ipip)
				w.nodes("a")
				d := w.calicoNode("a")
				time.Sleep(5 * time.Second)
				w.Kill(d.ID)
				lost.armed.Store(true)
				<-w.calicoNode("a").Done()
			})
			if crashed != tunnelName+"/a~2" {
				t.Errorf("%q crashed", crashed)
			}
		})
	}
}

// The write of the block takes effect, but its answer is lost. The allocator reads the block again
// and takes a second address under the same handle. The node uses one of them. The other is not
// released while the node exists: at each start the daemon requests only its own address, and the
// garbage collector takes every tunnel address of an existing node for used.
func TestTunnelKeepsASecondAddress(t *testing.T) {
	for ds, block := range map[string]string{store.Etcd: "Update /calico/ipam/v2/assignment/", store.Kubernetes: "PUT ipamblocks/"} {
		t.Run(ds, func(t *testing.T) {
			lost := newFated(t, 1, 1, sim.LoseReply, tunnelName, block)
			lost.armed.Store(true)
			story(t, startEtcd(t), allocRun{datastore: ds, strategy: lost, options: lost.budget()}, func(w *allocWorld) {
				w.pool("p", "10.64.75.0/24", ipip)
				w.nodes("a")
				w.process(controllerName, "", "1", func(ctx context.Context, g *sim.Gate) error { return w.in.ipamController(ctx, g, "") })
				d := w.calicoNode("a")
				for range 3 {
					time.Sleep(time.Hour)
					w.Kill(d.ID)
					d = w.calicoNode("a")
				}
				time.Sleep(time.Minute)
				if got := w.tunnels(); got != "ipip-tunnel-addr-a 10.64.75.193" || w.left() != "2/1/1" {
					t.Errorf("the devices have %q, the record %s", got, w.left())
				}
				if h := w.holder("10.64.75.192"); h != "ipip-tunnel-addr-a" {
					t.Errorf("the other address is given to %q", h)
				}
			})
		})
	}
}
