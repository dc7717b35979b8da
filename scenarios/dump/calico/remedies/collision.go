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
// it, and then the pods are restarted. That does not help where the address lies in a block
// of another node, which drops what it sends there: then it takes another pool.
func (d *drafts) collisions() {
	about := d.WithNodesAddress()
	if len(about) == 0 || d.network == nil {
		return
	}
	var pods []model.PodRef
	for _, i := range about {
		pods = append(pods, diagnosis.PodRef(diagnosis.ObjectsOf(&d.Findings.All[i].Violation)[model.RefPod]))
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

// Say describes the reservation.
func (r reserve) Say() string {
	return "reserve " + remedy.Some(r.Ranges) + ", which nodes have; pods keep theirs until they are restarted"
}

// Commands create an IPReservation, where kubectl reaches.
func (r reserve) Commands() []string {
	if r.etcd {
		return []string{"echo " + reports.Shell(string(r.manifest("projectcalico.org/v3"))) + " | calicoctl create -f -"}
	}
	return []string{remedy.Create(r.manifest("crd.projectcalico.org/v1"))}
}

// Perform creates it.
func (r reserve) Perform(s *remedy.Script) {
	s.Do(scenarios.Event{Action: &action.Apply{Object: r.manifest("crd.projectcalico.org/v1")}})
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
