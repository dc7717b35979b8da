package calico

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"
)

// Pass is one full scan at virtual time now, during which pods do not change. With etcdv3 it
// first deletes Calico's nodes that have no Kubernetes node. Then it releases leaked addresses
// (those of deleted nodes immediately, others after the grace period), then spare empty
// blocks, then the blocks of deleted nodes.
//
// The error is the pass's own: what the pass has not done by then is left for the next one. It
// is ErrNotModelled if more than 10,000 addresses are to be released in one pass: upstream
// releases any 10,000 of them.
//
// Source: kube-controllers/pkg/controllers/node/ipam.go, syncIPAM; node_deleter.go,
// deleteStaleNodes.
func (c *Collector) Pass(now time.Duration, pods Pods) error {
	c.now, c.pods, c.a.passing = now, pods, true
	defer func() { c.a.passing = false; c.a.settle() }()
	if c.a.datastore == Etcd {
		byName := func(x, y *host) int { return cmp.Compare(x.name, y.name) }
		for _, h := range slices.SortedFunc(maps.Keys(c.a.orphans), byName) {
			if err := c.a.deleteCalicoNode(h); err != nil {
				return err
			}
		}
	}
	c.learn()
	gone := c.check()
	if err := c.releaseLeaks(); err != nil {
		return err
	}
	c.releaseSpare()
	var err error
	for _, node := range gone {
		if h := c.a.hosts[node]; h != nil {
			if e := c.a.releaseHost(h, true); e != nil {
				err = e
			}
		}
	}
	return err
}

// check judges the allocations and says which nodes are gone and hold nothing that
// is alive. On nodes that are alive and were in the last pass it looks only at
// those that may have become something else.
//
// Source: checkAllocations.
func (c *Collector) check() (gone []string) {
	changed, all := c.pods.Changed()
	for _, ref := range changed {
		for _, s := range c.byPod[ref] {
			c.suspects[s] = struct{}{}
		}
	}
	if all {
		for n := range c.byNode {
			c.pending[n] = struct{}{}
		}
	}
	suspects := map[string]seenSet{}
	for s := range c.suspects {
		suspects[s.node] = append(suspects[s.node], s)
		c.pending[s.node] = struct{}{}
	}
	for _, n := range slices.Sorted(maps.Keys(c.pending)) {
		h := c.a.hosts[n]
		there, alive := h != nil && h.known, h != nil && h.known && h.kubernetes
		allocations := c.byNode[n]
		if alive && c.alive[n] && !all {
			allocations = suspects[n]
			slices.SortFunc(allocations, (*seen).compare)
		}
		if c.checkNode(allocations, there, alive) && c.counts(n) {
			gone = append(gone, n)
		}
		c.keep(n, alive)
	}
	slices.Sort(gone)
	return gone
}

// counts reports whether there is anything of a node.
func (c *Collector) counts(node string) bool { return c.owning[node] > 0 || len(c.byNode[node]) > 0 }

// keep remembers a node for the next pass, and whether it need not be looked at
// then.
func (c *Collector) keep(node string, alive bool) {
	if !c.counts(node) {
		delete(c.alive, node)
		delete(c.pending, node)
		return
	}
	if c.alive[node] = alive; alive {
		delete(c.pending, node)
	}
}

// checkNode judges the allocations for one node. It reports whether the node's
// blocks can be released.
func (c *Collector) checkNode(all seenSet, there, alive bool) bool {
	release := true
	for _, s := range all {
		s.there = there
		switch {
		case s.tunnel:
			continue
		case !s.isPod():
			release = false
			continue
		case c.valid(s):
			release, s.sure, s.leaked = false, false, false
			delete(c.suspects, s)
			continue
		case !alive:
			s.sure = true
		case c.grace >= 0:
			if !s.leaked {
				s.leaked, s.since = true, c.now
			}
			if c.grace > 0 && c.now-s.since > c.grace {
				s.sure = true
			}
		}
		c.suspects[s] = struct{}{}
		if s.sure {
			c.confirmed[s.id] = s
		} else {
			delete(c.confirmed, s.id)
		}
	}
	if alive || !release {
		return false
	}
	for _, s := range all {
		if s.tunnel {
			s.sure = true
			c.confirmed[s.id] = s
		}
	}
	return true
}

