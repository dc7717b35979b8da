package whereabouts

import "fmt"

// Del releases what a container's interface holds in a network: range by range, its
// allocation, and with overlap protection the reservation of that address, even if another
// pod's. At the first range where one of the two is missing it stops without an error, and the
// rest stays.
//
// It returns an error wrapping ErrCrash or ErrNotModelled.
//
// Source: pkg/storage/kubernetes/ipam.go, IPManagementKubernetesUpdate (v0.9.4).
func (r *Record) Del(n *Network, c Call) error {
	op, err := r.begin(n, c)
	if err != nil {
		return fmt.Errorf("whereabouts: del %s: %w", c.Pod, err)
	}
	for i := range op.ranges {
		p, err := op.pool(&op.ranges[i])
		if err != nil {
			return fmt.Errorf("whereabouts: del %s: %w", c.Pod, err)
		}
		x, ok := p.containers[contKey{c.Container, c.Interface}]
		if !ok {
			return nil
		}
		p.remove(x)
		if !n.overlap {
			continue
		}
		g := guarded{n.name, at(p.prefix.Addr(), x)}
		if _, ok := r.reservations[g]; !ok {
			return nil
		}
		delete(r.reservations, g)
	}
	return nil
}
