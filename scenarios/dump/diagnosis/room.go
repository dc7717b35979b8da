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
// podCIDR outside of its ranges (Kubernetes v1.37.2).
const moreSlices = "a larger --cluster-cidr, which must contain the podCIDRs given out: with one outside of it kube-controller-manager does not start (scenarios/nodeipam-82773-podcidr-outside.yaml); or fewer nodes"

// decision is what the operator has to decide where what is exhausted is no network of the
// scenario: podCIDRs, addresses of Services, or the podCIDR of one node.
//
// Source: pkg/apis/core/validation, ValidateNodeUpdate, which forbids to change a podCIDR
// (Kubernetes v1.37.2).
func decision(x *model.Violation) string {
	switch o := ObjectsOf(x); {
	case o[model.RefService] != "":
		return "more addresses for the pool, or which Service gives its address up"
	case x.Code == "" && o[model.RefRange] != "":
		return moreSlices
	}
	return "what to do with reservations of pods that are gone (files below /var/lib/cni/networks, which only a DEL removes); where all pods run, fewer of them on the node (maxPods of its kubelet), for the podCIDR of a Node cannot be changed"
}

// exhausted are pods that wait for an address, by network and, where addresses are a node's,
// by node. They come last: what frees an address that no pod has may have helped already.
func (d *Drafts) exhausted(known []*ipam.Manager) {
	for _, i := range d.Open(imported.Exhausted) {
		x := &d.Findings.All[i].Violation
		o := ObjectsOf(x)
		n := model.NetworkByKey(d.View.Networks, o[model.RefNetwork])
		if n == nil {
			d.Add([]int{i}, remedy.Problem{Else: decision(x)})
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
