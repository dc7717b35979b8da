package remedies

import (
	"encoding/json"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/remedy"
	"ipamsim/sim/cluster/action"
)

// collisions are pods that have a node's own address. Calico knows of no node's address
// but those of its tunnels: what is to be kept from pods has to be reserved first, all of
// it, and then the pods are restarted. Where a block around the address stays, its owner
// drops what it sends to the other node: then the block has to go, too.
func (d *drafts) collisions() {
	var about []int
	var pods []model.PodRef
	for _, i := range d.WithNodesAddress() {
		about, pods = append(about, i), append(pods, diagnosis.PodRef(diagnosis.ObjectsOf(&d.Findings.All[i].Violation)[model.RefPod]))
	}
	if len(about) == 0 || d.network == nil {
		return
	}
	slices.SortFunc(pods, diagnosis.ByPod)
	_, _, ruled := d.Move(slices.Compact(pods), false)
	p := remedy.Problem{Ruled: ruled}
	own := d.ownAddresses()
	d.reserving(&p, own, pods, nil)
	var around []netip.Prefix
	var steps []remedy.Step
	for _, a := range own {
		block, err := a.Addr().Prefix(d.network.Blocks.PoolOf(a.Addr()).BlockBits)
		if err != nil || slices.Contains(around, block) {
			continue
		}
		around = append(around, block)
		for i := range d.View.Record.Pools {
			b := &d.View.Record.Pools[i]
			if b.Range != block {
				continue
			}
			for _, cl := range d.Claims[b.Name] {
				pods = append(pods, cl.Pod)
			}
			steps = append(steps, check{Block: block}, d.giveBack(block, b.Node))
		}
	}
	if !d.etcd {
		d.reserving(&p, around, pods, steps)
	}
	d.Add(about, p)
}

// reserving tries to reserve ranges, to move pods, and then some steps.
func (d *drafts) reserving(p *remedy.Problem, ranges []netip.Prefix, pods []model.PodRef, then []remedy.Step) {
	slices.SortFunc(pods, diagnosis.ByPod)
	steps, moved, _ := d.Move(slices.Compact(slices.Clone(pods)), false)
	if len(moved) == 0 || len(moved) > diagnosis.MovedMax || len(ranges) > diagnosis.LinesMax {
		return
	}
	all := append([]remedy.Step{reserve{ranges, d.etcd}}, steps...)
	r := remedy.Remedy{Steps: append(all, then...), Pods: moved, Cautions: []remedy.Caution{remedy.PodCaution}}
	if then != nil {
		r.Cautions = append(r.Cautions, blockCaution)
	}
	p.Try = append(p.Try, r)
}

// ownAddresses are the nodes' that lie in a pool and are not reserved.
func (d *drafts) ownAddresses() (out []netip.Prefix) {
	for _, t := range d.View.Truth.Taken {
		a := t.Range.Addr()
		reserved := slices.ContainsFunc(d.network.Blocks.Reserved, func(p netip.Prefix) bool { return p.Contains(a) })
		if t.By.Kind == model.RefNode && d.network.Blocks.PoolOf(a) != nil && !reserved {
			out = append(out, t.Range)
		}
	}
	slices.SortFunc(out, netip.Prefix.Compare)
	return slices.Compact(out)
}

// reserve keeps addresses from pods.
type reserve struct {
	Ranges []netip.Prefix
	etcd   bool
}

// Say says which.
func (r reserve) Say() string {
	return "reserve " + remedy.Some(r.Ranges) + ", where nodes have addresses; pods keep theirs until they are restarted"
}

// Commands create an IPReservation, where kubectl reaches.
func (r reserve) Commands() []string {
	if r.etcd {
		return []string{"echo " + reports.Shell(string(r.manifest("projectcalico.org/v3"))) + " | calicoctl create -f -"}
	}
	return []string{remedy.Create(r.manifest("crd.projectcalico.org/v1"))}
}

// Perform creates it.
func (r reserve) Perform(s *remedy.Stage) {
	s.Do(scenarios.Event{Apply: &action.Apply{Object: r.manifest("crd.projectcalico.org/v1")}})
}

func (r reserve) manifest(apiVersion string) json.RawMessage {
	var cidrs []string
	for _, p := range r.Ranges {
		cidrs = append(cidrs, p.String())
	}
	text, _ := json.Marshal(struct {
		APIVersion string              `json:"apiVersion"`
		Kind       string              `json:"kind"`
		Metadata   map[string]string   `json:"metadata"`
		Spec       map[string][]string `json:"spec"`
	}{apiVersion, "IPReservation", map[string]string{"name": "addresses-of-nodes"}, map[string][]string{"reservedCIDRs": cidrs}}) // text only
	return text
}
