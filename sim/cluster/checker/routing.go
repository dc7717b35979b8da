package checker

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/sim"
)

// routing is the data path between the nodes: their routing tables, which follow the stored objects
// and the live processes with the delays of BGP. It belongs to the cluster, not to the manager: the
// manager's record is only an input. Guarded by Checker.mu.
type routing struct {
	net   *route.Network
	wake  chan struct{}
	down  []route.Session // sessions that are lost now
	quiet map[string]bool // nodes whose BIRD does not run

	veths  map[model.PodRef]string // see veth
	stored [2]stored               // of the record at a revision, IPv4 and IPv6
	at     int64
}

// stored is the record of one address family.
type stored struct {
	affinities []model.Affinity
	blocks     []route.Block
}

// StartRouting gives the cluster a fabric if its primary network has blocks, which nodes
// announce. Otherwise routes are out of scope.
func (c *Checker) StartRouting() {
	n := model.NetworkByKey(c.cfg.Networks, c.cfg.Primary)
	if n == nil || n.Blocks == nil {
		return
	}
	c.routing = &routing{net: route.NewNetwork(c.cfg.Fabric), wake: make(chan struct{}, 1), quiet: map[string]bool{}, veths: map[model.PodRef]string{}}
	c.w.Spawn(sim.Process{ID: "routing", Run: c.routing.run(c)})
}

// run lets routes change by themselves: a withdrawal that takes its time, a hold
// timer that ends.
func (r *routing) run(c *Checker) func(context.Context, *sim.Gate) error {
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
				r.net.Advance(c.w.Now())
				c.changed = true
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
}

// due is when routes change next, or when an address has been unreachable for long enough to count;
// ok is false if neither will happen.
func (r *routing) due(c *Checker) (at time.Duration, ok bool) {
	at, ok = r.net.Next()
	losses := r.net.Losses()
	if len(losses) == 0 || !c.reflected() {
		return at, ok
	}
	// A loss may be older than the sandbox that has the address now. Before routes have spread
	// there are as many losses as nodes times sandboxes.
	has := c.holders()
	for _, l := range losses {
		since := max(l.Since, has[holder{l.On, l.To}], c.held[l.From], c.held[l.On])
		if counts := since + l.Patience(c.cfg.Settings.BlackholeAfter) + 1; counts > c.w.Now() && (!ok || counts < at) {
			at, ok = counts, true
		}
	}
	return at, ok
}

// errNoRoutes is why nothing can be done about routes.
var errNoRoutes = errors.New("the primary network announces no routes")

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

// routeLocked passes the current facts to the fabric.
func (c *Checker) routeLocked() []route.Loss {
	r := c.routing
	if r == nil {
		return nil
	}
	four, six := c.factsLocked()
	r.net.Observe(c.w.Now(), four, six)
	select {
	case r.wake <- struct{}{}:
	default:
	}
	if !c.reflected() {
		for name := range c.machines {
			c.held[name] = c.w.Now()
		}
		return nil
	}
	return r.net.Losses()
}

// reflected reports whether routes spread between nodes. In a cluster whose reflectors have no
// power nodes learn no blocks of other nodes. Called with mu held.
func (c *Checker) reflected() bool {
	all := c.cfg.Fabric.Reflectors
	return len(all) == 0 || slices.ContainsFunc(all, func(name string) bool {
		m := c.machines[name]
		return m != nil && m.Up && !c.routing.quiet[name]
	})
}

// factsLocked are the inputs of routes, by address family: the machines, the addresses of live
// sandboxes, and the blocks and pools of the record.
func (c *Checker) factsLocked() (four, six route.Facts) {
	r := c.routing
	if r.at != c.revision || r.stored[0].blocks == nil {
		r.read(&c.recorded)
		r.at = c.revision
	}
	locals, tunnels := c.localAddrs()
	var pools []model.IPPool
	if n := model.NetworkByKey(c.networksLocked(), c.cfg.Primary); n != nil && n.Blocks != nil {
		pools = n.Blocks.Pools
	}
	for i, f := range []*route.Facts{&four, &six} {
		*f = route.Facts{Affinities: r.stored[i].affinities, Blocks: r.stored[i].blocks, Down: slices.Clone(r.down), Local: locals[i]}
		for _, p := range pools {
			if model.Family(p.Prefix.Addr()) == i {
				f.Pools = append(f.Pools, p)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.machines)) {
		n := c.machines[name]
		if !n.Registered && !n.Up {
			continue // deleted, and no longer a peer
		}
		at := route.Node{Name: name, ID: n.Addr.Addr(), Up: n.Up, BIRD: n.Up && !r.quiet[name], Felix: n.Up}
		at.Addr, at.Tunnel = n.Addr, tunnels[0][name]
		four.Nodes = append(four.Nodes, at)
		at.Addr, at.Tunnel = n.Addr6, tunnels[1][name]
		six.Nodes = append(six.Nodes, at)
	}
	return four, six
}

// read converts the record to stored, by family.
func (r *routing) read(s *model.Snapshot) {
	r.stored = [2]stored{{blocks: []route.Block{}}}
	for _, b := range route.BlocksOf(*s) {
		f := &r.stored[model.Family(b.Prefix.Addr())]
		f.blocks = append(f.blocks, b)
	}
	for _, a := range s.Affinities {
		f := &r.stored[model.Family(a.Block.Addr())]
		f.affinities = append(f.affinities, a)
	}
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

// Table prints a node's routing table of one address family.
func (c *Checker) Table(node string, six bool) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.routing == nil {
		return "", errNoRoutes
	}
	t, ok := c.routing.net.Table(node, six)
	if !ok {
		return "", fmt.Errorf("%s is not on the network", node)
	}
	return t.String(), nil
}
