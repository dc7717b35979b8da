package cluster

import (
	"context"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/film"
	"ipamsim/model/route"
)

// camera films what can be looked at, after every step. It looks where something
// may have changed, and only looks: the run is the same with it and without.
// Guarded by Cluster.mu.
type camera struct {
	rec      *film.Recorder
	table    map[string]int // by name; one that the cluster has no use for is not there
	revision int64          // of the record that was looked at last
	edition  int            // and of the truth: seen.edition

	pools        film.Follow[poolNow]
	blocks       film.Follow[blockNow]
	claims       film.Follow[model.Claim]
	reservations film.Follow[model.Reservation]
	affinities   film.Follow[model.Affinity]
	handles      film.Follow[model.Handle]
	sandboxes    film.Follow[model.Sandbox]
	reach        film.Follow[lostPair]

	pods   map[model.PodRef]model.Pod
	nodes  map[string]model.Node
	busy   map[string]model.Busy
	losses []route.Loss
	routes *route.Watch // nil: no routing
	wires  map[string]string
}

// startFilm takes the first frame, of what there is before the first step, if a
// film was asked for. Nobody else has looked at the record then.
func (c *Cluster) startFilm() error {
	if !c.cfg.Film {
		return nil
	}
	record, err := c.inst.Observe(context.Background())
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.camera = newCamera(c)
	if c.routing != nil {
		c.camera.routes = c.routing.plane.Watch()
	}
	c.camera.lookRecord(c, &record)
	c.camera.lookTruth(c)
	c.camera.rec.Cut(0, 0)
	return nil
}

// filmed takes a frame of what the last step led to.
func (c *Cluster) filmed() {
	cam := c.camera
	if cam == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cam.revision != c.judge.revision {
		cam.revision = c.judge.revision
		cam.lookRecord(c, &c.judge.record)
	}
	cam.lookTruth(c)
	if cam.routes != nil {
		cam.routes.Changes(cam.route)
		cam.lookReach(c.routing.plane.Losses())
	}
	cam.rec.Cut(len(c.w.Trace().Steps), c.w.Now())
}

// Film of the run so far; nil if none was asked for. It must not be changed.
func (c *Cluster) Film() *film.Film {
	if c.camera == nil {
		return nil
	}
	return c.camera.rec.Film()
}

func newCamera(c *Cluster) *camera {
	plain, blocks := false, false
	for _, n := range c.judge.networks {
		plain, blocks = plain || n.Blocks == nil, blocks || n.Blocks != nil
	}
	cam := &camera{
		table: map[string]int{}, revision: -1, edition: -1, wires: map[string]string{},
		pods: map[model.PodRef]model.Pod{}, nodes: map[string]model.Node{}, busy: map[string]model.Busy{},
	}
	var tables []film.Table
	for _, t := range filmTables {
		if t.only == onlyPlain && !plain || t.only == onlyBlocks && !blocks || t.only == onlyRouting && c.routing == nil {
			continue
		}
		cam.table[t.Name] = len(tables)
		tables = append(tables, t.Table)
	}
	cam.rec = film.NewRecorder(tables)
	cam.followAll()
	return cam
}

// has reports whether the film has a table of that name.
func (cam *camera) has(name string) bool { _, ok := cam.table[name]; return ok }

// lookRecord looks at what the datastore claims.
func (cam *camera) lookRecord(c *Cluster, r *model.Snapshot) {
	networks := r.Networks
	if networks == nil {
		networks = c.judge.networks
	}
	used := map[string]int{} // by pool
	for i := 0; i < len(r.Claims); {
		from, pool := i, r.Claims[i].Pool // claims of a pool stand together
		for i < len(r.Claims) && r.Claims[i].Pool == pool {
			i++
		}
		used[pool] += i - from
	}
	for i := range r.Pools {
		if p := &r.Pools[i]; cam.wires[p.Name] == "" {
			cam.wires[p.Name] = wireOf(networks, p)
		}
	}
	pools, blocks := cam.split(r, networks, used)
	cam.pools.Look(cam.rec, cam.table["pools"], pools)
	cam.claims.Look(cam.rec, cam.table["claims"], r.Claims)
	if cam.has("blocks") {
		cam.blocks.Look(cam.rec, cam.table["blocks"], blocks)
		cam.affinities.Look(cam.rec, cam.table["affinities"], r.Affinities)
		cam.handles.Look(cam.rec, cam.table["handles"], r.Handles)
	}
	if cam.has("reservations") {
		cam.reservations.Look(cam.rec, cam.table["reservations"], r.Reservations)
	}
}

