package diagnosis

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/remedy"
	"ipamsim/sim/ipam"
)

// Remedies are what is known of mending what is wrong in the record of one manager, a part
// of its ipam.Manager. The functions add problems to the drafts, in turns, because causes
// come before what follows from them. Nil: nothing is known.
type Remedies struct {
	// Ownership is about who owns what.
	Ownership func(*Drafts)
	// Shortage is about those who get no address of their own.
	Shortage func(*Drafts)
	// Leftovers are what nobody has.
	Leftovers func(*Drafts)
	// Room are remedies for pods that wait for an address of a network, on a node where
	// addresses are a node's. decide is what the operator has to decide beside, or else.
	Room func(d *Drafts, n *model.Network, node string, pods []model.PodRef) (try []remedy.Remedy, decide string)
	// Furniture is what every cluster of the manager has, and dumps often lack: it is there
	// in each run from the first step on.
	Furniture func(*scenarios.Scenario, *scenarios.View) []scenarios.Event
}

// Drafts thinks of remedies for what is wrong. None of them is printed before it was
// simulated.
type Drafts struct {
	Cluster   *dump.Cluster
	View      *scenarios.View
	Findings  *Findings
	Cast      *remedy.Cast
	Datastore string                        // of the scenario; "": its manager has no choice
	Claims    map[string][]*model.Claim     // by pool
	Has       map[model.PodRef][]netip.Addr // of sandboxes
	Leaked    map[netip.Addr]remedy.Guard   // by a finding, with what must be so to free it

	having    map[netip.Addr][]*model.Sandbox // that run, of pods
	claims    map[netip.Addr][]*model.Claim
	undecided map[string]bool // addresses: nothing shows that they are not claimed for a pod that has them

	out []remedy.Problem
}

// problems are what is wrong and could be mended, in the order in which it is: causes
// come before what follows from them. Each finding that is dealt with knows its problem.
func (f *Findings) problems(v *scenarios.View, cast *remedy.Cast, datastore string) []remedy.Problem {
	d := &Drafts{Cluster: f.cluster, View: v, Findings: f, Cast: cast, Datastore: datastore}
	d.index()
	known := f.cluster.Managers()
	turn := func(of func(*Remedies) func(*Drafts)) {
		for _, m := range known {
			if r, ok := ipam.Part[*Remedies](m); ok && of(r) != nil {
				of(r)(d)
			}
		}
	}
	turn(func(r *Remedies) func(*Drafts) { return r.Ownership })
	d.reported()
	d.duplicates()
	d.unbacked()
	turn(func(r *Remedies) func(*Drafts) { return r.Shortage })
	d.unreachable()
	turn(func(r *Remedies) func(*Drafts) { return r.Leftovers })
	d.exhausted(known)
	return d.out
}

func (d *Drafts) index() {
	d.Claims, d.Has, d.Leaked = map[string][]*model.Claim{}, map[model.PodRef][]netip.Addr{}, map[netip.Addr]remedy.Guard{}
	d.having, d.claims, d.undecided = map[netip.Addr][]*model.Sandbox{}, map[netip.Addr][]*model.Claim{}, map[string]bool{}
	for _, x := range slices.Concat(d.Findings.Supposed, d.Findings.dropped) {
		if x.Invariant == invariant.UnbackedSandbox.Name {
			d.undecided[ObjectsOf(&x.Violation)[model.RefAddress]] = true
		}
	}
	for i := range d.View.Record.Claims {
		cl := &d.View.Record.Claims[i]
		d.Claims[cl.Pool] = append(d.Claims[cl.Pool], cl)
		d.claims[cl.Addr] = append(d.claims[cl.Addr], cl)
	}
	for i := range d.View.Truth.Sandboxes {
		s := &d.View.Truth.Sandboxes[i]
		for _, a := range s.Attachments {
			d.Has[s.Pod] = append(d.Has[s.Pod], a.Addrs...)
			for _, addr := range a.Addrs {
				if !s.Stopped && s.Pod.Namespace != "" {
					d.having[addr] = append(d.having[addr], s)
				}
			}
		}
	}
	for i := range d.Findings.All {
		x := &d.Findings.All[i].Violation
		if a, err := netip.ParseAddr(ObjectsOf(x)[model.RefAddress]); err == nil && x.Invariant == invariant.LeakedClaim.Name {
			d.Leaked[a] = d.Guard(x)
		}
	}
}

