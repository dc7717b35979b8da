package main

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"ipamsim/model/route"
)

// event is something that happens in the mesh of three nodes, whose time until
// the owner's table shows it is measured.
type event struct {
	name string
	// model is the model's value, give how far the median may be from it: what
	// the mechanism leaves open, not what the machine does.
	model, give time.Duration
	slow        bool // minutes
	measure     func(context.Context, *network) ([]time.Duration, error)
}

// events are the measurements, each in a mesh of its own.
//
// BIRD receives a route from the kernel immediately, or finds it in a scan every two seconds: an
// announcement within one second was received. Its timers count whole seconds, and a hold time of
// 240 s runs since the last keepalive, up to 80 s ago.
func events() []event {
	return []event{
		{"a borrowed address comes -> in the owner's table", route.Announce, time.Second, false, addedAndWithdrawn(true)},
		{"its route is deleted -> withdrawn at the owner", route.Announce, time.Second, false, addedAndWithdrawn(false)},
		{"its pod's veth is deleted -> withdrawn at the owner", route.VethGone, route.VethGone, false, vethDeleted},
		{"the owner reboots -> blackhole and borrowed address back", route.Establish, 10 * time.Second, false, ownerReboots},
		{"the borrower's BIRD is killed -> gone at the owner", route.Graceful, 4 * time.Second, true, birdKilled},
		{"the borrower's link is cut -> gone at the owner", route.Hold, 50 * time.Second, true, linkDown},
		{"the owner reboots while c is dead -> all back", route.Recovery, 5 * time.Second, true, rebootsBesideDead},
	}
}

// measured is what became of an event.
type measured struct {
	event event
	took  []time.Duration // sorted
	err   error
}

// within reports whether the median is as near to the model as it must be. On a
// busy machine a single one may be late.
func (m measured) within() bool {
	return m.err == nil && len(m.took) > 0 && (m.median()-m.event.model).Abs() <= m.event.give
}

func (m measured) median() time.Duration { return m.took[len(m.took)/2] }

// time measures one event.
func (b bench) time(ctx context.Context, e event, dir string) (m measured) {
	m.event = e
	n, err := b.open(ctx, topologies()[0], dir)
	defer n.close()
	if err != nil {
		m.err = err
		return m
	}
	m.took, m.err = e.measure(ctx, n)
	slices.Sort(m.took)
	return m
}

// The mesh that timings are measured in: a owns X, b borrowed an address of it.
const (
	owner    = "a"
	borrower = "b"
)

var ()

func hostRoute(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, a.BitLen()) }

// addedAndWithdrawn measures a borrowed address that comes and goes at the
// borrower, by a route that is added and deleted, until the owner's table shows
// it.
func addedAndWithdrawn(added bool) func(context.Context, *network) ([]time.Duration, error) {
	const rounds = 10
	return func(ctx context.Context, n *network) (took []time.Duration, err error) {
		a, b := n.machine(owner), n.machine(borrower)
		dev := b.podOf(borrowed).dev
		for range rounds {
			for _, change := range []struct {
				added bool
				make  func(netip.Addr, string) error
			}{{false, b.space.Undeliver}, {true, b.space.Deliver}} {
				a.routes.Forget()
				// Not always at the same phase of BIRD's kernel scan every two seconds.
				if err := pause(ctx, 137*time.Millisecond); err != nil {
					return nil, err
				}
				start := time.Now()
				if err := change.make(borrowed, dev); err != nil {
					return nil, err
				}
				at, err := a.routes.Wait(hostRoute(borrowed), change.added, 10*time.Second)
				if err != nil {
					return nil, err
				}
				if change.added == added {
					took = append(took, at.Sub(start))
				}
			}
		}
		return took, nil
	}
}

// vethDeleted measures a borrower's pod whose interface disappears. The kernel removes its route
// without a notification. It does notify BIRD of the interface, a moment before, and BIRD scans the
// table immediately: if that is too early, as in most cases, it scans again after three or four
// seconds.
func vethDeleted(ctx context.Context, n *network) (took []time.Duration, err error) {
	const rounds = 4
	a, b := n.machine(owner), n.machine(borrower)
	p := b.podOf(borrowed)
	for i := range rounds {
		if err := pause(ctx, time.Duration(i)*700*time.Millisecond); err != nil {
			return nil, err
		}
		a.routes.Forget()
		start := time.Now()
		if err := b.space.Remove(p.dev); err != nil {
			return nil, err
		}
		at, err := a.routes.Wait(hostRoute(borrowed), false, 20*time.Second)
		if err != nil {
			return nil, err
		}
		took = append(took, at.Sub(start))
		p.space.Close()
		if p.space, err = b.space.Pod(p.addr, p.dev); err != nil {
			return nil, err
		}
		if err := b.space.Deliver(p.addr, p.dev); err != nil {
			return nil, err
		}
		if _, err := a.routes.Wait(hostRoute(borrowed), true, 10*time.Second); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// ownerReboots measures the start of the owner's BIRD on an empty table until the
// borrowed address is back in it. The blackhole of its block must not be there
// much earlier.
func ownerReboots(ctx context.Context, n *network) ([]time.Duration, error) {
	const window = 200 * time.Millisecond
	a := n.machine(owner)
	a.bird.kill()
	if err := a.space.Flush(unix.RTPROT_BIRD); err != nil {
		return nil, err
	}
	if err := pause(ctx, time.Second); err != nil {
		return nil, err
	}
	a.routes.Forget()
	start := time.Now()
	if err := a.bird.start(); err != nil {
		return nil, err
	}
	host, err := a.routes.Wait(hostRoute(borrowed), true, startMax)
	if err != nil {
		return nil, err
	}
	hole, err := a.routes.Wait(blockX, true, startMax)
	if err != nil {
		return nil, err
	}
	if host.Sub(hole) > window {
		return nil, fmt.Errorf("the blackhole came %v before the borrowed address", host.Sub(hole))
	}
	return []time.Duration{host.Sub(start)}, nil
}

// startMax is longer than the four minutes for which a BIRD that recovers waits
// for its peers.
const startMax = 420 * time.Second

// rebootsBesideDead is ownerReboots while the BIRD of a third node does not run.
func rebootsBesideDead(ctx context.Context, n *network) ([]time.Duration, error) {
	n.machine("c").bird.kill()
	return ownerReboots(ctx, n)
}

// birdKilled measures how long peers keep a route after the borrower's BIRD died
// without a word: its graceful restart time.
func birdKilled(_ context.Context, n *network) ([]time.Duration, error) {
	return untilLost(n, func(b *machine) error { b.bird.kill(); return nil })
}

// linkDown measures how long peers keep a route after the borrower's cable was
// cut: the hold time since its last keepalive.
func linkDown(_ context.Context, n *network) ([]time.Duration, error) {
	return untilLost(n, func(*machine) error {
		return n.cables.Down(plug(slices.IndexFunc(n.machines, func(m *machine) bool { return m.name == borrower }), 0))
	})
}

func untilLost(n *network, strike func(*machine) error) ([]time.Duration, error) {
	a := n.machine(owner)
	a.routes.Forget()
	start := time.Now()
	if err := strike(n.machine(borrower)); err != nil {
		return nil, err
	}
	at, err := a.routes.Wait(hostRoute(borrowed), false, startMax)
	if err != nil {
		return nil, err
	}
	return []time.Duration{at.Sub(start)}, nil
}

// pause waits in real time.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
