package capacity

import (
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/metric"
)

// Measure takes the same Sample from a real cluster, except Unplaced, which a view does not
// have.
func Measure(v metric.View) Sample {
	s := snapshotOf(&v)
	return s.sample(v.Truth.At)
}

// snapshotOf is what a view shows.
func snapshotOf(v *metric.View) *snapshot {
	s := &snapshot{networks: v.Networks, Census: Census{Affinities: v.Record.Affinities, Pools: v.Record.Pools, Claims: v.Record.Claims}}
	for _, name := range slices.Sorted(maps.Keys(v.Truth.Nodes)) {
		n := v.Truth.Nodes[name]
		s.sees(nodeState{name: name, up: n.Up, registered: n.Registered})
	}
	alive := s.sandboxes(v)
	for ref, p := range v.Truth.Pods { // counted, in any order
		if at, ok := s.at[p.Node]; !ok || !s.nodes[at].up || len(p.Networks) == 0 {
			continue
		}
		s.pods++
		if !alive.serves(ref, &p) {
			s.waiting++
		}
	}
	s.InUse = len(v.Record.Claims)
	for i := range v.Record.Claims {
		c := &v.Record.Claims[i]
		if c.Tunnel {
			if !v.Truth.Nodes[c.Node].Registered {
				s.Leaked++
			}
		} else if b := alive.byID[c.Container]; b == nil || !holds(b, c.Addr) {
			s.Leaked++
		}
	}
	s.blocksOf(v)
	type pair struct {
		from string
		to   netip.Addr
	}
	pairs := map[pair]bool{}
	for _, l := range v.Losses {
		pairs[pair{l.From, l.To}] = true
	}
	for p := range pairs {
		s.blackholed[model.Family(p.to)]++
	}
	return s
}

// sandboxes are the live sandboxes.
type sandboxes struct {
	byID  map[string]*model.Sandbox
	byPod map[model.PodRef]*model.Sandbox
}

func (s *snapshot) sandboxes(v *metric.View) sandboxes {
	n := len(v.Truth.Sandboxes)
	out := sandboxes{make(map[string]*model.Sandbox, n), make(map[model.PodRef]*model.Sandbox, n)}
	for i := range v.Truth.Sandboxes {
		b := &v.Truth.Sandboxes[i]
		out.byID[b.ID], out.byPod[b.Pod] = b, b
		at, ok := s.at[b.Node]
		if !ok {
			continue
		}
		for _, a := range b.Attachments {
			for _, addr := range a.Addrs {
				if b.Pod.Namespace == "" {
					s.device(at, addr)
				} else {
					s.live = append(s.live, holding{at, addr, false})
				}
			}
		}
	}
	return out
}

// serves reports whether a pod has all the networks that it wants.
func (s *sandboxes) serves(ref model.PodRef, p *model.Pod) bool {
	b := s.byPod[ref]
	if b == nil || b.UID != p.UID {
		return false
	}
	for _, key := range p.Networks {
		if !slices.ContainsFunc(b.Attachments, func(a model.Attachment) bool { return a.Network == key && len(a.Addrs)+len(a.Static) > 0 }) {
			return false
		}
	}
	return true
}

func holds(b *model.Sandbox, addr netip.Addr) bool {
	return slices.ContainsFunc(b.Attachments, func(a model.Attachment) bool { return slices.Contains(a.Addrs, addr) })
}

// blocksOf are the blocks of the record, each with its addresses in use.
func (s *snapshot) blocksOf(v *metric.View) {
	at := map[string]int{}
	var reserved []netip.Prefix
	for i := range v.Networks {
		n := &v.Networks[i]
		if n.Blocks == nil {
			continue
		}
		reserved = model.Outermost(append(reserved, n.Blocks.Reserved...))
		for j := range v.Record.Pools {
			p := &v.Record.Pools[j]
			if _, twice := at[p.Name]; twice || !n.Owns(p) {
				continue
			}
			at[p.Name] = len(s.Blocks)
			b := model.BlockUse{Prefix: p.Range, Owner: p.Node, Free: Addresses(p.Range)}
			for _, x := range reserved {
				if x.Overlaps(p.Range) {
					b.Free -= min(Addresses(x), Addresses(p.Range))
				}
			}
			s.Blocks = append(s.Blocks, b)
		}
	}
	for i := range v.Record.Claims {
		c := &v.Record.Claims[i]
		j, ok := at[c.Pool]
		if !ok {
			continue
		}
		b := &s.Blocks[j]
		b.InUse++
		if !slices.ContainsFunc(reserved, func(x netip.Prefix) bool { return x.Contains(c.Addr) }) {
			b.Free--
		}
		if c.Node != "" && c.Node != b.Owner {
			b.Borrowed++
		}
	}
	affine := map[model.Affinity]bool{}
	for _, a := range v.Record.Affinities {
		affine[model.Affinity{Block: a.Block, Node: a.Node}] = a.State != model.PendingDeletion
	}
	for i := range s.Blocks {
		b := &s.Blocks[i]
		b.Affine = affine[model.Affinity{Block: b.Prefix, Node: b.Owner}]
	}
}
