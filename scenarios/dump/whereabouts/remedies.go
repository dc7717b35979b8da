package whereabouts

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/remedy"
)

// Remedies are those of Whereabouts' record.
var Remedies = &diagnosis.Remedies{
	Room: room, Exclude: exclude, Overlap: overlap,
	Leftovers: func(d *diagnosis.Drafts) {
		if c, ok := dump.KeptOf[*objects](d.Cluster); ok {
			o := &drafts{Drafts: d, c: c}
			o.index()
			o.ranges()
			o.reservations()
		}
	},
}

// room is what the operator has to decide for pods that wait for an address of a network. No
// remedy is simulated: the networks of a run are those that it begins with.
func room(d *diagnosis.Drafts, n *model.Network, node string, _ []model.PodRef) (try []remedy.Remedy, decide string) {
	c, ok := dump.KeptOf[*objects](d.Cluster)
	if !ok || c.attachments[n.Key] == nil {
		return nil, ""
	}
	switch _, ipam := ipamOf(c.attachments[n.Key].Value); {
	case node != "" && ipam.Name == "":
		return nil, "the network's network_name, which is empty: Whereabouts' controller names the NodeSlicePool after it and creates none"
	case node != "":
		return nil, "a larger range or a smaller node_slice_size for the network"
	}
	return nil, "which addresses to add to the network: its range, range_start, range_end and exclude leave none (ipamsim plan compares ranges)"
}

// overlap is what the operator has to decide about networks whose ranges overlap. No edit is simulated: a range or a
// network_name that changes begins with a pool without the addresses that running pods have.
func overlap(d *diagnosis.Drafts, networks []string) string {
	c, ok := dump.KeptOf[*objects](d.Cluster)
	var named []string
	var all []network
	for _, key := range networks {
		if !ok || c.attachments[key] == nil {
			return ""
		}
		n := networkOf(key, c.attachments[key].Value)
		text := fmt.Sprintf("%s (%s", key, strings.Join(texts(n.ranges), ", "))
		if n.name == "" {
			text += ", no network_name"
		}
		all, named = append(all, n), append(named, text+")")
	}
	overlaps := slices.ContainsFunc(all[0].ranges, func(p netip.Prefix) bool { return slices.ContainsFunc(all[1].ranges, p.Overlaps) })
	if !overlaps {
		return ""
	}
	return "which range each network has: those of " + strings.Join(named, " and ") + " overlap. If both are one segment, change ipam.range, or add ipam.exclude, in the spec.config of one; if they are separate, set another ipam.network_name in each. " +
		"No command is printed: with another range or network_name a network begins with an empty pool, and assigns the addresses of its running pods again until they are restarted"
}

func texts(all []netip.Prefix) (out []string) {
	for _, p := range all {
		out = append(out, p.String())
	}
	return out
}

// reconciler is the ip-reconciler of the DaemonSet.
//
// Source: doc/crds/daemonset-install.yaml (v0.9.4), label app.
var reconciler = &remedy.Controller{
	Name: "Whereabouts' reconciler", Works: "release leaked addresses",
	Pods: "whereabouts-", Label: "app=whereabouts", Logs: "reconcil",
}

// What a run cannot show.
//
// Source: RFC 6902, 4.6 and 5: an operation test fails the whole patch.
const (
	patchCaution       remedy.Caution = "the command does nothing if the pod runs, and the patch fails if the claim has changed: a running pod would lose its address to the next one (scenarios/t3-removing-a-live-one.yaml)"
	reservationCaution remedy.Caution = "only the reservation keeps another range from assigning the address: the command does nothing if its pod runs (scenarios/whereabouts-207-overlap.yaml)"
)

// drafts are remedies of Whereabouts'.
type drafts struct {
	*diagnosis.Drafts
	c *objects
	// allocations are those of all pools, and guards the names of reservations, sorted.
	allocations map[allocated][]takeOut
	guards      map[guarded][]string
}

// allocated is what a finding knows of an allocation.
type allocated struct {
	addr      netip.Addr
	pool, pod string
}

