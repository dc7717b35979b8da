package diagnosis

import (
	"strings"

	"ipamsim/model"
	"ipamsim/reports/imported"
	"ipamsim/scenarios/remedy"
	"ipamsim/sim/ipam"
)

// moreSlices is the operator's decision if all podCIDRs are taken.
//
// Source: pkg/controller/nodeipam/ipam, NewCIDRRangeAllocator, which returns an error for a
// podCIDR outside of its ranges (Kubernetes v1.37.2).
const moreSlices = "a larger --cluster-cidr, which must contain the assigned podCIDRs: kube-controller-manager does not start if one is outside (scenarios/nodeipam-82773-podcidr-outside.yaml); or fewer nodes"

// decision returns the operator's decision if the exhausted resource is not a network of the
// scenario: podCIDRs, Service addresses, or the podCIDR of one node.
//
// Source: pkg/apis/core/validation, ValidateNodeUpdate, which forbids to change a podCIDR
// (Kubernetes v1.37.2).
func decision(x *model.Violation) string {
	switch o := ObjectsOf(x); {
	case o[model.RefService] != "":
		return "more addresses for the pool, or which Service gives up its address"
	case x.Code == "" && o[model.RefRange] != "":
		return moreSlices
	}
	return "what to do with reservations of deleted pods (files below /var/lib/cni/networks, which only a DEL removes); if all pods run, fewer pods on the node (maxPods of its kubelet), because the podCIDR of a Node is immutable"
}

// exhausted adds the pods that wait for an address, by network and, if addresses are per node,
// by node. They come last: releasing leaked addresses may already have helped.
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
