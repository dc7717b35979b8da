package dump

import (
	"net/netip"
	"slices"

	"ipamsim/reports/layout"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/workload"
)

// Running is a pod of the scenario: a running sandbox, or a finished pod that the record still
// names.
type Running struct {
	*kept.Pod
	ID       string       // of the container
	Addrs    []netip.Addr // of the primary network
	Attached []Attachment // of the others
	Asked    []kept.Selection
	made     *workload.Controller // recreates the pod; nil: no controller in the scenario
}

// Attachment is a pod's interface of an attached network.
type Attachment struct {
	Network, Interface string // Network.Key
	Addrs              []netip.Addr
}

// living decides which pods there are, and with which addresses.
func (d *Draft) living() {
	claims := map[string][]Claim{}
	for _, cl := range d.claims() {
		if cl.Pod != "" {
			claims[cl.Pod] = append(claims[cl.Pod], cl)
		}
	}
	if len(d.Pods) == 0 && !d.SawKind("Pod") {
		d.noPods(claims)
	} else {
		d.unseen(claims)
	}
	var t tally
	for _, ref := range d.Pods.Keys() {
		d.Origin("Pod "+ref, d.Pods[ref].From)
		p := &d.Pods[ref].Value
		d.take(p, claims[ref], &t)
	}
	t.report(d)
	if n := len(d.waiting); n > 0 {
		d.Unknown("%s no address yet; a dump does not show since when, nor the results of their ADDs", layout.Count(n, "pod has", "pods have"))
	}
	d.reportContainers()
}

// noPods concludes the pods from the record of a dump that has none.
func (d *Draft) noPods(claims map[string][]Claim) {
	d.report.NoPods, d.Cluster.reported = true, nil
	for _, r := range d.present {
		if r.record.Pods != nil {
			r.record.Pods(claims)
		}
	}
	for ref, all := range claims {
		if !slices.ContainsFunc(all, func(cl Claim) bool { return !cl.Unused }) {
			delete(claims, ref)
		}
	}
	d.unseenGuards(d.Absences(d.Pods, d.Cluster.Nodes, d.Namespaces), nil)
	if d.fromClaims(claims) > 0 {
		d.Unknown("no pods in the dump: every address claimed for a pod is assumed to be in use, so leaks cannot be judged")
	}
}

// primary is the manager of the cluster's default network, nil if it is none of the dump's.
func (d *Draft) primary() *Record {
	for _, r := range d.present {
		if r.record.Primary != nil {
			return r.record
		}
	}
	return nil
}

// tally counts what becomes of pods.
type tally struct {
	host, finished, waiting, elsewhere, ended, windows int

	assumed, lost []string
}

func (t *tally) report(d *Draft) {
	for _, x := range []struct {
		n         int
		one, many string
	}{
		{t.host, "pod on the host network", "pods on the host network"},
		{t.finished, "finished pod without an address", "finished pods without an address"},
		{t.waiting, "pod that requests no address", "pods that request no address"},
		{t.elsewhere, "pod whose address manager is not in the dump", "pods whose address manager is not in the dump"},
		{t.ended, "deleted pod whose network is already removed", "deleted pods whose network is already removed"},
		{t.windows, "pod on Windows nodes without " + d.servers(), "pods on Windows nodes without " + d.servers()},
	} {
		if x.n > 0 {
			d.Left("%s", layout.Count(x.n, x.one, x.many))
		}
	}
	going := 0
	for i := range d.Running {
		if d.Running[i].Deleting {
			going++
		}
	}
	if going > 0 {
		d.Unknown("the progress of the deletion of %s: it starts at 0s in the timeline", layout.Plural(going, "pod"))
	}
	d.report.assumed = t.assumed
	d.unheard(t.assumed)
	if len(t.assumed) > 0 {
		d.Unknown("pods that report no address although the record has one for them, %s: assumed to have it", d.Some(t.assumed))
	}
	if len(t.lost) > 0 {
		d.Unknown("pods that request networks without a definition in the dump, or of another manager, %s: simulated without these networks", d.Some(t.lost))
	}
}

// take decides about one pod of the dump.
func (d *Draft) take(p *kept.Pod, claims []Claim, t *tally) {
	r := Running{Pod: p}
	primary := d.primary()
	switch {
	case p.HostNetwork:
		t.host++
		return
	case p.Finished():
		if len(claims) == 0 {
			t.finished++
			return
		}
		d.asks(&r, t)
		d.finished = append(d.finished, r)
		return
	case d.foreign[p.Node]:
		t.windows++
		return
	case primary != nil:
		addrs, down := primary.Primary(p, claims)
		if down && p.Deleting {
			t.ended++
			return
		}
		if down {
			again := *p // its next sandbox is yet to come
			again.Phase, again.IPs = "Pending", nil
			r.Pod, p = &again, &again
		}
		r.Addrs = addrs
	}
	d.asks(&r, t)
	for _, s := range kept.Statuses(p.Annotations[kept.StatusAnnotation]) {
		if n := d.reported(s, p.Namespace); n != nil && len(s.Addrs()) > 0 && !s.Default {
			r.Attached = append(r.Attached, Attachment{n.Key, s.Interface, s.Addrs()})
		}
	}
	if d.supply(&r, claims) {
		t.assumed = append(t.assumed, r.Ref())
	}
	if len(r.Addrs)+len(r.Attached) == 0 {
		switch {
		case len(p.IPs) > 0:
			t.elsewhere++
		case primary != nil || len(r.Asked) > 0:
			d.waiting = append(d.waiting, r)
		default:
			t.waiting++
		}
		return
	}
	if p.Node == "" {
		d.waiting = append(d.waiting, r)
		return
	}
	r.ID = d.containerOf(&r, claims)
	d.Running = append(d.Running, r)
}

