package calico

import (
	"maps"
	"net/netip"
	"slices"
)

// Asked is a request whose names have been resolved, for a sandbox that is repeatedly created and
// deleted: AddAsked and DelAsked do the work of Add and Del without resolving the node and the
// handle again. It belongs to one Allocator, which keeps the handle's name until Forget.
type Asked struct {
	host   *host    // may have been deleted since
	handle *handle  // never nil
	what   *Request // the request, without its owner
	who    *user
	old    uint8 // begin of the handle that versions before v3 had for the pod
}

// Resolve looks a request up. It returns ErrNotModelled for what Add does not take.
func (a *Allocator) Resolve(q Request) (Asked, error) {
	if err := q.checkFamilies(nil); err != nil {
		return Asked{}, err
	}
	if err := a.checkHandle(q.Handle); err != nil {
		return Asked{}, err
	}
	k := a.ask(q)
	k.what, k.who = a.shared(&q), &user{}
	if *k.who = a.who; a.node(&k) != nil {
		k.who.node = k.host.name // one text for all
	}
	return k, nil
}

// shared is one Request for all that ask for the same.
func (a *Allocator) shared(q *Request) *Request {
	if x := a.lastAsked; x != nil && x.V4 == q.V4 && x.V6 == q.V6 && x.MaxBlocks == q.MaxBlocks && x.Use == q.Use &&
		slices.Equal(x.Pools, q.Pools) && maps.Equal(x.NamespaceLabels, q.NamespaceLabels) {
		return x
	}
	a.lastAsked = &Request{
		V4: q.V4, V6: q.V6, MaxBlocks: q.MaxBlocks, Use: q.Use, Pools: slices.Clone(q.Pools), NamespaceLabels: maps.Clone(q.NamespaceLabels),
	}
	return a.lastAsked
}

// Forget ends what Resolve began. The addresses that the sandbox has stay its own.
func (a *Allocator) Forget(k *Asked) { a.answered(k) }

// AddAsked is Add, and appends the addresses to out, which it returns unchanged if
// the request is refused.
func (a *Allocator) AddAsked(k *Asked, out []netip.Addr) ([]netip.Addr, error) { return a.add(k, out) }

// DelAsked is Del.
func (a *Allocator) DelAsked(k *Asked) { a.del(k) }

// ask looks a request up that is answered before the next one is asked.
func (a *Allocator) ask(q Request) Asked {
	a.what, a.who = q, user{node: q.Node, pod: q.Pod, tunnel: q.Use == Tunnel}
	k := Asked{handle: a.named(q.Handle), what: &a.what, who: &a.who}
	k.handle.asked++
	var room [128]byte
	k.old = begin(appendOld(room[:0], &q.Pod))
	return k
}

func (a *Allocator) answered(k *Asked) {
	k.handle.asked--
	a.drop(k.handle)
}

// node is where the sandbox is; nil if there is nothing of that name.
func (a *Allocator) node(k *Asked) *host {
	if k.host == nil || k.host.gone {
		k.host = a.hosts[k.who.node]
	}
	return k.host
}
