package diagnosis

import (
	"strings"

	"ipamsim/model"
	"ipamsim/reports/imported"
	"ipamsim/scenarios/remedy"
	"ipamsim/sim/ipam"
)

// moreSlices is what there is to decide where all podCIDRs are taken.
//
// Source: pkg/controller/nodeipam/ipam, NewCIDRRangeAllocator, which returns an error for a
// podCIDR outside of its ranges (Kubernetes v1.34.1).
const moreSlices = "a larger --cluster-cidr, which must contain the podCIDRs given out: with one outside of it kube-controller-manager does not start (scenarios/nodeipam-82773-podcidr-outside.yaml); or fewer nodes"

// exhausted are pods that wait for an address, by network and, where addresses are a node's,
// by node. They come last: what frees an address that no pod has may have helped already.
func (d *Drafts) exhausted(known []*ipam.Manager) {
	for _, i := range d.Open(imported.Exhausted) {
		x := &d.Findings.All[i].Violation
		o := ObjectsOf(x)
		n := model.NetworkByKey(d.View.Networks, o[model.RefNetwork])
		if n == nil { // of podCIDRs: another scenario's
			d.Add([]int{i}, remedy.Problem{Else: moreSlices})
			continue
		}
		var pods []model.PodRef
		for _, r := range x.Objects {
			if r.Kind == model.RefPod {
				pods = append(pods, PodRef(r.Name))
			}
		}
		p := remedy.Problem{Starts: pods, Holds: func(t *model.Truth) bool { return remedy.Waiting(t, pods) }}
		var decide []string
		for _, m := range known {
			if r, ok := ipam.Part[*Remedies](m); ok && r.Room != nil {
				try, text := r.Room(d, n, o[model.RefNode], pods)
				p.Try = append(p.Try, try...)
				if text != "" {
					decide = append(decide, text)
				}
			}
		}
		p.Else = strings.Join(decide, "; ")
		d.Add([]int{i}, p)
	}
}
