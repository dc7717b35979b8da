package metallb

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	reference "ipamsim/model/reference/metallb"
	"ipamsim/reports/imported"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/kept"
)

// Codes of what is found here, beside those of invariants. Those of Services that wait begin
// with waits.
const (
	poolsOverlap = "pools-overlap"
	notAnnounced = "not-announced"
	notPeered    = "announced-to-no-peer"
	waits        = "service-waits"
	waitsForFull = waits + "-for-full-pool"
	asksTaken    = waits + "-for-taken-address"
	asksOutside  = waits + "-for-address-of-no-pool"
	asksFamily   = waits + "-for-another-family"
	asksIllegal  = waits + "-unreadable-request"
	asksPool     = waits + "-for-unknown-pool"
	asksOthers   = waits + "-for-pool-of-others"
	noPool       = waits + "-without-pool"
	noAddress    = "no-address" // as the invariant has it
)

// sentences are those of the codes.
var sentences = map[string]string{
	poolsOverlap: "pools {pool} overlap: MetalLB rejects this configuration, keeps the last valid one, and assigns nothing after a restart",
	notAnnounced: "{service} has {address} of pool {pool}, and no L2Advertisement or BGPAdvertisement announces it: clients cannot reach it",
	notPeered:    "{service} has {address} of pool {pool}, which only BGPAdvertisements announce, and {why}: clients cannot reach it",
	waitsForFull: "{service} {waits} for an address of pool {pool}, where none is free[ ({held})]: clients cannot reach {it}",
	asksTaken:    "{service} waits for {address}, which it requests but {by} has; they do not agree to share it: clients cannot reach it",
	asksOutside:  "{service} waits for {asked}, which it requests but no pool has",
	asksFamily:   "{service} waits for {asked}, which it requests but is not of its IP families",
	asksIllegal:  "{service} waits: its request (spec.loadBalancerIP, annotation loadBalancerIPs) is invalid, or set twice",
	asksPool:     "{service} waits for an address of pool {asked}, which it requests but does not exist",
	asksOthers:   "{service} waits for {asked}, which it requests but its pool does not assign to this Service",
	noPool:       "{service} waits: no pool assigns addresses to it automatically (autoAssign, serviceAllocation, IP families)",
	noAddress:    "{service} has no {family} address although {free} of MetalLB are free: does the controller run, and does it serve Services without a class?",
}

// found is what is wrong beside what the invariants find.
func (r *record) found() (out []dump.Found) {
	for _, pair := range r.overlaps {
		names := slices.Compact(pair[:])
		out = append(out, say(dump.Found{}, invariant.UnservedLoadBalancer, poolsOverlap, objectsWith(model.RefPool, names...)))
	}
	full := map[string][]string{} // Services by the pools that are full
	for _, key := range kept.Keys(r.services) {
		s := r.services[key]
		if x := s.reference(key); len(x.Has) == 0 && (x.V4 || x.V6) && len(r.overlaps) == 0 {
			out = append(out, r.waiting(key, &x, full)...)
		}
	}
	for _, key := range kept.Keys(full) {
		pools := strings.Fields(key)
		facts := []model.Fact{model.NewFact("waits", "waits"), model.NewFact("it", "it")}
		if len(full[key]) > 1 {
			facts = []model.Fact{model.NewFact("waits", "wait"), model.NewFact("it", "them")}
		}
		if held := r.held(pools); held != "" {
			facts = append(facts, model.NewFact("held", held))
		}
		objects := append(objectsWith(model.RefPool, pools...), objectsWith(model.RefService, full[key]...)...)
		x := say(dump.Found{Supposed: !r.certain(full[key])}, invariant.UnservedLoadBalancer, waitsForFull, objects, facts...)
		x.Facts = nil
		x.Invariant, x.Severity = imported.Exhausted, model.Critical
		out = append(out, x)
	}
	return append(out, r.unannounced()...)
}

// held renders the Services that have the addresses of pools; "" if they are many.
func (r *record) held(pools []string) string {
	const most = 3
	var all []string
	for _, a := range slices.SortedFunc(maps.Keys(r.holders), netip.Addr.Compare) {
		if p := r.poolOf(a); p != nil && slices.Contains(pools, p.Name) {
			all = append(all, strings.Join(r.holders[a], " and ")+" has "+a.String())
		}
	}
	if len(all) > most {
		return ""
	}
	return strings.Join(all, ", ")
}