// split tells blocks from the pools that people wrote, and gives both what is
// claimed in them.
func (cam *camera) split(r *model.Snapshot, networks []model.Network, used map[string]int) (pools []poolNow, blocks []blockNow) {
	states := map[model.Affinity]string{} // without their states
	for _, a := range r.Affinities {
		states[model.Affinity{Block: a.Block, Node: a.Node}] = a.State
	}
	for i := range r.Pools {
		p := &r.Pools[i]
		if !ofBlocks(networks, p, cam.has("reservations")) {
			pools = append(pools, poolNow{name: p.Name, network: cam.wires[p.Name], rng: p.Range, node: p.Node, claimed: used[p.Name]})
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

// wireOf is the key of the first network that has addresses of the pool on its
// wire: several may draw from one pool. "" if there is none.
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

// lookTruth looks at what is really there.
func (cam *camera) lookTruth(c *Cluster) {
	if cam.edition != c.truth.seen.edition {
		cam.edition = c.truth.seen.edition
		cam.sandboxes.Look(cam.rec, cam.table["sandboxes"], c.seenSandboxes())
		cam.lookPods(c.seenPods())
	}
	for name, n := range c.nodes {
		now := n.state
		now.Since = 0
		switch {
		case cam.nodes[name] == now:
		case !now.Up && !now.Registered: // neither a machine nor an object
			cam.nodes[name] = now
			cam.rec.Drop(cam.table["nodes"], name)
		default:
			cam.nodes[name] = now
			cam.rec.Put(cam.table["nodes"], name, name, n.addr.String(), yes(now.Up), yes(now.Partitioned), yes(now.Paused), yes(now.Registered))
		}
	}
	for id, b := range c.truth.busy {
		if cam.busy[id] != b.Busy {
			cam.busy[id] = b.Busy
			cam.rec.Put(cam.table["busy"], id, verb(b.Busy), podCell(b.Pod), b.Node, id, b.call.Network, clock(b.Since))
		}
	}
	for id := range cam.busy {
		if c.truth.busy[id] == nil {
			delete(cam.busy, id)
			cam.rec.Drop(cam.table["busy"], id)
		}
	}
}

func (cam *camera) lookPods(now map[model.PodRef]model.Pod) {
	t := cam.table["pods"]
	for ref, p := range now {
		if old, ok := cam.pods[ref]; !ok || old.Node != p.Node || old.Phase != p.Phase || old.Deleting != p.Deleting {
			cam.rec.Put(t, ref.String(), ref.String(), p.Phase, p.Node, yes(p.Deleting))
		}
	}
	for ref := range cam.pods {
		if _, ok := now[ref]; !ok {
			cam.rec.Drop(t, ref.String())
		}
	}
	cam.pods = now
}

// route is one that a node or router has now; nil: has no more.
func (cam *camera) route(place string, dst netip.Prefix, now *route.Route) {
	key := place + " " + dst.String()
	if now == nil {
		cam.rec.Drop(cam.table["routes"], key)
	} else {
		cam.rec.Put(cam.table["routes"], key, place, dst.String(), now.String())
	}
}

// lookReach looks at who cannot reach whom by those routes.
func (cam *camera) lookReach(losses []route.Loss) {
	if len(losses) == len(cam.losses) && (len(losses) == 0 || &losses[0] == &cam.losses[0]) {
		return // the very list of the last look
	}
	if !slices.Equal(losses, cam.losses) {
		cam.losses = losses
		cam.reach.Look(cam.rec, cam.table["reach"], lostPairs(losses))
	}
}