func (s *seen) compare(t *seen) int {
	return cmp.Or(s.addr.Compare(t.addr), cmp.Compare(s.handle, t.handle))
}

func (s *seen) isPod() bool { return s.pod.Name != "" && s.pod.Namespace != "" }

// valid reports whether an address is still its owner's.
//
// Source: allocationIsValid.
func (c *Collector) valid(s *seen) bool {
	if s.tunnel {
		return s.there
	}
	p, exists := c.pods.Pod(s.pod)
	switch {
	case !exists:
		return false
	case p.Node != "" && s.there && p.Node != s.node:
		return false
	case len(p.Addrs) == 0:
		return true // not reported yet
	default:
		return !p.Finished && slices.Contains(p.Addrs, s.addr)
	}
}

// batchMax is the greatest number of leaks that one pass releases. Upstream releases any 10,000,
// the reference none: see Pass.
const batchMax = 10000

// releaseLeaks releases confirmed leaks, except those whose handle has another allocation that is
// not known to be leaked.
//
// Source: garbageCollectKnownLeaks.
func (c *Collector) releaseLeaks() error {
	var leaks []*seen
	for _, s := range c.confirmed {
		if c.valid(s) {
			delete(c.confirmed, s.id)
			s.sure, s.leaked = false, false
			continue
		}
		if c.allLeaked(s.handle) {
			leaks = append(leaks, s)
		}
	}
	if len(leaks) == 0 {
		return nil
	}
	if len(leaks) > batchMax {
		return fmt.Errorf("%w: %d leaks in one pass", ErrNotModelled, len(leaks))
	}
	slices.SortFunc(leaks, (*seen).compare)
	byAddr := map[netip.Addr]*seen{}
	var all []Release
	for _, s := range leaks {
		all = append(all, Release{Addr: s.addr, Handle: s.handle, sequence: &s.sequence})
		byAddr[s.addr] = s
	}
	c.strayFirst(all)
	done, err := c.a.Release(all...)
	for _, r := range done {
		if s := byAddr[r.Addr]; s != nil {
			c.release(s)
			delete(c.confirmed, s.id)
			delete(byAddr, r.Addr)
		}
	}
	return err
}

// strayFirst puts that address of no pool first which upstream happens to meet
// first, because only its family is then released; see Release.
func (c *Collector) strayFirst(all []Release) {
	var stray []netip.Prefix
	for _, r := range all {
		if c.a.poolOf(r.Addr, true) == nil {
			stray = append(stray, netip.PrefixFrom(r.Addr, r.Addr.BitLen()))
		}
	}
	if len(stray) > 0 {
		first := c.a.ordered(stray)[0].Addr()
		i := slices.IndexFunc(all, func(r Release) bool { return r.Addr == first })
		all[0], all[i] = all[i], all[0]
	}
}

func (c *Collector) allLeaked(handle string) bool {
	if len(c.byHandle) == 0 {
		return false
	}
	for _, s := range c.byHandle[handle] {
		if !s.sure {
			return false
		}
	}
	return true
}

// releaseSpare releases empty blocks of nodes that have others, a grace period after the first
// pass that found them so. Upstream chooses any of several; one always stays.
//
// Source: releaseUnusedBlocks.
func (c *Collector) releaseSpare() {
	byNode := map[string][]netip.Prefix{}
	for p, n := range c.empty {
		byNode[n] = append(byNode[n], p)
	}
	for _, n := range slices.Sorted(maps.Keys(byNode)) {
		before := len(c.blocksOf[n])
		for _, p := range c.a.ordered(byNode[n]) {
			if len(c.blocksOf[n]) <= 1 || c.grace <= 0 {
				continue
			}
			since, known := c.emptySince[p]
			if !known {
				c.emptySince[p] = c.now
				continue
			}
			if c.now-since <= c.grace {
				continue
			}
			if h := c.a.hosts[n]; h != nil {
				if err := c.a.releaseAffinity(h, p, true); err != nil && !passes(err) {
					continue
				}
			}
			delete(c.blocksOf[n], p)
			c.forgetBlock(p)
		}
		if now := len(c.blocksOf[n]); now == 1 && now < before && len(byNode[n]) > 1 {
			c.Choices++
		}
	}
}