// certain reports whether Services cannot have an address of a pool that is not in the dump:
// each asks for what it wants, or the dump has all pools.
func (r *record) certain(services []string) bool {
	if r.allPools() {
		return true
	}
	return !slices.ContainsFunc(services, func(key string) bool {
		s := r.services[key]
		return s.note(poolNote) == "" && s.note(addrsNote) == "" && s.Spec.LoadBalancerIP == ""
	})
}

// allPools reports whether the dump shows that it has all pools.
func (r *record) allPools() bool { return len(r.c.pools) == 0 || r.complete(poolsName) }

// waiting is why a Service has no address. Services that wait for one of pools that are full
// are noted in full.
func (r *record) waiting(key string, s *reference.Service, full map[string][]string) []dump.Found {
	objects := objectsWith(model.RefService, key)
	one := func(code string, supposed bool, asked string) []dump.Found {
		return []dump.Found{say(dump.Found{Supposed: supposed}, invariant.UnservedLoadBalancer, code, objects, model.NewFact("asked", asked))}
	}
	if n := r.verdicts[key].Free; n > 0 {
		family := map[bool]string{true: "IPv4", false: "IPv6"}[s.V4]
		return []dump.Found{say(dump.Found{Supposed: !r.whole}, invariant.UnservedLoadBalancer, noAddress, objects, model.NewFact("family", family), model.NewFact("free", n))}
	}
	switch {
	case s.Wrong:
		return one(asksIllegal, false, "")
	case len(s.Asks) > 0:
		return r.asking(key, s, full, one)
	case s.Pool != "":
		i := slices.IndexFunc(r.judging, func(p reference.Pool) bool { return p.Name == s.Pool })
		if i < 0 {
			return one(asksPool, !r.allPools(), s.Pool)
		}
		if !r.judging[i].Takes(s) {
			return one(asksOthers, r.selects() && !r.c.SawAll(namespacesName), "an address of pool "+s.Pool)
		}
		full[s.Pool] = append(full[s.Pool], key)
		return nil
	}
	var pools []string
	for i := range r.judging {
		if p := &r.judging[i]; p.Takes(s) && !p.Manual && (s.V4 && p.Size(true) > 0 || s.V6 && p.Size(false) > 0) {
			pools = append(pools, p.Name)
		}
	}
	if len(pools) == 0 {
		return one(noPool, !r.allPools() || r.selects() && !r.c.SawAll(namespacesName), "")
	}
	full[strings.Join(pools, " ")] = append(full[strings.Join(pools, " ")], key)
	return nil
}

// asking is why a Service that asks for addresses has none.
func (r *record) asking(key string, s *reference.Service, full map[string][]string, one func(string, bool, string) []dump.Found) []dump.Found {
	for _, a := range s.Asks {
		p := r.poolOf(a)
		by := slices.DeleteFunc(slices.Clone(r.holders[a]), func(o string) bool {
			other := r.services[o]
			return s.Terms.Agree(other.terms())
		})
		switch {
		case a.Is4() && !s.V4 || !a.Is4() && !s.V6:
			return one(asksFamily, false, a.String())
		case p == nil:
			return one(asksOutside, !r.allPools(), a.String())
		case s.Pool != "" && s.Pool != p.Name || !p.Takes(s):
			return one(asksOthers, s.Pool == "" && r.selects() && !r.c.SawAll(namespacesName), a.String())
		case len(by) > 0 && r.free(p, a.Is4()) <= 0 && p.Size(a.Is4()) == 1:
			full[p.Name] = append(full[p.Name], key)
			return nil
		case len(by) > 0:
			return []dump.Found{say(dump.Found{}, invariant.UnservedLoadBalancer, asksTaken, append(objectsWith(model.RefService, key), model.AddressOf(a)), model.NewFact("by", strings.Join(by, ", ")))}
		}
	}
	return one(asksFamily, false, fmt.Sprint(s.Asks))
}

// unannounced are Services whose address nothing announces.
func (r *record) unannounced() (out []dump.Found) {
	if !r.Saw(layer2Name) || !r.Saw(bgpName) || len(r.overlaps) > 0 {
		return nil // reported as what cannot be judged
	}
	for _, key := range kept.Keys(r.services) {
		for _, a := range kept.AddrsIn(r.services[key].Addrs) {
			p := r.poolOf(a)
			if p == nil {
				continue
			}
			i := slices.IndexFunc(r.pools, func(x poolSpec) bool { return x.name == p.Name })
			f := dump.Found{Supposed: !r.complete(layer2Name) || !r.complete(bgpName)}
			objects := append(objectsWith(model.RefService, key), model.AddressOf(a), model.Ref{Kind: model.RefPool, Name: p.Name})
			switch r.reaches(key, &r.pools[i]) {
			case unannounced:
				out = append(out, say(f, invariant.UnservedLoadBalancer, notAnnounced, objects))
			case unpeered:
				f.Supposed = f.Supposed || !r.complete(peersName)
				out = append(out, say(f, invariant.UnservedLoadBalancer, notPeered, objects, model.NewFact("why", r.unpeeredWhy(&r.pools[i]))))
			}
		}
	}
	return out
}

