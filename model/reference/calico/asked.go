package calico

import "net/netip"

// Asked is a request whose names have been looked up, for a sandbox that is planned
// to come and go: AddAsked and DelAsked do what Add and Del do, without looking for
// the node and the handle again. It belongs to one Allocator, which remembers the
// handle's name until Forget.
type Asked struct {
	host    *host   // may be gone meanwhile
	handle  *handle // never nil
	number  uint64  // from 1; 0: it is asked once
	Request         // as it was looked up; Has alone may be changed
}

// Resolve looks a request up. It returns ErrNotModelled for what Add does not take.
func (a *Allocator) Resolve(q Request) (*Asked, error) {
	k, err := a.ask(q)
	if err != nil {
		return nil, err
	}
	a.asked++
	k.number = a.asked
	return &k, nil
}

// Forget ends what Resolve began. The addresses that the sandbox has stay its own.
func (a *Allocator) Forget(k *Asked) { a.answered(k) }

// AddAsked is Add, and appends the addresses to out, which it returns unchanged if
// the request is refused.
func (a *Allocator) AddAsked(k *Asked, out []netip.Addr, fixed ...netip.Addr) ([]netip.Addr, error) {
	if err := k.checkFamilies(fixed); err != nil {
		return out, err
	}
	if fixed != nil {
		return a.addFixed(k, out, fixed)
	}
	return a.add(k, out)
}

// DelAsked is Del.
func (a *Allocator) DelAsked(k *Asked) { a.del(k) }

func (a *Allocator) ask(q Request) (Asked, error) {
	if err := a.checkHandle(q.Handle); err != nil {
		return Asked{}, err
	}
	k := Asked{Request: q, handle: a.named(q.Handle)}
	k.handle.asked++
	return k, nil
}

func (a *Allocator) answered(k *Asked) {
	k.handle.asked--
	a.drop(k.handle)
}

// node is where the sandbox is; nil if there is nothing of that name.
func (a *Allocator) node(k *Asked) *host {
	if k.host == nil || k.host.gone {
		k.host = a.hosts[k.Node]
	}
	return k.host
}

// allocation is what blocks will say of the sandbox's addresses.
func (k *Asked) allocation() *allocation {
	if k.number > 0 && k.handle.by == k.number {
		return &k.handle.first // without looking at the names again
	}
	o := owner{node: k.Node, pod: k.Pod, tunnel: k.Use == Tunnel}
	if k.host != nil {
		o.node = k.host.name // one text for all
	}
	x := k.handle.allocation(o)
	if x == &k.handle.first {
		k.handle.by = k.number
	}
	return x
}