// asks keeps what the pod asks for of the networks that are simulated.
func (d *Draft) asks(r *Running, t *tally) {
	lost := false
	for _, s := range kept.Selections(r.Annotations[kept.NetworksAnnotation], r.Namespace) {
		if d.network(s.Namespace+"/"+s.Name) != nil {
			r.Asked = append(r.Asked, s)
		} else {
			lost = true
		}
	}
	if lost && len(r.Asked) == 0 && slices.ContainsFunc(d.present, func(r *reading) bool { return r.manager.Network != nil }) {
		t.lost = append(t.lost, r.Ref())
	}
}

// reported is the network that an entry of the network status is about. Multus
// before 3.5 wrote the name of the CNI configuration.
func (d *Draft) reported(s kept.Status, namespace string) *Network {
	if n := d.network(kept.Qualified(s.Name, namespace)); n != nil {
		return n
	}
	for i := range d.networks {
		if n := &d.networks[i]; n.Invoked != "" && n.Invoked == s.Name && slices.ContainsFunc(s.Addrs(), n.Contains) {
			return n
		}
	}
	return nil
}

// supply gives a pod that has reported no address, and is not finished, the address in the record.
// Between ADD and the kubelet's report it would otherwise look like a leak, and the operator might
// release an address that is in use.
func (d *Draft) supply(r *Running, claims []Claim) bool {
	had := len(r.Addrs)+len(r.Attached) > 0
	changed := false
	if r.Waits(d.Nodes[r.Node]) {
		return false
	}
	for _, cl := range claims {
		switch {
		case !cl.Attached:
			if !had && r.Node != "" && (cl.Node == "" || cl.Node == r.Node) && d.annotated(r) == "" {
				r.Addrs, changed = append(r.Addrs, cl.Addr), true
			}
		case r.Annotations[kept.StatusAnnotation] == "" && r.Node != "":
			if a, ok := d.attachment(r, cl); ok {
				r.Attached, changed = append(r.Attached, a), true
			}
		}
	}
	return changed
}

// annotated is the container id that a manager wrote of a pod, "" if none has.
func (d *Draft) annotated(r *Running) string {
	for _, x := range d.readings {
		if key := x.manager.Annotations.Container; key != "" && begins(key, x.importer.PodNotes) && r.Annotations[key] != "" {
			return r.Annotations[key]
		}
	}
	return ""
}

// attachment is the interface of a pod that a claim is for.
func (d *Draft) attachment(r *Running, cl Claim) (Attachment, bool) {
	for _, s := range r.Asked {
		n := d.network(s.Namespace + "/" + s.Name)
		taken := slices.ContainsFunc(r.Attached, func(a Attachment) bool { return a.Interface == s.Interface })
		if n != nil && n.Contains(cl.Addr) && !taken && (cl.Interface == "" || cl.Interface == s.Interface) {
			return Attachment{n.Key, s.Interface, []netip.Addr{cl.Addr}}, true
		}
	}
	return Attachment{}, false
}

// containerOf is the sandbox that the pod runs in, by what a manager wrote, or by a claim
// of the same pod and address.
func (d *Draft) containerOf(r *Running, claims []Claim) string {
	for _, x := range d.present {
		if x.record.Container != nil {
			if id := x.record.Container(r); id != "" {
				return id
			}
		}
	}
	has := func(a netip.Addr) bool {
		return slices.Contains(r.Addrs, a) || slices.ContainsFunc(r.Attached, func(x Attachment) bool { return slices.Contains(x.Addrs, a) })
	}
	ids := map[string]bool{}
	for _, cl := range claims {
		if cl.Container != "" && has(cl.Addr) {
			ids[cl.Container] = true
		}
	}
	if len(ids) != 1 {
		return "" // none, or contradictory ones
	}
	return kept.Keys(ids)[0]
}

func (d *Draft) reportContainers() {
	var of []string
	for i := range d.Running {
		if d.Running[i].ID == "" {
			of = append(of, d.Running[i].Ref())
		}
	}
	if len(of) > 0 {
		d.Unknown("container IDs of %s: %s; made up", layout.Plural(len(of), "pod"), d.Some(of))
	}
}
