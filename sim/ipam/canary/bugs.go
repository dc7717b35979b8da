package canary

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/sim/ipam"
)

// bug is what one bug does differently. A field that is nil leaves the right
// code in place.
type bug struct {
	// begin runs in the plugin when an ADD has read the ledger.
	begin func(context.Context, *ledger) error
	// pick chooses the address of a new claim.
	pick func(*ledger, *policy, pool) (netip.Addr, bool)
	// enter spoils the ledger after a claim was entered and before it is written.
	enter func(*ledger, *policy, pool, claim)
	// release is what DEL and the reconciler do about claims that are gone.
	release func(l *ledger, gone func(claim) bool)
	// sameSlice gives the first slice to every node.
	sameSlice bool
	// oneSlice gives a slice to the first node only.
	oneSlice bool
	// spin has the reconciler ask for the same forever.
	spin bool
	// exits has the controller exit with an error.
	exits bool
	// blocks says that the bug needs a network with blocks, ranges that it needs
	// one without.
	blocks, ranges bool
	// block chooses the block for a node's addresses, instead of its own.
	block func(*ledger, *policy, string) (pool, bool)
	// claimed spoils the ledger after a node claimed a block.
	claimed func(l *ledger, p *policy, b pool)
	// services corrupts the stored Services; each claim then belongs to one.
	services func(*model.Services)
	// claims spoils the claims that are observed.
	claims func([]model.Claim)
}

// bugs are the bugs by the invariant that each must break, on any schedule of a few pods on two
// nodes in which one pod is deleted.
var bugs = map[string]bug{
	"actor-crash":                 {begin: crash},
	"affinity-mismatch":           {blocks: true, claimed: disown},
	"blackholed-address":          {blocks: true, block: borrowFirst},
	"block-contents":              {blocks: true, claimed: loseAddress},
	"block-owner":                 {blocks: true, claimed: shareBlock},
	"config-status":               {services: praiseConfig},
	"convergence":                 {enter: claimSpare},
	"crash-loop":                  {exits: true},
	"disallowed-load-balancer-ip": {services: keepBalancerIP},
	"double-claim":                {ranges: true, enter: claimNeighbour},
	"duplicate-address":           {pick: pickTaken},
	"duplicate-cluster-ip":        {services: sameClusterIP},
	"duplicate-load-balancer-ip":  {services: sameBalancerIP},
	"duplicate-node-port":         {services: sameNodePort},
	"excluded-address":            {pick: pickExcluded},
	"failed-call":                 {begin: fail},
	"handle-count":                {blocks: true, enter: forgetHandle},
	"leaked-affinity":             {blocks: true, claimed: reachOut},
	"leaked-claim":                {release: releaseNothing},
	"leaked-load-balancer-ip":     {services: balanceAll, claims: claimForGone},
	"leaked-service-claim":        {services: forgetService},
	"leftover-handle":             {blocks: true, release: releaseClaimsOnly},
	"leftover-reservation":        {ranges: true, release: releaseClaimsOnly},
	"max-blocks":                  {blocks: true, claimed: claimAnother},
	"out-of-pool":                 {pick: pickOutside},
	"overlap-reservation":         {ranges: true, enter: forgetReservation},
	"overlapping-blocks":          {blocks: true, claimed: halve},
	"pool-status":                 {services: miscountPool},
	"refused-service":             {services: refuseService},
	"reservation-count":           {ranges: true, release: releaseClaimsOnly},
	"service-families":            {services: otherFamily},
	"service-node-ports":          {services: withoutNodePort},
	"slice-conflict":              {ranges: true, sameSlice: true},
	"spinning-reconciler":         {spin: true},
	"spurious-exhaustion":         {begin: refuse},
	"starved-node":                {blocks: true, claimed: hoard, release: releaseNoBlocks},
	"strict-affinity":             {blocks: true, block: borrowFirst},
	"stuck":                       {begin: hang},
	"surplus-load-balancer-ip":    {services: moreBalancerIPs},
	"unassigned-node":             {ranges: true, oneSlice: true},
	"unbacked-sandbox":            {enter: forgetClaim},
	"unbacked-service":            {services: forgetIPAddress},
	"unreleased-claim":            {release: releaseNothing},
	"unserved-load-balancer":      {services: forgetBalancerIP},
}

