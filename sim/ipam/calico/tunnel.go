package calico

import (
	"context"
	"sync"
	"time"

	felixconfig "github.com/projectcalico/calico/felix/config"
	"github.com/projectcalico/calico/libcalico-go/lib/apiconfig"
	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/syncersv1/tunnelipsyncer"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"github.com/projectcalico/calico/libcalico-go/lib/options"

	"ipamsim/sim"
	"ipamsim/sim/ipam/calico/store"
)

// tunnelName is the daemon that assigns the addresses of nodes' own devices: calico-node's
// allocator of tunnel addresses, one on each node. It does not take the lock of the CNI plugins of
// its host.
//
// Source: node/pkg/allocateip/allocateip.go; its users are
// node/cmd/calico-node/main.go and node/filesystem/etc/service/available/allocate-tunnel-addrs/run.
const tunnelName = "tunnel-addresses"

// tunnelAddresses runs "calico-node -allocate-tunnel-addrs" in its daemon mode: upstream's own
// syncer, callbacks, loop and allocation. It assigns, keeps, replaces or releases the addresses for
// IPIP, VXLAN and WireGuard when it starts and whenever a pool or its own node's key changes.
//
// It ends with its context, or as upstream does: by log.Fatal if an allocation fails, by a panic if
// the datastore does not return the owner of an address.
//
// Felix, the other process of calico-node, learns the node's addresses through the same kind of
// watch and configures the devices. heardOnNode simulates this.
// Felix, the other process of calico-node, hears of the node through the same kind
// of watch and configures the devices. Its part is played here (heardOnNode).
func (i *instance) tunnelAddresses(ctx context.Context, g *sim.Gate, node string) error {
	if err := i.setup(); err != nil {
		return err
	}
	c, err := i.ds.Client(g, 0)
	if err != nil {
		return err
	}
	if err := registered(ctx, c, node); err != nil {
		return err
	}
	r := &tunnelReconciler{
		nodename: node, cfg: &apiconfig.CalicoAPIConfig{}, client: c,
		ch: make(chan struct{}), data: map[string]any{}, felixEnvConfig: felixDefaults(), inSync: false,
	}
	s := tunnelipsyncer.New(store.Backend(c), &nodeListener{r: r, ctx: ctx, node: node, heard: i.heardOnNode}, node).(syncer)
	s.Start()
	context.AfterFunc(ctx, func() { r.unwind(s) })
	return reconcileTunnels(ctx, *r)
}

// registered waits until the node is in the datastore. calico-node is a pod of a
// DaemonSet, which starts no sooner, and looks for its node before anything else.
//
// Source: node/pkg/lifecycle/startup/startup.go, Run.
func registered(ctx context.Context, c clientv3.Interface, node string) error {
	for {
		_, err := c.Nodes().Get(ctx, node, options.GetOptions{})
		if !store.Missing(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// felixDefaults is Felix's configuration without anything in the environment, of
// which the allocation reads one switch of WireGuard's.
var felixDefaults = sync.OnceValue(felixconfig.New)

// syncer is upstream's syncer, which has a Stop method that its interface lacks.
type syncer interface {
	bapi.Syncer
	Stop()
}

// unwind ends the goroutines of a dead process: its syncer's last update may wait for a loop that
// no longer runs.
func (r *tunnelReconciler) unwind(s syncer) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-r.ch:
			case <-done:
				return
			}
		}
	}()
	s.Stop()
	close(done)
}
