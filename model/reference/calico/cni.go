package calico

import (
	"errors"
	"fmt"
	"net/netip"
)

// Add is one execution of the CNI plugin for a pod that exists: at most one
// address of each family, or all of fixed, the pod's annotation ipAddrs. What a
// refused one has taken stays until Del, unless only one family had an address.
//
// Source: cni-plugin/pkg/ipamplugin/ipam_plugin.go, cmdAdd; cni-plugin/pkg/k8s/k8s.go,
// CmdAddK8s and ipAddrsResult (v3.31).
func (a *Allocator) Add(q Request, fixed ...netip.Addr) ([]netip.Addr, error) {
	if q.V4 > 1 || q.V6 > 1 || q.V4+q.V6 == 0 && fixed == nil {
		return nil, fmt.Errorf("%w: %d IPv4 and %d IPv6 addresses for a pod", ErrNotModelled, q.V4, q.V6)
	}
	if err := a.checkHandle(q.Handle); err != nil {
		return nil, err
	}
	if fixed != nil {
		return a.addFixed(q, fixed)
	}
	v4, v6, err := a.AutoAssign(q)
	if err != nil {
		return nil, err
	}
	if len(v4) < q.V4 {
		a.giveBack(v6)
	}
	if len(v6) < q.V6 {
		a.giveBack(v4)
	}
	if len(v4)+len(v6) < q.V4+q.V6 {
		return nil, ErrExhausted
	}
	all := append(v4, v6...)
	a.endpoint(q, all)
	return all, nil
}

func (a *Allocator) giveBack(addrs []netip.Addr) {
	for _, x := range addrs {
		_, _ = a.Release(Release{Addr: x}) // upstream does not mind
	}
}

// addFixed gives up what the pod's endpoint names, one address at a time, before
// it takes the new ones.
func (a *Allocator) addFixed(q Request, fixed []netip.Addr) ([]netip.Addr, error) {
	had := q.Has
	if a.datastore == Etcd {
		if had = nil; a.hosts[q.Node] != nil {
			had = a.hosts[q.Node].endpoints[q.Pod].addrs
		}
	}
	for _, x := range had {
		if _, err := a.Release(Release{Addr: x}); err != nil {
			return nil, err
		}
	}
	for _, x := range fixed {
		if err := a.AssignIP(q, x); err != nil {
			return nil, err
		}
	}
	a.endpoint(q, fixed)
	return fixed, nil
}

// endpoint stores the pod's WorkloadEndpoint, which with the Kubernetes datastore
// is the pod itself.
func (a *Allocator) endpoint(q Request, addrs []netip.Addr) {
	if a.datastore == Etcd {
		a.host(q.Node).endpoints[q.Pod] = endpoint{q.Handle, addrs}
	}
}

// Del is one execution of the CNI plugin's DEL. The endpoint goes, unless another
// sandbox has taken it over, and all that the handle has, and the one of versions
// before v3.
//
// Source: cni-plugin/pkg/k8s/k8s.go, CmdDelK8s; cni-plugin/pkg/ipamplugin, cmdDel.
func (a *Allocator) Del(q Request) error {
	if err := a.checkHandle(q.Handle); err != nil {
		return err
	}
	if h := a.hosts[q.Node]; h != nil {
		if e, ok := h.endpoints[q.Pod]; ok && e.handle == q.Handle {
			delete(h.endpoints, q.Pod)
			a.forget(h)
		}
	}
	for _, id := range []string{q.Handle, q.Pod.Namespace + "." + q.Pod.Name} {
		if err := a.ReleaseByHandle(id); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

// passes reports whether upstream passes over an error of releaseAffinity.
func passes(err error) bool { return errors.Is(err, ErrNotFound) || errors.Is(err, ErrConflict) }
