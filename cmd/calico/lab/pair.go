package main

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"ipamsim/cmd/calico/lab/netns"
	"ipamsim/model/route/fib"
)

// pair is a source, a node or one of its pods, and a pod's address.
type pair struct {
	from     *machine
	fromPod  *pod // nil: the node itself
	to       *machine
	toPod    *pod
	there    []fib.Way  // what the model says of the way there
	back     []fib.Way  // and of the answer's way; nil if no packet arrives
	got      netns.Echo // what ping says
	attempts int
}

// pairs are all pairs of the network: from every node and from every pod, to every
// pod but itself.
func (n *network) pairs() (all []*pair) {
	for _, from := range n.machines {
		if from.router {
			continue
		}
		for _, to := range n.machines {
			for i := range to.pods {
				all = append(all, &pair{from: from, to: to, toPod: &to.pods[i]})
				for j := range from.pods {
					if &from.pods[j] != &to.pods[i] {
						all = append(all, &pair{from: from, fromPod: &from.pods[j], to: to, toPod: &to.pods[i]})
					}
				}
			}
		}
	}
	return all
}

// source is the address that the pair's packets come from. A node has several if it
// has a tunnel: its kernel chooses by the route.
func (p *pair) source() netip.Addr {
	if p.fromPod != nil {
		return p.fromPod.addr
	}
	if p.from.tunnel.IsValid() {
		if a, ok := p.from.space.SourceTo(p.toPod.addr); ok {
			return a
		}
	}
	return p.from.addr()
}

func (p *pair) String() string {
	from := p.from.name
	if p.fromPod != nil {
		from += "/" + p.fromPod.addr.String()
	}
	return fmt.Sprintf("%s -> %s/%s", from, p.to.name, p.toPod.addr)
}

// outcomes is whether an answer may come, and whether it may not: both if flows
// are spread over ways with different ends.
func (p *pair) outcomes() (may, mayNot bool) {
	allThere, someThere := fib.Arrives(p.there)
	allBack, someBack := fib.Arrives(p.back)
	return someThere && someBack, !allThere || !allBack
}

// agrees reports whether ping saw what the model allows.
func (p *pair) agrees() bool {
	may, mayNot := p.outcomes()
	return p.got == netns.Answered && may || p.got != netns.Answered && p.got != netns.Unclear && mayNot
}

// predicted is the model's word on the pair, for people.
func (p *pair) predicted() string {
	return fmt.Sprintf("there %s; back %s", words(p.there), words(p.back))
}

func words(ways []fib.Way) string {
	if len(ways) == 0 {
		return "nothing"
	}
	var all []string
	for _, w := range ways {
		s := fmt.Sprintf("%s at %s", w.End, w.At)
		if w.End != fib.Delivered && w.Route != "" {
			s += fmt.Sprintf(" by %q", w.Route)
		}
		all = append(all, s)
	}
	return strings.Join(all, " or ")
}

// A ping that contradicts the model is tried again, longer: on a busy machine an
// answer may be late, but a packet that a route swallows never comes.
const attemptsMax = 3

// ping pings every pair at the same time.
func (n *network) ping(ctx context.Context, pairs []*pair) {
	var wg sync.WaitGroup
	for _, p := range pairs {
		wg.Go(func() {
			from := p.from.space
			if p.fromPod != nil {
				from = p.fromPod.space
			}
			for p.attempts = 1; ; p.attempts++ {
				pings <- struct{}{}
				p.got = from.Ping(ctx, n.tools.Ping, p.toPod.addr.String(), time.Duration(p.attempts)*time.Second)
				<-pings
				if p.agrees() || p.attempts == attemptsMax || ctx.Err() != nil {
					return
				}
			}
		})
	}
	wg.Wait()
}

// pings bounds how many run at a time, over all networks.
var pings = make(chan struct{}, 128)
