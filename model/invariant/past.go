package invariant

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"time"

	"ipamsim/model"
)

// Past is the state that oracles keep during a run, because it cannot be derived from the current
// view: since when the policy has its rules, claims against the policy, when a node was last
// registered, and until when a pod's node was unreachable.
//
// It receives one view after another, in order, and is used by one goroutine at a time. The zero
// Past is ready to use. The state of the first view counts as the state since the start.
type Past struct {
	begun    bool
	record   model.Snapshot                   // of the last view
	rules    map[string]*rules                // by network key
	policies map[string][]dated               // of networks without blocks, by key, the oldest first
	nodes    map[string]time.Duration         // when last seen registered
	unasked  map[model.PodRef]unasked         // when last seen on a node that cannot be asked, and which
	moved    time.Duration                    // when there were last more or fewer claims or handles
	foreign  map[foreignClaim]bool            // judged, and still there
	stands   map[model.Affinity]time.Duration // since when each affinity is as it is
	over     map[model.Affinity]finding       // claimed above the limit and not confirmed yet
	borrowed []finding                        // against StrictAffinity
	exceeded []finding                        // against MaxBlocks
	calls    calls

	assigning  map[string]*assigning          // by network key
	gaps       map[gap]time.Duration          // since when Services have them
	stayed     map[string]bool                // by the name of a node's pool: the node has been registered since the pool was created
	cidrs      map[netip.Prefix]time.Duration // when each ServiceCIDR was last there
	clusterIPs map[clusterIP]bool             // of the last view
	outside    []finding                      // against OutOfPool

	balanced map[balancedFamily]netip.Addr // the last that Services were given for their load balancers
	released map[netip.Addr]time.Duration  // since when no claim backs the address of a node's own device
}

// rules are the times since when the rules of a network's policy apply.
type rules struct {
	strict            bool
	limit             int
	strictAt, limitAt time.Duration
	// By pool, or by reserved prefix.
	reserved, disabled, manual, workless map[netip.Prefix]time.Duration
	unselected                           map[string]map[netip.Prefix]time.Duration // by node
}

// foreignClaim is a claim in a block that is not its node's.
type foreignClaim struct {
	pool   string
	addr   netip.Addr
	handle string
}

// Note records a view before it is judged. It must see every change of the record: two at
// the same time count as one.
func (p *Past) Note(v View) {
	if !p.begun {
		p.rules, p.nodes, p.over = map[string]*rules{}, map[string]time.Duration{}, map[model.Affinity]finding{}
		p.policies, p.unasked, p.stayed = map[string][]dated{}, map[model.PodRef]unasked{}, map[string]bool{}
	}
	p.noteNodes(&v)
	for i := range v.Networks {
		if n := &v.Networks[i]; n.Blocks != nil {
			p.noteRules(&v, n)
		} else {
			p.notePolicy(n, v.Truth.At)
		}
	}
	if p.begun {
		p.noteClaims(&v)
		p.noteAffinities(&v)
	}
	if p.begun && (len(p.record.Claims) != len(v.Record.Claims) || len(p.record.Handles) != len(v.Record.Handles)) {
		p.moved = v.Truth.At
	}
	p.noteStanding(&v)
	p.noteStayed(&v)
	p.noteSlices(&v)
	p.noteGaps(&v)
	p.noteClusterIPs(&v)
	p.noteBalanced(&v)
	p.noteDevices(&v)
	p.calls.note(&v)
	p.record, p.begun = v.Record, true
}

func (p *Past) noteNodes(v *View) {
	silent := false
	for name, n := range v.Truth.Nodes {
		if n.Registered {
			p.nodes[name] = v.Truth.At
		}
		silent = silent || !n.Healthy()
	}
	if !silent {
		return
	}
	for ref, pod := range v.Truth.Pods {
		if n, ok := v.Truth.Nodes[pod.Node]; ok && !n.Healthy() {
			p.unasked[ref] = unasked{v.Truth.At, pod.Node}
		}
	}
}