// guarded is for whom a reservation is, and how its name ends.
type guarded struct{ pod, end string }

// end is what follows the last separator of a name.
func end(name string) string { return name[strings.LastIndexAny(name, "/-")+1:] }

// index reads Whereabouts' record once for all findings.
func (d *drafts) index() {
	d.allocations, d.guards = map[allocated][]takeOut{}, map[guarded][]string{}
	for _, key := range d.c.rangePools.Keys() {
		ns, name, _ := strings.Cut(key, "/")
		p := d.c.rangePools[key].Value
		first, err := netip.ParsePrefix(p.Range)
		if err != nil {
			continue
		}
		for k, a := range p.Allocations {
			addr := at(first.Addr(), k)
			this := allocated{addr, name, a.PodRef}
			d.allocations[this] = append(d.allocations[this], takeOut{Addr: addr, Namespace: ns, Pool: name, Key: k, ID: a.ID})
		}
	}
	for _, key := range d.c.rangeReserved.Keys() {
		this := guarded{d.c.rangeReserved[key].Value.PodRef, end(key)}
		d.guards[this] = append(d.guards[this], key)
	}
}

// ranges adds the leaked claims in Whereabouts' pools.
func (d *drafts) ranges() {
	var about []int
	var steps []remedy.Step
	for _, i := range d.Open(invariant.LeakedClaim.Name, invariant.Convergence.Name) {
		x := &d.Findings.All[i].Violation
		o := diagnosis.ObjectsOf(x)
		if a, err := netip.ParseAddr(o[model.RefAddress]); err == nil {
			if t := d.takeOut(a, o[model.RefPool], o[model.RefPod]); t != nil {
				t.Guard = d.Guard(x)
				about, steps = append(about, i), append(steps, *t)
			}
		}
	}
	d.add(about, steps, patchCaution)
}

// takeOut gives an address that Whereabouts has claimed back, nil if no pool says so.
func (d *drafts) takeOut(addr netip.Addr, pool, pod string) *takeOut {
	all := d.allocations[allocated{addr, pool, pod}]
	if len(all) == 0 {
		return nil
	}
	out := slices.MinFunc(all, func(a, b takeOut) int { // the keys "1" and "01" are one address
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), len(a.Key)-len(b.Key), strings.Compare(a.Key, b.Key))
	})
	if r := d.reservation(addr, pod); r != "" {
		out.ReservationIn, out.Reserved, _ = strings.Cut(r, "/")
	}
	return &out
}

// reservation is the one that guards an address for a pod, "" if there is none.
func (d *drafts) reservation(addr netip.Addr, podRef string) string {
	want := normalized(addr)
	for _, key := range d.guards[guarded{podRef, end(want)}] {
		if strings.HasSuffix(key, "/"+want) || strings.HasSuffix(key, "-"+want) {
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
	by := map[string][]string{} // namespaces, by name
	for _, key := range d.c.rangeReserved.Keys() {
		ns, name, _ := strings.Cut(key, "/")
		by[name] = append(by[name], ns)
	}
	for _, i := range d.Open(invariant.LeftoverReservation.Name) {
		x := &d.Findings.All[i].Violation
		name := diagnosis.ObjectsOf(x)[model.RefReservation]
		for _, ns := range by[name] {
			about, steps = append(about, i), append(steps, dropReservation{Namespace: ns, Name: name, Guard: d.Guard(x)})
		}
	}
	d.add(about, steps, reservationCaution)
}

// add adds a problem with a step for each of its findings; if there are too many, it has no
// remedy.
func (d *drafts) add(about []int, steps []remedy.Step, c remedy.Caution) {
	p := remedy.Problem{Advice: d.reconciler()}
	switch {
	case len(about) == 0:
		return
	case len(steps) > diagnosis.LinesMax:
		p.Long = len(steps)
	default:
		p.Try = []remedy.Remedy{{Steps: steps, Cautions: []remedy.Caution{c}}}
	}
	d.Add(about, p)
}

// reconciler asks whether Whereabouts' does.
func (d *drafts) reconciler() *remedy.Advice { return d.Advice(reconciler, 0) }