// say completes a finding.
func say(f dump.Found, of invariant.Invariant, code string, objects []model.Ref, facts ...model.Fact) dump.Found {
	slices.SortFunc(objects, model.Ref.Compare)
	f.Violation = model.Violation{Invariant: of.Name, Severity: of.Severity, Code: code, Objects: objects, Facts: facts}
	f.Message = f.Say(sentences[code])
	return f
}

// words is a violation of the invariants in words that name the cause.
func (o *objects) words(v *model.Violation) (words string, covered bool) {
	r, name := o.made, model.Named(v.Objects, model.RefService)
	if v.Invariant == invariant.ConfigStatus.Name || v.Invariant == invariant.PoolStatus.Name {
		return "", true // what the controller reports is not in the scenario
	}
	if r == nil || r.Options.Anonymise {
		return "", false
	}
	s, ok := r.services[name]
	switch {
	case !ok:
	case v.Invariant == invariant.DuplicateLoadBalancerIP.Name:
		return v.Say("{first} and {second} have the same load balancer address {address} and do not agree to share it (" + r.apart(v) + ")"), false
	case v.Invariant == invariant.UnservedLoadBalancer.Name && v.Code == noAddress:
		return v.Say(sentences[noAddress]), len(r.overlaps) > 0
	case v.Invariant == invariant.DisallowedLoadBalancerIP.Name:
		why, covered := r.why(name, &s)
		return v.Say("{service} has {is}, " + why + ": MetalLB removes it at its next reconciliation"), covered || len(r.overlaps) > 0
	}
	return "", false
}

// why is why a Service may not have its addresses. covered: a duplicate reports it.
func (r *record) why(name string, s *service) (why string, covered bool) {
	x := s.reference(name)
	for _, a := range x.Has {
		p := r.poolOf(a)
		switch {
		case p == nil:
			return "which no pool has", false
		case s.note(poolNote) != "" && s.note(poolNote) != p.Name:
			return "and requests another pool", false
		case !p.Takes(&x):
			return "of a pool for other Services (serviceAllocation)", false
		case len(x.Asks) > 0 && !slices.Contains(x.Asks, a):
			return "and requests another address", false
		case slices.ContainsFunc(r.holders[a], func(o string) bool { other := r.services[o]; return o != name && !x.Terms.Agree(other.terms()) }):
			return "", true
		}
	}
	return "which is not of its IP families", false
}

// apart is why two Services do not share an address.
//
// Source: internal/allocator, sharingOK and checkSharing.
func (r *record) apart(v *model.Violation) string {
	var of []model.Terms
	for _, o := range v.Objects {
		if o.Kind == model.RefService {
			s := r.services[o.Name]
			of = append(of, s.terms())
		}
	}
	switch {
	case len(of) != 2:
	case of[0].Key == "" || of[1].Key == "":
		return "no sharing key: annotation metallb.io/" + sharingNote
	case of[0].Key != of[1].Key:
		return "different sharing keys"
	case of[0].Backend != of[1].Backend:
		return "different externalTrafficPolicy, or different selectors with Local"
	}
	return "a port in common"
}

// concluded returns the resources that must lack an object for a violation to hold.
func (o *objects) concluded(v *model.Violation, _ *model.Snapshot) []string {
	r, name := o.made, model.Named(v.Objects, model.RefService)
	if r == nil {
		return nil
	}
	switch v.Invariant {
	case invariant.UnservedLoadBalancer.Name:
		return []string{servicesName}
	case invariant.DisallowedLoadBalancerIP.Name:
		s := r.services[name]
		if slices.ContainsFunc(kept.AddrsIn(s.Addrs), func(a netip.Addr) bool { return r.poolOf(a) == nil }) {
			if r.allPools() {
				return nil
			}
			return []string{poolsName}
		}
		if r.selects() {
			return []string{namespacesName}
		}
	}
	return nil
}
