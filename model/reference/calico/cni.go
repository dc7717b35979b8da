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
	if err := a.checkHandle(q.Handle); err != nil {
		return nil, err
	}
	k := a.ask(q)
	defer a.answered(&k)
	if fixed != nil {
		return a.addFixed(&k, fixed)
	}
	return a.add(&k, nil)
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
	if v4 < k.what.V4 {
		a.giveBack(got[v4:])
	}
	if v6 < k.what.V6 {
		a.giveBack(got[:v4])
	}
	if len(got) < k.what.V4+k.what.V6 {
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
func (a *Allocator) addFixed(k *Asked, fixed []netip.Addr) ([]netip.Addr, error) {
	had := k.what.Has
	if a.datastore == Etcd {
		if had = nil; a.node(k) != nil {
			had = k.host.endpoints[k.who.pod].addrs
		}
	}
	for _, x := range had {
		if _, err := a.Release(Release{Addr: x}); err != nil {
			return nil, err
		}
	}
	for _, x := range fixed {
		if err := a.assignIP(k, x); err != nil {
			return nil, err
		}
	}
	a.storeEndpoint(k, fixed)
	return fixed, nil
}

// storeEndpoint stores the pod's WorkloadEndpoint, which with the Kubernetes
// datastore is the pod itself.
func (a *Allocator) storeEndpoint(k *Asked, addrs []netip.Addr) {
	if a.datastore == Etcd {
		k.host = a.host(k.who.node)
		k.host.endpoints[k.who.pod] = endpoint{k.handle.card.id, slices.Clone(addrs)}
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
	k := a.ask(q)
	defer a.answered(&k)
	a.del(&k)
	return nil
}

func (a *Allocator) del(k *Asked) {
	if a.datastore == Etcd {
		if h := a.node(k); h != nil {
			if e, ok := h.endpoints[k.who.pod]; ok && e.handle == k.handle.card.id {
				delete(h.endpoints, k.who.pod)
				a.forget(h)
			}
		}
	}
	a.releaseHandle(k.handle)
	if a.begins[k.old] > 0 {
		var room [128]byte
		if h := a.handles[string(appendOld(room[:0], &k.who.pod))]; h != nil {
			a.releaseHandle(h)
		}
	}
}

// appendOld appends the handle that versions before v3 had for a pod.
func appendOld(out []byte, pod *model.PodRef) []byte {
	return append(append(append(out, pod.Namespace...), '.'), pod.Name...)
}

// passes reports whether upstream passes over an error of releaseAffinity.
func passes(err error) bool { return errors.Is(err, ErrNotFound) || errors.Is(err, ErrConflict) }
