package diagnosis

import (
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/scenarios/dump/reported"
	"ipamsim/scenarios/remedy"
)

// decisions are what the operator has to decide of conflicts that pods and Services report.
var decisions = map[string]string{
	reported.Twice:   "which of the pods keeps the address. The other one gets another address only if what assigned this one knows that it is in use",
	reported.Gateway: "where the network's range begins. Keep the gateway's address out of it first (range_start or exclude), then delete the pod: its successor could get the address again",
	reported.OfNode:  "which range pods have. Keep the addresses of nodes out of it first, then delete the pod",
	reported.Outside: "what is wrong with the node's CNI configuration (/etc/cni/net.d), which gives out addresses of another node's podCIDR. Correct it first, then delete the pod",
	reported.Service: "which Service keeps the address. Change what the other one asks for, or give both a common sharing key if the manager of the addresses has such",
}

// reported are conflicts that pods report, whichever manager has assigned the addresses. Of two
// pods with one address, those are restarted that the record does not name for it.
func (d *Drafts) reported() {
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
		d.Add([]int{i}, p)
	}
}

// twice thinks of remedies for pods that report one address. A pod that is not in the scenario
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

// sandboxes are the ids of some pods' sandboxes.
func (d *Drafts) sandboxes(pods []model.PodRef) (ids []string) {
	for i := range d.View.Truth.Sandboxes {
		if s := &d.View.Truth.Sandboxes[i]; slices.Contains(pods, s.Pod) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// together reports whether two of some sandboxes live, which reported one address, or two
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