func (p *Past) noteRules(v *View, n *model.Network) {
	b, r, at := n.Blocks, p.rules[n.Key], v.Truth.At
	if !p.begun {
		at = 0
	}
	if r == nil {
		r = &rules{strict: b.Strict, limit: b.MaxBlocks, strictAt: at, limitAt: at}
		p.rules[n.Key] = r
	}
	if r.strict != b.Strict {
		r.strict, r.strictAt = b.Strict, at
	}
	if r.limit != b.MaxBlocks {
		r.limit, r.limitAt = b.MaxBlocks, at
	}
	which := func(is func(*model.IPPool) bool) (out []netip.Prefix) {
		for i := range b.Pools {
			if is(&b.Pools[i]) {
				out = append(out, b.Pools[i].Prefix)
			}
		}
		return out
	}
	r.reserved = sinces(r.reserved, b.Reserved, at)
	r.disabled = sinces(r.disabled, which(func(p *model.IPPool) bool { return p.Disabled }), at)
	r.manual = sinces(r.manual, which(func(p *model.IPPool) bool { return p.Manual }), at)
	r.workless = sinces(r.workless, which(func(p *model.IPPool) bool { return !p.Workloads }), at)
	was := r.unselected
	r.unselected = nil
	if !slices.ContainsFunc(b.Pools, func(p model.IPPool) bool { return len(p.Nodes) < len(v.Truth.Nodes) }) {
		return
	}
	r.unselected = map[string]map[netip.Prefix]time.Duration{}
	for name, node := range v.Truth.Nodes {
		if node.Registered {
			r.unselected[name] = sinces(was[name], which(func(p *model.IPPool) bool { return !slices.Contains(p.Nodes, name) }), at)
		}
	}
}

// sinces keeps the times of the prefixes that are still listed.
func sinces(old map[netip.Prefix]time.Duration, list []netip.Prefix, at time.Duration) map[netip.Prefix]time.Duration {
	if len(list) == 0 {
		return nil
	}
	m := make(map[netip.Prefix]time.Duration, len(list))
	for _, p := range list {
		m[p] = at
		if t, ok := old[p]; ok {
			m[p] = t
		}
	}
	return m
}

// noteClaims judges the claims that are new in blocks of other nodes.
func (p *Past) noteClaims(v *View) {
	var foreign map[foreignClaim]bool
	list := pools{list: v.Record.Pools}
	for i := range v.Record.Claims {
		c := &v.Record.Claims[i]
		if c.Node == "" {
			continue
		}
		b := list.find(c.Pool)
		if b == nil || b.Node == c.Node {
			continue
		}
		n := blockNetwork(v, b)
		if n == nil || !n.Blocks.Strict {
			continue
		}
		if foreign == nil {
			foreign = map[foreignClaim]bool{}
		}
		key := foreignClaim{c.Pool, c.Addr, c.Handle}
		foreign[key] = true
		if p.foreign[key] || p.had(key) || !after(v, c.Container, "", v.Truth.At, p.rules[n.Key].strictAt) {
			continue
		}
		p.borrowed = append(p.borrowed, finding{
			code:    borrowedCode(b, c),
			objects: []model.Ref{model.AddressOf(c.Addr), model.BlockOf(b.Range), nodeName(c.Node), handleName(c.Handle)},
			facts:   append(claimFacts(c), model.NewFact("pod", model.PodOf(c.Pod)), model.NewFact("at", v.Truth.At), ownerFact(b)),
		})
	}
	p.foreign = foreign
}

// had reports whether the last view's record had a claim.
func (p *Past) had(k foreignClaim) bool {
	return slices.ContainsFunc(p.record.Claims, func(c model.Claim) bool {
		return c.Addr == k.addr && c.Pool == k.pool && c.Handle == k.handle
	})
}

// noteStanding remembers since when affinities are as they are.
func (p *Past) noteStanding(v *View) {
	if p.begun && slices.Equal(p.record.Affinities, v.Record.Affinities) {
		return
	}
	old := p.stands
	p.stands = make(map[model.Affinity]time.Duration, len(v.Record.Affinities))
	for _, a := range v.Record.Affinities {
		at, ok := old[a]
		if !ok && p.begun {
			at = v.Truth.At
		}
		p.stands[a] = at
	}
}

// standing returns since when an affinity is unchanged; 0 without a past.
func (p *Past) standing(a model.Affinity) time.Duration {
	if p == nil {
		return 0
	}
	return p.stands[a]
}

