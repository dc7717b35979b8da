package whereabouts

import (
	"time"

	"ipamsim/model"
	reference "ipamsim/model/reference/whereabouts"
)

// pass of ip-reconciler, with the pods' status as it is.
func (m *allocator) pass(time.Duration, []model.PodRef) error {
	if m.plain && m.passed && !m.p.Tireless {
		m.passPlain()
		return nil
	}
	var pods []reference.Pod
	for x := range m.p.Pods() {
		o := reference.Pod{Ref: x.Ref, Pending: x.Reported == nil, Marked: x.Marked}
		for _, a := range x.Reported {
			o.IPs = append(o.IPs, a.String())
		}
		pods = append(pods, o)
	}
	m.r.Reconcile(m.rule, pods)
	m.passed, m.orphans = true, nil
	return nil
}

// plain reports whether an orphaned claim can only belong to a sandbox that was lost with its
// node's power. That holds for one network of one IPv4 range, where an ADD takes all or
// nothing and a DEL leaves nothing, and where upstream recognises reservations, which it does
// not if the network has a name.
func plain(networks []model.Network) bool {
	if len(networks) != 1 {
		return false
	}
	n := &networks[0]
	return len(n.Ranges) == 1 && n.Slice == 0 && n.Ranges[0].Prefix.Addr().Is4() && (n.Name == "" || !n.Overlap)
}

// passPlain is a pass that only processes claims that may have been orphaned since the last one: a
// large cluster has a hundred thousand claims, and a pass every few minutes. For every rule a
// marked pod, and a pod whose object is gone, is orphaned.
func (m *allocator) passPlain() {
	for _, x := range m.orphans {
		for _, a := range x.Lost {
			m.r.Release(m.pool(), a)
			if m.networks[0].Overlap {
				m.r.DeleteReservation(a.String())
			}
		}
	}
	m.orphans = m.orphans[:0]
}

// pool is the name of the only pool's object, "" if there is none yet.
func (m *allocator) pool() string {
	if m.poolName == "" {
		n := &m.networks[0]
		for _, p := range m.r.Snapshot().Pools {
			if n.Owns(&p) {
				m.poolName = p.Name
			}
		}
	}
	return m.poolName
}