// Bugs are the names of all bugs, sorted: those of the invariants.
func Bugs() []string { return slices.Sorted(maps.Keys(bugs)) }

// few claims are right for every bug: the first pod starts, so that what follows
// is not mistaken for a broken set-up.
func few(l *ledger) bool { return len(l.Claims) < 1 }

func crash(_ context.Context, l *ledger) error {
	if few(l) {
		return nil
	}
	panic(fmt.Sprintf("canary: %d claims are more than this plugin can bear", len(l.Claims)))
}

func refuse(_ context.Context, l *ledger) error {
	if few(l) {
		return nil
	}
	return fmt.Errorf("canary: %d claims: %w", len(l.Claims), ipam.ErrExhausted)
}

// fail gives a reason that has nothing to do with room.
func fail(_ context.Context, l *ledger) error {
	if few(l) {
		return nil
	}
	return fmt.Errorf("canary: %d claims are enough", len(l.Claims))
}

// hang blocks until the process is killed, like a plugin that waits for a lock that is never
// released.
func hang(ctx context.Context, l *ledger) error {
	if few(l) {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func pickTaken(_ *ledger, p *policy, from pool) (netip.Addr, bool) {
	return lowest(p, from, func(netip.Addr) bool { return false })
}

func pickExcluded(l *ledger, p *policy, from pool) (netip.Addr, bool) {
	r := p.span()
	for _, x := range r.Exclude {
		for a := x.Masked().Addr(); a.IsValid() && x.Contains(a); a = a.Next() {
			if r.Spans(a) && !l.taken(a) {
				return a, true
			}
		}
	}
	return lowest(p, from, l.taken)
}

func pickOutside(l *ledger, p *policy, _ pool) (netip.Addr, bool) {
	a := model.LastAddr(p.span().Prefix).Next()
	for a.IsValid() && l.taken(a) {
		a = a.Next()
	}
	return a, a.IsValid()
}

// claimSpare claims a second address that the sandbox never gets. DEL releases it with the first,
// so it is not a leak while the container runs.
func claimSpare(l *ledger, p *policy, from pool, k claim) {
	var ok bool
	if k.Addr, ok = lowest(p, from, l.taken); ok {
		l.enter(k)
	}
}

// claimNeighbour claims the address of the pod before once more, for this pod,
// in a pool twice as wide.
func claimNeighbour(l *ledger, p *policy, from pool, k claim) {
	wide := netip.PrefixFrom(from.Range.Addr(), from.Range.Bits()-1).Masked()
	name := poolName("", wide)
	for _, other := range slices.Backward(l.Claims) {
		if other.Pool != from.Name || other.Pod == k.Pod {
			continue
		}
		if !slices.ContainsFunc(l.Pools, func(q pool) bool { return q.Name == name }) {
			l.Pools = append(l.Pools, pool{Name: name, Range: wide})
		}
		k.Pool, k.Addr = name, other.Addr
		l.Claims = append(l.Claims, k)
		return
	}
}

func forgetReservation(l *ledger, _ *policy, _ pool, _ claim) {
	l.Reservations = l.Reservations[:len(l.Reservations)-1]
}

// forgetClaim keeps the reservation, so that the address is not handed out again before an oracle
// has seen that it is unclaimed.
func forgetClaim(l *ledger, _ *policy, _ pool, _ claim) {
	if len(l.Claims) > 1 {
		l.Claims = l.Claims[:len(l.Claims)-1]
	}
}

func releaseNothing(*ledger, func(claim) bool) {}

func releaseClaimsOnly(l *ledger, gone func(claim) bool) {
	l.Claims = slices.DeleteFunc(l.Claims, gone)
}
