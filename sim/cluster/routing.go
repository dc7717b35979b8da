package cluster

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/sim"
)

// routing is the data path between the nodes: what each has in its routing table,
// which follows what is stored and what is alive at the pace of BGP. It is the
// cluster's, not the manager's: the manager's record only feeds it. Guarded by
// Cluster.mu.
type routing struct {
	plane *route.Plane
	wake  chan struct{}
	down  []route.Session // sessions that are lost now
	quiet map[string]bool // nodes whose BIRD does not run

	veths  map[model.PodRef]string // see veth
	blocks []route.Block           // of the record at a revision
	at     int64
}

// startRouting gives the cluster a fabric if its primary network has blocks,
// which nodes announce. Without them routes are somebody else's.
func (c *Cluster) startRouting() {
	n := model.NetworkByKey(c.judge.networks, c.cfg.Primary)
	if n == nil || n.Blocks == nil {
		return
	}
	c.routing = &routing{plane: route.New(c.cfg.Fabric), wake: make(chan struct{}, 1), quiet: map[string]bool{}, veths: map[model.PodRef]string{}}
	c.w.Spawn(sim.Process{ID: "routing", Run: c.routing.run(c)})
}

// run lets routes change by themselves: a withdrawal that takes its time, a hold
// timer that ends.
func (r *routing) run(c *Cluster) func(context.Context, *sim.Gate) error {
	return func(ctx context.Context, g *sim.Gate) error {
		for {
			c.mu.Lock()
			next, ok := r.due(c)
			c.mu.Unlock()
			var due <-chan time.Time
			if ok {
				t := time.NewTimer(max(0, next-c.w.Now()))
				due = t.C
			}
			select {
			case <-r.wake:
				continue
			case <-due:
			case <-ctx.Done():
				return ctx.Err()
			}
			err := g.Pass(ctx, sim.Op{Kind: sim.Local, Class: "route", Key: "ROUTES follow", Request: &sim.Request{Verb: "ROUTES", Resource: "follow"}}, func(context.Context) error {
				c.mu.Lock()
				defer c.mu.Unlock()
				r.plane.Advance(c.w.Now())
				c.truth.changed = true
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
}

// due is when routes change by themselves, or an address has been lost for so
// long that it counts; ok is false if neither will be.
func (r *routing) due(c *Cluster) (at time.Duration, ok bool) {
	at, ok = r.plane.Next()
	losses := r.plane.Losses()
	if len(losses) == 0 {
		return at, ok
	}
	// A loss may be older than the sandbox that has the address now. Where routes have not
	// spread yet there are as many losses as nodes times sandboxes.
	has := c.truth.holders()
	for _, l := range losses {
		since := max(l.Since, has[holder{l.On, l.To}], c.judge.held[l.From], c.judge.held[l.On])
		if judged := since + l.Patience(c.cfg.Settings.BlackholeAfter) + 1; judged > c.w.Now() && (!ok || judged < at) {
			at, ok = judged, true
		}
	}
	return at, ok
}

// holder is an address on a node.
type holder struct {
	node string
	addr netip.Addr
}

// holders are since when sandboxes have their addresses.
func (t *truth) holders() map[holder]time.Duration {
	out := make(map[holder]time.Duration, len(t.sandboxes))
	for _, sb := range t.sandboxes {
		for _, a := range sb.Attachments {
			for _, addr := range a.Addrs {
				h := holder{sb.Node, addr}
				out[h] = max(out[h], a.Since)
			}
		}
	}
	return out
}

// routeLocked tells the fabric what is so now.
func (c *Cluster) routeLocked() []route.Loss {
	r := c.routing
	if r == nil {
		return nil
	}
	r.plane.Observe(c.w.Now(), c.factsLocked())
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return r.plane.Losses()
}

// factsLocked is what routes are made of: the machines, the addresses of live
// sandboxes, and what the record says of blocks and pools.
func (c *Cluster) factsLocked() route.Facts {
	r := c.routing
	if r.blocks == nil || r.at != c.judge.revision {
		r.blocks, r.at = route.BlocksOf(c.judge.record), c.judge.revision
	}
	f := route.Facts{Affinities: c.judge.record.Affinities, Blocks: r.blocks, Down: slices.Clone(r.down)}
	var tunnels map[string]netip.Addr
	f.Local, tunnels = c.seenLocals()
	for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
		n := c.nodes[name]
		if !n.state.Registered && !n.state.Up {
			continue // gone, and no longer anybody's peer
		}
		f.Nodes = append(f.Nodes, route.Node{
			Name: name, Addr: n.addr, Up: n.state.Up, BIRD: n.state.Up && !r.quiet[name], Felix: n.state.Up, Tunnel: tunnels[name],
		})
	}
	if n := model.NetworkByKey(c.networksLocked(), c.cfg.Primary); n != nil && n.Blocks != nil {
		f.Pools = n.Blocks.Pools
	}
	return f
}

// veth is vethOf, worked out once for each pod.
func (r *routing) veth(p model.PodRef) string {
	v, ok := r.veths[p]
	if !ok {
		v = vethOf(p)
		r.veths[p] = v
	}
	return v
}

// vethOf is the host's end of a pod's interface.
//
// Source: libcalico-go/lib/backend/k8s/conversion, VethNameForWorkload.
func vethOf(p model.PodRef) string {
	h := sha1.Sum([]byte(p.Namespace + "." + p.Name))
	return "cali" + hex.EncodeToString(h[:])[:11]
}

// AddrAnnotation is where calico-node writes the address it announces routes from.
const AddrAnnotation = "projectcalico.org/IPv4Address"

// nodeAddr is a machine's own address with its subnet: from its manifest, or the
// n-th of a subnet that all share.
func nodeAddr(obj *corev1.Node, n int) netip.Prefix {
	if p, err := netip.ParsePrefix(obj.Annotations[AddrAnnotation]); err == nil {
		return p
	}
	for _, a := range obj.Status.Addresses {
		if addr, err := netip.ParseAddr(a.Address); err == nil && a.Type == corev1.NodeInternalIP {
			return netip.PrefixFrom(addr, addr.BitLen()-8)
		}
	}
	return route.DefaultAddr(n)
}