// noteAffinities judges the claims to blocks that are new. What counts is the
// moment a claim begins, because upstream looks at the limit before; but a claim
// without effect exceeds nothing.
func (p *Past) noteAffinities(v *View) {
	if slices.Equal(p.record.Affinities, v.Record.Affinities) {
		return
	}
	over := map[model.Affinity]finding{}
	for i := range v.Record.Affinities {
		a := v.Record.Affinities[i]
		n := policyOf(v, a)
		if n == nil {
			continue
		}
		key := model.Affinity{Block: a.Block, Node: a.Node}
		limit := n.Blocks.MaxBlocks
		what, was := p.over[key]
		if _, had := slices.BinarySearchFunc(p.record.Affinities, a, compareAffinities); !had && limit > 0 {
			owned, code := owns(v, a, nil)-1, limitOfAll
			pool := n.Blocks.PoolOf(a.Block.Addr())
			if pool != nil && owns(v, a, func(b model.Affinity) bool { return b != a && n.Blocks.PoolOf(b.Block.Addr()) == pool }) >= limit {
				code = limitInPool
			}
			was = owned >= limit && afterOn(v, a.Node, p.rules[n.Key].limitAt)
			what = finding{
				code:    code,
				objects: []model.Ref{model.BlockOf(a.Block), nodeName(a.Node)},
				facts:   []model.Fact{model.NewFact("at", v.Truth.At), model.NewFact("owned", owned), model.NewFact("limit", limit)},
			}
		}
		switch {
		case !was:
		case a.State == model.Confirmed && owns(v, a, func(b model.Affinity) bool { return b.State == model.Confirmed }) > limit:
			p.exceeded = append(p.exceeded, what)
		default:
			over[key] = what
		}
	}
	p.over = over
}

func compareAffinities(a, b model.Affinity) int {
	return cmp.Or(a.Block.Compare(b.Block), cmp.Compare(a.Node, b.Node))
}

// policyOf is the network that an affinity's block counts in: its pool is in use
// on the node.
func policyOf(v *View, a model.Affinity) *model.Network {
	for i := range v.Networks {
		n := &v.Networks[i]
		if n.Blocks == nil {
			continue
		}
		if pool := n.Blocks.PoolOf(a.Block.Addr()); pool != nil && !pool.Disabled && slices.Contains(pool.Nodes, a.Node) {
			return n
		}
	}
	return nil
}

// owns counts the affinities of a's node in the family of a, those in a state or
// in any.
func owns(v *View, a model.Affinity, is func(model.Affinity) bool) int {
	count := 0
	for _, b := range v.Record.Affinities {
		if b.Node == a.Node && b.Block.Addr().Is4() == a.Block.Addr().Is4() && (is == nil || is(b)) && policyOf(v, b) != nil {
			count++
		}
	}
	return count
}

// after reports whether the ADD for an address that a container got at some time began when a rule
// was already in force, so that it read the rule. The ADD is that of an interface, "" for the
// container's last one: the ADD of the next interface begins at the same time at which this one
// ends. An address that no ADD requested (of a tunnel) must obey the rule from StuckAfter on.
func after(v *View, container, ifname string, at, since time.Duration) bool {
	if since == 0 {
		return true
	}
	if v.History != nil && container != "" {
		for _, e := range slices.Backward(v.History.Events) {
			if e.Kind == model.AddBegin && e.Container == container && e.At <= at && (ifname == "" || e.Interface == ifname) {
				return e.At >= since
			}
		}
	}
	return v.Settings.StuckAfter > 0 && at-since > v.Settings.StuckAfter
}

// afterOn is after for the calls that a node executes now.
func afterOn(v *View, node string, since time.Duration) bool {
	some := false
	for _, b := range v.Truth.Busy {
		if b.Node == node && !b.Del {
			if some = true; b.Since < since {
				return false
			}
		}
	}
	return some || after(v, "", "", v.Truth.At, since)
}

// registered is when a node was last registered; without a past, never before.
func (p *Past) registered(node string) time.Duration {
	if p == nil {
		return math.MaxInt64
	}
	return p.nodes[node]
}

// unasked is when a pod was last seen on a node that cannot be asked.
type unasked struct {
	at   time.Duration
	node string
}

// lost is the last time at which the object of a claim's pod existed, bound to an unreachable node:
// until then the loss of the sandbox could not be known. It is 0 if there was none, or if the
// claim's container was created on another node.
func (p *Past) lost(v *View, c *model.Claim) time.Duration {
	if p == nil {
		return 0
	}
	u := p.unasked[c.Pod]
	if u.at > 0 && elsewhere(v, c, u.node) {
		return 0
	}
	return u.at
}

// since is when a network's rule about a prefix that contains the address came
// into force; ok is false without such a rule, or a past.
func (p *Past) since(of func(*rules) map[netip.Prefix]time.Duration, key string, a netip.Addr) (x netip.Prefix, at time.Duration, ok bool) {
	if p == nil || p.rules[key] == nil {
		return x, 0, false
	}
	for q, t := range of(p.rules[key]) {
		if q.Contains(a) && (!ok || t < at || (t == at && q.Compare(x) < 0)) {
			x, at, ok = q, t, true
		}
	}
	return x, at, ok
}
