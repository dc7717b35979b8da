package whereabouts

import (
	"net/netip"
	"strings"

	"ipamsim/model"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/remedy"
)

// Remedies are those of Whereabouts' record.
var Remedies = &diagnosis.Remedies{
	Room: room,
	Leftovers: func(d *diagnosis.Drafts) {
		if c, ok := dump.KeptOf[*objects](d.Cluster); ok {
			o := &drafts{Drafts: d, c: c}
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
		return nil, "the network's network_name, which is empty: Whereabouts' controller names the NodeSlicePool after it, and makes none"
	case node != "":
		return nil, "a larger range or a smaller node_slice_size for the network"
	}
	return nil, "which addresses are free for the network: its range, range_start, range_end and exclude leave no more (ipamsim plan compares ranges)"
}

// reconciler is the ip-reconciler of the DaemonSet.
//
// Source: doc/crds/daemonset-install.yaml (v0.9.4), label app.
var reconciler = &remedy.Controller{
	Name: "Whereabouts' reconciler", Works: "Whereabouts' reconciler works, which frees what no pod has",
	Pods: "whereabouts-", Label: "app=whereabouts", Logs: "reconcil",
}

// What a run cannot show.
//
// Source: RFC 6902, 4.6 and 5: an operation test fails the whole patch.
const (
	patchCaution       remedy.Caution = "the line stops if the pod runs, and the patch fails if the claim has changed: a pod that lives would lose its address to the next one (scenarios/t3-removing-a-live-one.yaml)"
	reservationCaution remedy.Caution = "a reservation is all that keeps an address from being given out in another range: the line stops if its pod runs (scenarios/whereabouts-207-overlap.yaml)"
)

// drafts are remedies of Whereabouts'.
type drafts struct {
	*diagnosis.Drafts
	c *objects
}

// ranges are claims in Whereabouts' pools that nobody has.
func (d *drafts) ranges() {
	var about []int
	var steps []remedy.Step
	for _, i := range d.Open("leaked-claim", "convergence") {
		x := &d.Findings.All[i].Violation
		o := diagnosis.ObjectsOf(x)
		if a, err := netip.ParseAddr(o[model.RefAddress]); err == nil {
			if t := d.c.takeOut(a, o[model.RefPool], o[model.RefPod]); t != nil {
				t.Guard = d.Guard(x)
				about, steps = append(about, i), append(steps, *t)
			}
		}
	}
	if len(about) > 0 && len(steps) <= diagnosis.LinesMax {
		d.Add(about, remedy.Problem{Try: []remedy.Remedy{{Steps: steps, Cautions: []remedy.Caution{patchCaution}}}, Advice: d.reconciler()})
	}
}

// takeOut gives an address that Whereabouts has claimed back, nil if no pool says so.
func (c *objects) takeOut(addr netip.Addr, pool, pod string) *takeOut {
	for _, key := range c.rangePools.Keys() {
		ns, name, _ := strings.Cut(key, "/")
		p := c.rangePools[key].Value
		first, err := netip.ParsePrefix(p.Range)
		if name != pool || err != nil {
			continue
		}
		for _, k := range sortedOffsets(p.Allocations) {
			a := p.Allocations[k]
			if at(first.Addr(), k) != addr || a.PodRef != pod {
				continue
			}
			out := &takeOut{Addr: addr, Namespace: ns, Pool: name, Key: k, ID: a.ID}
			if r := c.reservation(addr, a.PodRef); r != "" {
				out.ReservationIn, out.Reserved, _ = strings.Cut(r, "/")
			}
			return out
		}
	}
	return nil
}

// reservation is the one that guards an address for a pod, "" if there is none.
func (c *objects) reservation(addr netip.Addr, podRef string) string {
	want := normalized(addr)
	for _, key := range c.rangeReserved.Keys() {
		if c.rangeReserved[key].Value.PodRef == podRef && (strings.HasSuffix(key, "/"+want) || strings.HasSuffix(key, "-"+want)) {
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
	for _, i := range d.Open("leftover-reservation") {
		for _, key := range d.c.rangeReserved.Keys() {
			if ns, name, _ := strings.Cut(key, "/"); name == diagnosis.ObjectsOf(&d.Findings.All[i].Violation)[model.RefReservation] {
				about, steps = append(about, i), append(steps, dropReservation{Namespace: ns, Name: name, Guard: d.Guard(&d.Findings.All[i].Violation)})
			}
		}
	}
	if len(about) > 0 && len(steps) <= diagnosis.LinesMax {
		d.Add(about, remedy.Problem{Try: []remedy.Remedy{{Steps: steps, Cautions: []remedy.Caution{reservationCaution}}}, Advice: d.reconciler()})
	}
}

// reconciler asks whether Whereabouts' does.
func (d *drafts) reconciler() *remedy.Advice { return d.Advice(reconciler, 0) }
