package dump

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
	"ipamsim/scenarios/remedy"
)

// drafts thinks of remedies for what is wrong. None of them is printed before it was
// acted out.
type drafts struct {
	c      *Cluster
	v      *scenarios.View
	f      *Findings
	cast   *remedy.Cast
	policy *model.BlockPolicy            // of the primary network; nil if it has none
	etcd   bool                          // Calico's record is where kubectl does not reach
	claims map[string][]*model.Claim     // by block
	has    map[model.PodRef][]netip.Addr // of sandboxes
	leaked map[netip.Addr]bool           // by a finding
	out    []remedy.Problem
}

// problems are what is wrong and could be mended, in the order in which it is: causes
// come before what follows from them. Each finding that is dealt with knows its problem.
func (c *Cluster) problems(v *scenarios.View, f *Findings, cast *remedy.Cast, etcd bool) []remedy.Problem {
	d := &drafts{c: c, v: v, f: f, cast: cast, etcd: etcd}
	for i := range v.Networks {
		if b := v.Networks[i].Blocks; b != nil {
			d.policy = b
		}
	}
	d.index()
	for _, think := range []func(){
		d.affinities, d.duplicates, d.unbacked, d.homeless, d.unreachable, d.starved, d.leaks, d.handles, d.ranges, d.reservations,
	} {
		think()
	}
	return d.out
}

func (d *drafts) index() {
	d.claims, d.has, d.leaked = map[string][]*model.Claim{}, map[model.PodRef][]netip.Addr{}, map[netip.Addr]bool{}
	for i := range d.v.Record.Claims {
		cl := &d.v.Record.Claims[i]
		d.claims[cl.Pool] = append(d.claims[cl.Pool], cl)
	}
	for i := range d.v.Truth.Sandboxes {
		s := &d.v.Truth.Sandboxes[i]
		for _, a := range s.Attachments {
			d.has[s.Pod] = append(d.has[s.Pod], a.Addrs...)
		}
	}
	for i := range d.f.All {
		x := &d.f.All[i].Violation
		if a, err := netip.ParseAddr(objectsOf(x)[model.RefAddress]); err == nil && x.Invariant == invariant.LeakedClaim.Name {
			d.leaked[a] = true
		}
	}
}

// add notes a problem and the findings that it is about.
func (d *drafts) add(about []int, p remedy.Problem) {
	for _, i := range about {
		p.Goals = append(p.Goals, d.f.All[i].Violation)
		d.f.All[i].Problem = len(d.out) + 1
	}
	d.out = append(d.out, p)
}

// open are the findings of invariants that no problem is about yet.
func (d *drafts) open(names ...string) []int {
	var out []int
	for i := range d.f.All {
		if x := &d.f.All[i]; x.Problem == 0 && slices.Contains(names, x.Invariant) {
			out = append(out, i)
		}
	}
	return out
}

// linesMax is how many commands of one kind are printed. Somebody who would have to type
// more is better served by who should have done it.
const linesMax = 50

// check tells whether packets to an address are lost.
//
// Source: Linux, net/ipv4/fib_semantics.c, fib_props: to ask for a blackhole is EINVAL.
func check(x *model.Violation) string {
	if x.Invariant != invariant.BlackholedAddress.Name {
		return ""
	}
	addr := objectsOf(x)[model.RefAddress]
	sender, _ := model.FactOf[model.Ref](x.Facts, "from")
	from := reports.Clean(sender.Name)
	if x.Code == invariant.DroppedAtSource || x.Code == invariant.SomeDroppedAtSource {
		return fmt.Sprintf("ip route get %s on %s: Invalid argument if it is so; a route if routers tell %s of this very address, and all is well", addr, from, from)
	}
	return fmt.Sprintf("ping -c 3 %s on %s", addr, from)
}

// objectsOf are a violation's objects, by what they are; the last of each.
func objectsOf(x *model.Violation) map[model.RefKind]string {
	out := map[model.RefKind]string{}
	for _, o := range x.Objects {
		out[o.Kind] = o.Name
	}
	return out
}

func podRef(key string) model.PodRef {
	ns, name, _ := strings.Cut(key, "/")
	return model.PodRef{Namespace: ns, Name: name}
}

