package diagnosis

import (
	"strings"

	"ipamsim/model"
	"ipamsim/reports/imported"
	"ipamsim/scenarios/remedy"
	"ipamsim/sim/ipam"
)

// exhausted are pods that wait for an address, by network and, where addresses are a node's,
// by node. They come last: what frees an address that no pod has may have helped already.
func (d *Drafts) exhausted(known []*ipam.Manager) {
	for _, i := range d.Open(imported.Exhausted) {
		x := &d.Findings.All[i].Violation
		o := ObjectsOf(x)
		n := model.NetworkByKey(d.View.Networks, o[model.RefNetwork])
		if n == nil {
			continue // of podCIDRs: another scenario's
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
