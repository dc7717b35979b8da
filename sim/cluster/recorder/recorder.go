// Package recording keeps what everything in a cluster looked like after every step, as
// the tables of a film.
package recorder

import (
	"iter"
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/model/recording"
	"ipamsim/model/route"
	"ipamsim/model/route/fib"
)

// View is what there is to be seen after a step. Its slices and maps are not changed later.
type View struct {
	Record   *model.Snapshot
	Revision int64 // of the record: it is as it was while this is the same; -1 or more
	Networks []model.Network

	Sandboxes []model.Sandbox
	Pods      map[model.PodRef]model.Pod
	Edition   int // of sandboxes and pods
	Machines  map[string]*Machine
	Calls     iter.Seq2[string, Call] // CNI calls under way, by container
	Losses    []route.Loss            // pairs that cannot reach each other
}

// Machine is a machine with its own addresses, and their subnets' lengths.
type Machine struct {
	model.Node
	Addr, Addr6 netip.Prefix
	Own         []netip.Addr // those that its object named
}

// addresses are its own of both families, as a cell has them.
func (m *Machine) addresses() string {
	var out []string
	for _, a := range []netip.Prefix{m.Addr, m.Addr6} {
		if a.IsValid() {
			out = append(out, a.String())
		}
	}
	return strings.Join(out, " ")
}

// Call is a CNI call under way.
type Call struct {
	model.Busy
	Network string
}

// Recording records what can be looked at. It looks where something may have changed, and
// only looks: the run is the same with it and without.
type Recording struct {
	rec      *recording.Recorder
	table    map[string]int // by name; one that the cluster has no use for is not there
	revision int64          // of the record that was looked at last
	edition  int            // and of the truth

	pools        recording.Follow[poolNow]
	blocks       recording.Follow[blockNow]
	claims       recording.Follow[model.Claim]
	reservations recording.Follow[model.Reservation]
	affinities   recording.Follow[model.Affinity]
	handles      recording.Follow[model.Handle]
	sandboxes    recording.Follow[model.Sandbox]
	reach        recording.Follow[lostPair]

	pods   map[model.PodRef]model.Pod
	nodes  map[string]model.Node
	busy   map[string]model.Busy
	losses []route.Loss
	wires  map[string]string
	routes func(put PutRoute) // nil: no routing
}

// PutRoute is called with a route of a node or router; nil: the route was removed.
type PutRoute = func(place string, dst netip.Prefix, now *fib.Route)

// New makes a recording without a frame, of networks as manifests have them. Routes calls
// its argument for every route that is not as it was when routes was called last; nil:
// there are none.
func New(networks []model.Network, routes func(put PutRoute)) *Recording {
	plain, blocks := false, false
	for _, n := range networks {
		plain, blocks = plain || n.Blocks == nil, blocks || n.Blocks != nil
	}
	r := &Recording{
		table: map[string]int{}, revision: -2, edition: -1, wires: map[string]string{}, routes: routes,
		pods: map[model.PodRef]model.Pod{}, nodes: map[string]model.Node{}, busy: map[string]model.Busy{},
	}
	var all []recording.Table
	for _, t := range tables {
		if t.only == onlyPlain && !plain || t.only == onlyBlocks && !blocks || t.only == onlyRouting && routes == nil {
			continue
		}
		r.table[t.Name] = len(all)
		all = append(all, t.Table)
	}
	r.rec = recording.NewRecorder(all)
	r.followAll()
	return r
}

// Film is the recording so far. It must not be changed.
func (r *Recording) Film() *recording.Recording { return r.rec.Recording() }

// Frame records what a step has led to.
func (r *Recording) Frame(v View, step int, at time.Duration) {
	if r.revision != v.Revision {
		r.revision = v.Revision
		r.lookRecord(v.Record, v.Networks)
	}
	r.lookTruth(v)
	if r.routes != nil {
		r.routes(r.route)
		r.lookReach(v.Losses)
	}
	r.rec.Cut(step, at)
}

// has reports whether the film has a table of that name.
func (r *Recording) has(name string) bool { _, ok := r.table[name]; return ok }

// lookRecord looks at what the datastore claims.
func (r *Recording) lookRecord(now *model.Snapshot, networks []model.Network) {
	used := map[string]int{} // by pool
	for i := 0; i < len(now.Claims); {
		from, pool := i, now.Claims[i].Pool // claims of a pool stand together
		for i < len(now.Claims) && now.Claims[i].Pool == pool {
			i++
		}
		used[pool] += i - from
	}
	for i := range now.Pools {
		if p := &now.Pools[i]; r.wires[p.Name] == "" {
			r.wires[p.Name] = wireOf(networks, p)
		}
	}
	pools, blocks := r.split(now, networks, used)
	r.pools.Update(r.rec, r.table["pools"], pools)
	r.claims.Update(r.rec, r.table["claims"], now.Claims)
	if r.has("blocks") {
		r.blocks.Update(r.rec, r.table["blocks"], blocks)
		r.affinities.Update(r.rec, r.table["affinities"], now.Affinities)
		r.handles.Update(r.rec, r.table["handles"], now.Handles)
	}
	if r.has("reservations") {
		r.reservations.Update(r.rec, r.table["reservations"], now.Reservations)
	}
}

