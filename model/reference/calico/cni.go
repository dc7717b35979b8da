package calico

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// Add is one execution of the CNI plugin for a pod that exists: at most one
// address of each family, or all of fixed, the pod's annotation ipAddrs. What a
// refused one has taken stays until Del, unless only one family had an address.
//
// Source: cni-plugin/pkg/ipamplugin/ipam_plugin.go, cmdAdd; cni-plugin/pkg/k8s/k8s.go,
// CmdAddK8s and ipAddrsResult (v3.31).
func (a *Allocator) Add(q Request, fixed ...netip.Addr) ([]netip.Addr, error) {
	if err := q.checkFamilies(fixed); err != nil {
		return nil, err
	}
	k, err := a.ask(q)
	if err != nil {
		return nil, err
	}
	defer a.answered(&k)
	return a.AddAsked(&k, nil, fixed...)
}

func (q *Request) checkFamilies(fixed []netip.Addr) error {
	if q.V4 > 1 || q.V6 > 1 || q.V4+q.V6 == 0 && fixed == nil {
		return fmt.Errorf("%w: %d IPv4 and %d IPv6 addresses for a pod", ErrNotModelled, q.V4, q.V6)
	}
	return nil
}

func (a *Allocator) add(k *Asked, out []netip.Addr) ([]netip.Addr, error) {
	all, v4, err := a.assignBoth(k, out)
	if err != nil {
		return out, err
	}
	got, v6 := all[len(out):], len(all)-len(out)-v4
	if v4 < k.V4 {
		a.giveBack(got[v4:])
	}
	if v6 < k.V6 {
		a.giveBack(got[:v4])
	}
	if len(got) < k.V4+k.V6 {
		return out, ErrExhausted
	}
	a.storeEndpoint(k, got)
	return all, nil
}

func (a *Allocator) giveBack(addrs []netip.Addr) {
	for _, x := range addrs {
		_, _ = a.Release(Release{Addr: x}) // upstream does not mind
	}
}

// addFixed gives up what the pod's endpoint names, one address at a time, before
// it takes the new ones.
func (a *Allocator) addFixed(k *Asked, out, fixed []netip.Addr) ([]netip.Addr, error) {
	had := k.Has
	if a.datastore == Etcd {
		if had = nil; a.node(k) != nil {
			had = k.host.endpoints[k.Pod].addrs
		}
	}
	for _, x := range had {
		if _, err := a.Release(Release{Addr: x}); err != nil {
			return out, err
		}
	}
	for _, x := range fixed {
		if err := a.assignIP(k, x); err != nil {
			return out, err
		}
	}
	a.storeEndpoint(k, fixed)
	return append(out, fixed...), nil
}

// storeEndpoint stores the pod's WorkloadEndpoint, which with the Kubernetes
// datastore is the pod itself.
func (a *Allocator) storeEndpoint(k *Asked, addrs []netip.Addr) {
	if a.datastore == Etcd {
		k.host = a.host(k.Node)
		k.host.endpoints[k.Pod] = endpoint{k.Handle, slices.Clone(addrs)}
	}
}

// Del is one execution of the CNI plugin's DEL. The endpoint goes, unless another
// sandbox has taken it over, and all that the handle has, and the one of versions
// before v3.
//
// Source: cni-plugin/pkg/k8s/k8s.go, CmdDelK8s; cni-plugin/pkg/ipamplugin, cmdDel.
func (a *Allocator) Del(q Request) error {
	k, err := a.ask(q)
	if err != nil {
		return err
	}
	defer a.answered(&k)
	a.del(&k)
	return nil
}

func (a *Allocator) del(k *Asked) {
	if a.datastore == Etcd {
		if h := a.node(k); h != nil {
			if e, ok := h.endpoints[k.Pod]; ok && e.handle == k.Handle {
				delete(h.endpoints, k.Pod)
				a.forget(h)
			}
		}
	}
	a.releaseHandle(k.handle)
	if h := a.older(k.Pod); h != nil {
		a.releaseHandle(h)
	}
}

// older is the handle that versions before v3 had for a pod, or nil.
func (a *Allocator) older(pod model.PodRef) *handle {
	var room [128]byte
	id := append(append(room[:0], pod.Namespace...), '.')
	if len(id) >= 4 && a.begins[begin(id)] == 0 {
		return nil
	}
	return a.handles[string(append(id, pod.Name...))]
}

// passes reports whether upstream passes over an error of releaseAffinity.
func passes(err error) bool { return errors.Is(err, ErrNotFound) || errors.Is(err, ErrConflict) }
