package remedies

import (
	"encoding/json"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/remedy"
	"ipamsim/sim/cluster/action"
)

// collisions are pods that have a node's own address. Calico knows of no node's address
// but those of its tunnels: what is to be kept from pods has to be reserved first, all of
// it, and then the pods are restarted.
func (d *drafts) collisions() {
	var about []int
	var pods []model.PodRef
	for _, i := range d.Open(invariant.DuplicateAddress.Name) {
		if x := &d.Findings.All[i].Violation; x.Code == invariant.OwnAddressOfNode {
			about, pods = append(about, i), append(pods, diagnosis.PodRef(diagnosis.ObjectsOf(x)[model.RefPod]))
		}
	}
	if len(about) == 0 || d.network == nil {
		return
	}
	slices.SortFunc(pods, diagnosis.ByPod)
	steps, moved, ruled := d.Move(slices.Compact(pods), false)
	p := remedy.Problem{Ruled: ruled}
	if own := d.ownAddresses(); len(moved) > 0 && len(moved) <= diagnosis.MovedMax && len(own) <= diagnosis.LinesMax {
		p.Try = []remedy.Remedy{{Steps: append([]remedy.Step{reserve{own, d.etcd}}, steps...), Pods: moved, Cautions: []remedy.Caution{remedy.PodCaution}}}
	}
	d.Add(about, p)
}

// ownAddresses are the nodes' that lie in a pool and are not reserved.
func (d *drafts) ownAddresses() (out []netip.Addr) {
	for _, t := range d.View.Truth.Taken {
		a := t.Range.Addr()
		reserved := slices.ContainsFunc(d.network.Blocks.Reserved, func(p netip.Prefix) bool { return p.Contains(a) })
		if t.By.Kind == model.RefNode && d.network.Blocks.PoolOf(a) != nil && !reserved {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out)
}

// reserve keeps addresses from pods.
type reserve struct {
	Addrs []netip.Addr
	etcd  bool
}

// Say says which.
func (r reserve) Say() string {
	return "reserve " + remedy.Some(r.Addrs) + ", which nodes have; pods that have them keep them until they are restarted"
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
	for _, a := range r.Addrs {
		cidrs = append(cidrs, netip.PrefixFrom(a, a.BitLen()).String())
	}
	text, _ := json.Marshal(struct {
		APIVersion string              `json:"apiVersion"`
		Kind       string              `json:"kind"`
		Metadata   map[string]string   `json:"metadata"`
		Spec       map[string][]string `json:"spec"`
	}{apiVersion, "IPReservation", map[string]string{"name": "addresses-of-nodes"}, map[string][]string{"reservedCIDRs": cidrs}}) // text only
	return text
}