// Add notes a problem and the findings, by their index in Findings.All, that it is about.
// It returns the number of the problem, from 1.
func (d *Drafts) Add(about []int, p remedy.Problem) int {
	for _, i := range about {
		p.Goals = append(p.Goals, d.Findings.All[i].Violation)
		d.Findings.All[i].Problem = len(d.out) + 1
	}
	d.out = append(d.out, p)
	return len(d.out)
}

// Open are the findings of invariants that no problem is about yet, and that can be simulated.
func (d *Drafts) Open(names ...string) []int {
	var out []int
	for i := range d.Findings.All {
		if x := &d.Findings.All[i]; x.Problem == 0 && x.Decide == "" && slices.Contains(names, x.Invariant) {
			out = append(out, i)
		}
	}
	return out
}

// WithNodesAddress are the findings of pods that have a node's own address and that no
// problem is about yet.
func (d *Drafts) WithNodesAddress() []int {
	return slices.DeleteFunc(d.Open(invariant.DuplicateAddress.Name), func(i int) bool { return d.Findings.All[i].Code != invariant.OwnAddressOfNode })
}

// Guard is what must be so when a claim is freed that a finding calls leaked: its pod does not
// run, or does not have the address, or its node does not exist.
func (d *Drafts) Guard(x *model.Violation) remedy.Guard {
	o := ObjectsOf(x)
	a, _ := netip.ParseAddr(o[model.RefAddress])
	if o[model.RefPod] == "" {
		if o[model.RefNode] != "" {
			return remedy.Guard{Node: o[model.RefNode]}
		}
		return remedy.Guard{Addr: a}
	}
	g := remedy.Guard{Pod: PodRef(o[model.RefPod])}
	if p, ok := d.View.Truth.Pods[g.Pod]; ok && p.Phase != "Succeeded" && p.Phase != "Failed" {
		g.Addr = a
	}
	return g
}

// LinesMax is how many commands of one kind are printed. Somebody who would have to type
// more is better served by who should have done it.
const LinesMax = 50

// check tells whether packets to an address are lost.
//
// Source: Linux, net/ipv4/fib_semantics.c, fib_props: to ask for a blackhole is EINVAL.
func check(x *model.Violation) string {
	if x.Invariant != invariant.BlackholedAddress.Name {
		return ""
	}
	addr := ObjectsOf(x)[model.RefAddress]
	sender, _ := model.FactOf[model.Ref](x.Facts, "from")
	from := reports.Clean(sender.Name)
	if x.Code == invariant.DroppedAtSource || x.Code == invariant.SomeDroppedAtSource {
		return fmt.Sprintf("ip route get %s on %s: Invalid argument if it is so; a route if routers tell %s of this very address, and all is well", addr, from, from)
	}
	return fmt.Sprintf("ping -c 3 %s on %s", addr, from)
}

// ObjectsOf are a violation's objects, by what they are; the last of each.
func ObjectsOf(x *model.Violation) map[model.RefKind]string {
	out := map[model.RefKind]string{}
	for _, o := range x.Objects {
		out[o.Kind] = o.Name
	}
	return out
}

// PodRef is the pod of namespace/name.
func PodRef(key string) model.PodRef {
	ns, name, _ := strings.Cut(key, "/")
	return model.PodRef{Namespace: ns, Name: name}
}

// Advice asks whether a controller runs, which leaves things alone for a while.
func (d *Drafts) Advice(who *remedy.Controller, after time.Duration) *remedy.Advice {
	a := &remedy.Advice{Controller: who, After: after, Unsaid: len(d.Cluster.Pods) == 0}
	for _, key := range d.Cluster.Pods.Keys() {
		if p := PodRef(key); strings.HasPrefix(p.Name, who.Pods) && a.Phase != "Running" {
			a.Pod, a.Phase = p, d.Cluster.Pods[key].Value.Phase
		}
	}
	return a
}
