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

// Remedies are the remedies for the record of one manager, a part of its ipam.Manager. The
// functions add problems to the drafts, one kind after the other, because causes come before
// their effects. A nil function means that there are no remedies of this kind.
type Remedies struct {
	// Ownership fixes conflicts of ownership.
	Ownership func(*Drafts)
	// Shortage fixes nodes and pods that get no address.
	Shortage func(*Drafts)
	// Leftovers releases claims without an owner.
	Leftovers func(*Drafts)
	// Room returns remedies for pods that wait for an address of a network; node is set if
	// addresses are per node. decide is a decision left to the operator.
	Room func(d *Drafts, n *model.Network, node string, pods []model.PodRef) (try []remedy.Remedy, decide string)
	// Overlap returns the decision about networks in which one address was assigned twice; "": they are not
	// the manager's, or their ranges do not overlap.
	Overlap func(d *Drafts, networks []string) (decide string)
	// Exclude returns the step that takes an address out of the range of a network, so that no pod gets
	// it; nil: the network is not the manager's, or its range does not have the address.
	Exclude func(d *Drafts, network string, addr netip.Addr) remedy.Step
	// Defaults returns objects that every cluster of the manager has but dumps often omit. They
	// exist in each run from the first step on.
	Defaults func(*scenarios.Scenario, *scenarios.View) []scenarios.Event
}

// Drafts collects candidate remedies. None of them is printed before it was simulated.
type Drafts struct {
	Cluster   *dump.Cluster
	View      *scenarios.View
	Findings  *Findings
	Facts     *remedy.Facts
	Datastore string                        // the scenario's datastore; "": its manager supports only one
	Claims    map[string][]*model.Claim     // by pool
	Has       map[model.PodRef][]netip.Addr // the addresses of sandboxes
	Leaked    map[netip.Addr]remedy.Guard   // leaked addresses, with the condition for releasing them

	having    map[netip.Addr][]*model.Sandbox // running sandboxes of pods
	claims    map[netip.Addr][]*model.Claim
	undecided map[string]bool // addresses whose claim may be missing from the dump

	out []remedy.Problem
}

// problems returns the problems to fix, in order: causes come before their effects. It sets
// Finding.Problem of each finding that a problem covers.
func (f *Findings) problems(v *scenarios.View, facts *remedy.Facts, datastore string) []remedy.Problem {
	d := &Drafts{Cluster: f.cluster, View: v, Findings: f, Facts: facts, Datastore: datastore}
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
	d.reported(known)
	d.duplicates(known)
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

// Add adds a problem about findings, given by their index in Findings.All. It returns the
// number of the problem, from 1.
func (d *Drafts) Add(about []int, p remedy.Problem) int {
	for _, i := range about {
		p.Goals = append(p.Goals, d.Findings.All[i].Violation)
		d.Findings.All[i].Problem = len(d.out) + 1
	}
	d.out = append(d.out, p)
	return len(d.out)
}

// Open returns the findings of invariants that no problem covers yet and that can be simulated.
func (d *Drafts) Open(names ...string) []int {
	var out []int
	for i := range d.Findings.All {
		if x := &d.Findings.All[i]; x.Problem == 0 && x.Decide == "" && slices.Contains(names, x.Invariant) {
			out = append(out, i)
		}
	}
	return out
}

// WithNodesAddress returns the findings of pods that have a node's own address and that no
// problem covers yet.
func (d *Drafts) WithNodesAddress() []int {
	return slices.DeleteFunc(d.Open(invariant.DuplicateAddress.Name), func(i int) bool { return d.Findings.All[i].Code != invariant.OwnAddressOfNode })
}

// Guard returns the condition for releasing a leaked claim: its pod does not run, or does not
// have the address, or its node does not exist.
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

// LinesMax bounds the commands of one kind that are printed. To run more of them by hand is
// worse than to repair the controller that should have acted.
const LinesMax = 50

// check returns a command that shows whether packets to an address are lost.
//
// Source: Linux, net/ipv4/fib_semantics.c, fib_props: a lookup of a blackhole returns EINVAL.
func check(x *model.Violation) string {
	if x.Invariant != invariant.BlackholedAddress.Name {
		return ""
	}
	addr := ObjectsOf(x)[model.RefAddress]
	sender, _ := model.FactOf[model.Ref](x.Facts, "from")
	from := reports.Clean(sender.Name)
	if x.Code == invariant.DroppedAtSource || x.Code == invariant.SomeDroppedAtSource {
		return fmt.Sprintf("ip route get %s on %s: \"Invalid argument\" confirms the finding; a route to the address refutes it", addr, from)
	}
	return fmt.Sprintf("ping -c 3 %s on %s", addr, from)
}

// ObjectsOf returns the names of a violation's objects by kind; of several of a kind, the last.
func ObjectsOf(x *model.Violation) map[model.RefKind]string {
	out := map[model.RefKind]string{}
	for _, o := range x.Objects {
		out[o.Kind] = o.Name
	}
	return out
}

// PodRef parses NAMESPACE/NAME.
func PodRef(key string) model.PodRef {
	ns, name, _ := strings.Cut(key, "/")
	return model.PodRef{Namespace: ns, Name: name}
}

// Advice returns the advice to check a controller; after is its grace period.
func (d *Drafts) Advice(who *remedy.Controller, after time.Duration) *remedy.Advice {
	a := &remedy.Advice{Controller: who, After: after, NoPods: len(d.Cluster.Pods) == 0}
	for _, key := range d.Cluster.Pods.Keys() {
		if p := PodRef(key); strings.HasPrefix(p.Name, who.Pods) && a.Phase != "Running" {
			a.Pod, a.Phase = p, d.Cluster.Pods[key].Value.Phase
		}
	}
	return a
}