// split separates blocks from configured pools and counts the claims of both.
func (r *Recording) split(now *model.Snapshot, networks []model.Network, used map[string]int) (pools []poolNow, blocks []blockNow) {
	states := map[model.Affinity]string{} // without their states
	for _, a := range now.Affinities {
		states[model.Affinity{Block: a.Block, Node: a.Node}] = a.State
	}
	for i := range now.Pools {
		p := &now.Pools[i]
		if !ofBlocks(networks, p, r.has("reservations")) {
			pools = append(pools, poolNow{name: p.Name, network: r.wires[p.Name], rng: p.Range, node: p.Node, claimed: used[p.Name]})
			continue
		}
		blocks = append(blocks, blockNow{
			Pool: *p, used: used[p.Name], free: size(p.Range) - used[p.Name], state: states[model.Affinity{Block: p.Range, Node: p.Node}],
		})
	}
	for i := range networks {
		if networks[i].Blocks == nil {
			continue
		}
		for j := range networks[i].Blocks.Pools {
			p := &networks[i].Blocks.Pools[j]
			n := poolNow{name: p.Name, network: networks[i].Key, rng: p.Prefix, about: about(p)}
			for k := range blocks {
				if p.Prefix.Contains(blocks[k].Range.Addr()) {
					n.claimed += blocks[k].used
				}
			}
			pools = append(pools, n)
		}
	}
	return pools, blocks
}

// ofBlocks reports whether what the record lists among its pools is a block: all
// are where no network has plain pools.
func ofBlocks(networks []model.Network, p *model.Pool, plain bool) bool {
	return !plain || slices.ContainsFunc(networks, func(n model.Network) bool { return n.Blocks != nil && n.Owns(p) })
}

// wireOf is the key of the first network with addresses of the pool: several may draw from one
// pool. "" if there is none.
func wireOf(networks []model.Network, p *model.Pool) string {
	for i := range networks {
		if networks[i].Owns(p) {
			return model.Wire(networks, networks[i].Key, p.Range.Addr())
		}
	}
	return ""
}

// size is how many addresses a block has; one of IPv6 may have more than counts.
func size(p netip.Prefix) int { return 1 << min(p.Addr().BitLen()-p.Bits(), 62) }

// lookTruth records the changes of the truth.
func (r *Recording) lookTruth(v View) {
	if r.edition != v.Edition {
		r.edition = v.Edition
		r.sandboxes.Update(r.rec, r.table["sandboxes"], v.Sandboxes)
		r.lookPods(v.Pods)
	}
	for name, n := range v.Machines {
		now := n.Node
		now.Since = 0
		switch {
		case r.nodes[name] == now:
		case !now.Up && !now.Registered: // neither a machine nor an object
			r.nodes[name] = now
			r.rec.Drop(r.table["nodes"], name)
		default:
			r.nodes[name] = now
			r.rec.Put(r.table["nodes"], name, name, n.addresses(), yes(now.Up), yes(now.Partitioned), yes(now.Paused), yes(now.Registered))
		}
	}
	under := map[string]bool{}
	for id, b := range v.Calls {
		under[id] = true
		if r.busy[id] != b.Busy {
			r.busy[id] = b.Busy
			r.rec.Put(r.table["busy"], id, verb(b.Busy), podCell(b.Pod), b.Node, id, b.Network, clock(b.Since))
		}
	}
	for id := range r.busy {
		if !under[id] {
			delete(r.busy, id)
			r.rec.Drop(r.table["busy"], id)
		}
	}
}

func (r *Recording) lookPods(now map[model.PodRef]model.Pod) {
	t := r.table["pods"]
	for ref, p := range now {
		if old, ok := r.pods[ref]; !ok || old.Node != p.Node || old.Phase != p.Phase || old.Deleting != p.Deleting {
			r.rec.Put(t, ref.String(), ref.String(), p.Phase, p.Node, yes(p.Deleting))
		}
	}
	for ref := range r.pods {
		if _, ok := now[ref]; !ok {
			r.rec.Drop(t, ref.String())
		}
	}
	r.pods = now
}

// route records a route of a node or router; nil: the route was removed.
func (r *Recording) route(place string, dst netip.Prefix, now *fib.Route) {
	key := place + " " + dst.String()
	if now == nil {
		r.rec.Drop(r.table["routes"], key)
	} else {
		r.rec.Put(r.table["routes"], key, place, dst.String(), now.String())
	}
}

// lookReach records the pairs that cannot reach each other by those routes.
func (r *Recording) lookReach(losses []route.Loss) {
	if len(losses) == len(r.losses) && (len(losses) == 0 || &losses[0] == &r.losses[0]) {
		return // the same list as last time
	}
	if !slices.Equal(losses, r.losses) {
		r.losses = losses
		r.reach.Update(r.rec, r.table["reach"], lostPairs(losses))
	}
}
