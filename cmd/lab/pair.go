package main

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// pair is a source, a node or one of its pods, and a pod's address.
type pair struct {
	from     *machine
	fromPod  *pod // nil: the node itself
	to       *machine
	toPod    *pod
	there    []ending // what the walk says of the way there
	back     []ending // and of the answer's way
	got      echo     // what ping says
	said     string
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

// source is the address that the pair's packets come from.
func (p *pair) source() netip.Addr {
	if p.fromPod != nil {
		return p.fromPod.addr
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

// outcomes is whether an answer may come, and whether it may not.
func (p *pair) outcomes() (may, mayNot bool) {
	may = slices.ContainsFunc(p.there, isAnswered) && slices.ContainsFunc(p.back, isAnswered)
	mayNot = slices.ContainsFunc(p.there, isNotAnswered) || slices.ContainsFunc(p.back, isNotAnswered)
	return may, mayNot
}

func isAnswered(e ending) bool    { return e.echo == answered }
func isNotAnswered(e ending) bool { return e.echo != answered }

// agrees reports whether ping saw what the walk allows.
func (p *pair) agrees() bool {
	may, mayNot := p.outcomes()
	return p.got == answered && may || p.got != answered && p.got != unclear && mayNot
}

// predicted is the walk's word on the pair, for people.
func (p *pair) predicted() string {
	return fmt.Sprintf("there %s; back %s", words(p.there), words(p.back))
}

func words(endings []ending) string {
	var w []string
	for _, e := range endings {
		w = append(w, e.String())
	}
	return strings.Join(w, " or ")
}

// A ping that contradicts the walk is tried again, longer: on a busy machine an
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
				p.got, p.said = from.ping(ctx, n.tools.ping, p.toPod.addr.String(), time.Duration(p.attempts)*time.Second)
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
