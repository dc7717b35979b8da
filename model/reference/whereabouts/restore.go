package whereabouts

import (
	"fmt"
	"slices"

	"ipamsim/model"
)

// Restore returns a datastore that holds the pools with their allocations and the reservations
// of a record, which is either a Record's or imported. A record does not contain node slices:
// set them afterwards with StoreSlices.
//
// It returns ErrNotModelled for records that upstream treats in the order of a Go map (two
// allocations of one pod's interface or of one container in a pool), and for allocations
// outside of their pool.
func Restore(s model.Snapshot) (*Record, error) {
	r := New()
	for _, p := range s.Pools {
		if r.pools[p.Name] != nil || !p.Range.IsValid() || p.Range != p.Range.Masked() {
			return nil, fmt.Errorf("whereabouts: restore pool %s: range %s, or there are two: %w", p.Name, p.Range, ErrNotModelled)
		}
		r.pools[p.Name] = newPool(p.Name, p.Network, p.Node, p.Range)
	}
	for i := range s.Claims {
		c := &s.Claims[i]
		if !r.restore(c) {
			return nil, fmt.Errorf("whereabouts: restore %s in pool %s: %w", c.Addr, c.Pool, ErrNotModelled)
		}
	}
	for _, v := range s.Reservations {
		g := guarded{v.Network, v.Addr}
		if _, there := r.reservations[g]; there || v.Name != reservationName(v.Network, v.Addr) {
			return nil, fmt.Errorf("whereabouts: restore reservation %s of %s: another name, or there are two: %w", v.Name, v.Addr, ErrNotModelled)
		}
		r.reservations[g] = reservation{v.Pod, v.Interface}
	}
	return r, nil
}

// restore writes an allocation unless its address, its pod or its container already has one.
// Allocations without a pod or a container may be many.
func (r *Record) restore(c *model.Claim) bool {
	p := r.pools[c.Pool]
	if p == nil || !p.prefix.Contains(c.Addr) {
		return false
	}
	x, ok := offset(p.prefix.Addr(), c.Addr)
	if !ok {
		return false
	}
	_, taken := p.claims[x]
	_, twice := p.pods[podKey{c.Pod, c.Interface}]
	_, again := p.containers[contKey{c.Container, c.Interface}]
	if taken || twice || again {
		return false
	}
	p.put(x, claim{c.Pod, c.Container, c.Interface})
	if c.Pod == (model.PodRef{}) {
		delete(p.pods, podKey{c.Pod, c.Interface})
	}
	if c.Container == "" {
		delete(p.containers, contKey{c.Container, c.Interface})
	}
	return true
}

// StoreSlices writes a NodeSlicePool, and replaces one of the same name.
func (r *Record) StoreSlices(s Slices) {
	s.All = slices.Clone(s.All)
	s.index()
	r.slices[s.Name] = &s
}