// leaks are claims of Calico's that nobody has.
func (d *drafts) leaks() {
	var about []int
	var addrs []netip.Addr
	for _, i := range d.open("leaked-claim", "convergence") {
		o := objectsOf(&d.f.All[i].Violation)
		if a, err := netip.ParseAddr(o[model.RefAddress]); err == nil && o[model.RefBlock] != "" {
			about, addrs = append(about, i), append(addrs, a)
		}
	}
	if len(about) == 0 {
		return
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	addrs = slices.Compact(addrs)
	try := []remedy.Remedy{{Steps: []remedy.Step{remedy.ReleaseReport{}}, Cautions: []remedy.Caution{remedy.ReportCaution}}}
	if len(addrs) <= linesMax {
		try = append(try, remedy.Remedy{Steps: []remedy.Step{remedy.Release{Addrs: addrs}}, Cautions: []remedy.Caution{remedy.AddressCaution}})
	}
	d.add(about, remedy.Problem{Try: try, Advice: d.kubeControllers()})
}

// handles are those that count what is not claimed.
func (d *drafts) handles() {
	var about []int
	var names []string
	claimed := map[string]bool{}
	for i := range d.v.Record.Claims {
		claimed[d.v.Record.Claims[i].Handle] = true
	}
	for _, i := range d.open("leftover-handle") {
		// Source: calicoctl/calicoctl/commands/ipam, checkIPAM: leaked are those by which no
		// address is claimed (v3.31).
		if id := objectsOf(&d.f.All[i].Violation)[model.RefHandle]; !claimed[id] {
			about, names = append(about, i), append(names, strings.ToLower(id))
		}
	}
	if len(about) == 0 {
		return
	}
	slices.Sort(names)
	try := []remedy.Remedy{{Steps: []remedy.Step{remedy.ReleaseReport{}}, Cautions: []remedy.Caution{remedy.ReportCaution}}}
	if names = slices.Compact(names); !d.etcd && len(names) <= linesMax {
		try = append(try, remedy.Remedy{Steps: []remedy.Step{remedy.DropHandles{Names: names}}})
	}
	d.add(about, remedy.Problem{Try: try})
}

// ranges are claims in Whereabouts' pools that nobody has.
func (d *drafts) ranges() {
	var about []int
	var steps []remedy.Step
	for _, i := range d.open("leaked-claim", "convergence") {
		o := objectsOf(&d.f.All[i].Violation)
		if a, err := netip.ParseAddr(o[model.RefAddress]); err == nil {
			if t := d.c.takeOut(a, o[model.RefPool], o[model.RefPod]); t != nil {
				about, steps = append(about, i), append(steps, *t)
			}
		}
	}
	if len(about) > 0 && len(steps) <= linesMax {
		d.add(about, remedy.Problem{Try: []remedy.Remedy{{Steps: steps, Cautions: []remedy.Caution{remedy.PatchCaution}}}, Advice: d.reconciler()})
	}
}

// takeOut gives an address that Whereabouts has claimed back, nil if no pool says so.
func (c *Cluster) takeOut(addr netip.Addr, pool, pod string) *remedy.TakeOut {
	for _, key := range c.rangePools.keys() {
		ns, name, _ := strings.Cut(key, "/")
		p := c.rangePools[key].value
		first, err := netip.ParsePrefix(p.Range)
		if name != pool || err != nil {
			continue
		}
		for _, k := range sortedOffsets(p.Allocations) {
			a := p.Allocations[k]
			if offset(first.Addr(), uint64(atoi(k))) != addr || a.PodRef != pod {
				continue
			}
			out := &remedy.TakeOut{Addr: addr, Namespace: ns, Pool: name, Key: k, ID: a.ID}
			if r := c.reservation(addr, a.PodRef); r != "" {
				out.ReservationIn, out.Reserved, _ = strings.Cut(r, "/")
			}
			return out
		}
	}
	return nil
}

// reservation is the one that guards an address for a pod, "" if there is none.
func (c *Cluster) reservation(addr netip.Addr, podRef string) string {
	want := normalized(addr)
	for _, key := range c.rangeReserved.keys() {
		if c.rangeReserved[key].value.PodRef == podRef && (strings.HasSuffix(key, "/"+want) || strings.HasSuffix(key, "-"+want)) {
			return key
		}
	}
	return ""
}

// normalized is an address as Whereabouts names a reservation of it.
//
// Source: pkg/storage/kubernetes/ipam.go, NormalizeIP (v0.9.4).
func normalized(a netip.Addr) string {
	s := a.String()
	if strings.HasSuffix(s, ":") {
		s += "0"
	}
	return strings.ReplaceAll(s, ":", "-")
}

// reservations are those that guard nothing.
func (d *drafts) reservations() {
	var about []int
	var steps []remedy.Step
	for _, i := range d.open("leftover-reservation") {
		for _, key := range d.c.rangeReserved.keys() {
			if ns, name, _ := strings.Cut(key, "/"); name == objectsOf(&d.f.All[i].Violation)[model.RefReservation] {
				about, steps = append(about, i), append(steps, remedy.DropReservation{Namespace: ns, Name: name})
			}
		}
	}
	if len(about) > 0 && len(steps) <= linesMax {
		d.add(about, remedy.Problem{Try: []remedy.Remedy{{Steps: steps, Cautions: []remedy.Caution{remedy.ReservationCaution}}}, Advice: d.reconciler()})
	}
}

// usualGrace is how long kube-controllers leave alone what may have leaked, if nobody has
// said otherwise.
//
// Source: kube-controllers/pkg/config, NodeControllerConfig defaults (v3.31).
const usualGrace = 15 * time.Minute

func (d *drafts) grace() time.Duration {
	if k := d.c.controllers["default"]; k != nil {
		if g, err := time.ParseDuration(k.value); err == nil {
			return g
		}
	}
	return usualGrace
}

// kubeControllers asks whether calico-kube-controllers run.
func (d *drafts) kubeControllers() *remedy.Advice {
	a := d.advice(remedy.KubeControllers, "calico-kube-controllers-", d.grace())
	a.Within = d.await()
	return a
}

// reconciler asks whether Whereabouts' does.
func (d *drafts) reconciler() *remedy.Advice { return d.advice(remedy.Whereabouts, "whereabouts-", 0) }

func (d *drafts) advice(who remedy.Controller, prefix string, after time.Duration) *remedy.Advice {
	a := &remedy.Advice{Controller: who, After: after, Unsaid: len(d.c.pods) == 0}
	for _, key := range d.c.pods.keys() {
		if p := podRef(key); strings.HasPrefix(p.Name, prefix) && a.Phase != "Running" {
			a.Pod, a.Phase = p, d.c.pods[key].value.Phase
		}
	}
	return a
}
