package diagnosis

import (
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/scenarios/dump/reported"
	"ipamsim/scenarios/remedy"
	"ipamsim/sim/ipam"
)

// decisions are the operator's decisions about conflicts that pods and Services report.
var decisions = map[string]string{
	reported.Twice:   "which pod keeps the address. The other pod gets a different address only if the address manager knows that this one is in use",
	reported.Gateway: "where the network's range begins. First exclude the gateway's address (range_start or exclude), then delete the pod: otherwise its replacement could get the address again",
	reported.OfNode:  "which range pods use. First exclude the addresses of nodes, then delete the pod",
	reported.Outside: "what is wrong with the node's CNI configuration (/etc/cni/net.d), which assigns addresses from another node's podCIDR. First correct it, then delete the pod",
	reported.Service: "which Service keeps the address. Change the request of the other one, or give both a common sharing key if the address manager supports it",
}

// reported adds the conflicts that pods report, whichever manager assigned the addresses. Of two
// pods with one address, the one that the record does not name is restarted; a pod with its network's
// gateway, once that is excluded.
func (d *Drafts) reported(known []*ipam.Manager) {
	for i := range d.Findings.All {
		x := &d.Findings.All[i]
		decide := decisions[x.Code]
		if x.Problem > 0 || decide == "" {
			continue
		}
		p := remedy.Problem{Else: decide}
		if x.Code == reported.Twice {
			d.twice(&x.Violation, &p)
		}
		if x.Code == reported.Gateway {
			d.gateway(&x.Violation, &p, known)
		}
		d.Add([]int{i}, p)
	}
}

// twice adds remedies for pods that report one address. A pod that is not in the scenario
// has its address from a manager that is not simulated.
func (d *Drafts) twice(x *model.Violation, p *remedy.Problem) {
	addr, err := netip.ParseAddr(model.Named(x.Objects, model.RefAddress))
	var pods, rightful []model.PodRef
	for _, o := range x.Objects {
		if o.Kind == model.RefPod {
			pods = append(pods, PodRef(o.Name))
		}
	}
	if err != nil || slices.ContainsFunc(pods, func(p model.PodRef) bool { return len(d.Has[p]) == 0 }) {
		return
	}
	for _, cl := range d.claims[addr] {
		if slices.Contains(pods, cl.Pod) {
			rightful = append(rightful, cl.Pod)
		}
	}
	if len(rightful) == 0 {
		return // the claim that decides may not be in the dump
	}
	before := d.sandboxes(pods)
	p.Holds = func(t *model.Truth) bool { return together(t, addr, before) }
	for _, pod := range pods {
		if slices.Contains(rightful, pod) {
			continue
		}
		steps, moved, ruled := d.Move([]model.PodRef{pod}, false)
		p.Ruled = append(p.Ruled, ruled...)
		if len(moved) > 0 {
			p.Try = append(p.Try, remedy.Remedy{Steps: steps, Pods: moved, Cautions: []remedy.Caution{remedy.PodCaution}})
		}
	}
}

// gateway adds the remedy for pods that have the gateway of their network.
func (d *Drafts) gateway(x *model.Violation, p *remedy.Problem, known []*ipam.Manager) {
	addr, err := netip.ParseAddr(model.Named(x.Objects, model.RefAddress))
	var pods []model.PodRef
	for _, o := range x.Objects {
		if o.Kind == model.RefPod {
			pods = append(pods, PodRef(o.Name))
		}
	}
	if err != nil || slices.ContainsFunc(pods, func(p model.PodRef) bool { return !slices.Contains(d.Has[p], addr) }) {
		return
	}
	for _, m := range known {
		r, ok := ipam.Part[*Remedies](m)
		if !ok || r.Exclude == nil {
			continue
		}
		if step := r.Exclude(d, model.Named(x.Objects, model.RefNetwork), addr); step != nil {
			steps, moved, ruled := d.Move(pods, false)
			p.Ruled, p.Holds = ruled, func(t *model.Truth) bool { return holder(t, addr) }
			if len(moved) == len(pods) {
				p.Try = []remedy.Remedy{{Steps: append([]remedy.Step{step}, steps...), Pods: moved, Cautions: []remedy.Caution{remedy.PodCaution}}}
			}
			return
		}
	}
}

// holder reports whether a sandbox has an address.
func holder(t *model.Truth, addr netip.Addr) bool {
	return slices.ContainsFunc(t.Sandboxes, func(s model.Sandbox) bool {
		return !s.Stopped && slices.ContainsFunc(s.Attachments, func(a model.Attachment) bool { return slices.Contains(a.Addrs, addr) })
	})
}

// sandboxes returns the IDs of the sandboxes of pods.
func (d *Drafts) sandboxes(pods []model.PodRef) (ids []string) {
	for i := range d.View.Truth.Sandboxes {
		if s := &d.View.Truth.Sandboxes[i]; slices.Contains(pods, s.Pod) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// together reports whether two of the sandboxes that reported one address still run, or two
// sandboxes have it.
func together(t *model.Truth, addr netip.Addr, ids []string) bool {
	live, have := 0, 0
	for i := range t.Sandboxes {
		s := &t.Sandboxes[i]
		if s.Stopped {
			continue
		}
		if slices.Contains(ids, s.ID) {
			live++
		}
		if slices.ContainsFunc(s.Attachments, func(a model.Attachment) bool { return slices.Contains(a.Addrs, addr) }) {
			have++
		}
	}
	return live > 1 || have > 1
}
