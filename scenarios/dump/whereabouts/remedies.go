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
var Remedies = &diagnosis.Remedies{Leftovers: func(d *diagnosis.Drafts) {
	if c, ok := dump.KeptOf[*objects](d.Cluster); ok {
		o := &drafts{Drafts: d, c: c}
		o.ranges()
		o.reservations()
	}
}}

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
		o := diagnosis.ObjectsOf(&d.Findings.All[i].Violation)
		if a, err := netip.ParseAddr(o[model.RefAddress]); err == nil {
			if t := d.c.takeOut(a, o[model.RefPool], o[model.RefPod]); t != nil {
				about, steps = append(about, i), append(steps, *t)
			}
		}
	}
	if len(about) > 0 && len(steps) <= diagnosis.LinesMax {
		d.Add(about, remedy.Problem{Try: []remedy.Remedy{{Steps: steps, Cautions: []remedy.Caution{remedy.PatchCaution}}}, Advice: d.reconciler()})
	}
}

// takeOut gives an address that Whereabouts has claimed back, nil if no pool says so.
func (c *objects) takeOut(addr netip.Addr, pool, pod string) *remedy.TakeOut {
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
				about, steps = append(about, i), append(steps, remedy.DropReservation{Namespace: ns, Name: name})
			}
		}
	}
	if len(about) > 0 && len(steps) <= diagnosis.LinesMax {
		d.Add(about, remedy.Problem{Try: []remedy.Remedy{{Steps: steps, Cautions: []remedy.Caution{remedy.ReservationCaution}}}, Advice: d.reconciler()})
	}
}

// reconciler asks whether Whereabouts' does.
func (d *drafts) reconciler() *remedy.Advice { return d.Advice(remedy.Whereabouts, "whereabouts-", 0) }
