package dump

import (
	"net/netip"
	"slices"
)

// running is a pod of the scenario: a sandbox that lives, or a finished pod that
// the record still names.
type running struct {
	*pod
	container string
	addrs     []netip.Addr // of the primary network
	attached  []attachment // of the others
	asked     []selection
	made      *controller // that makes it again; nil: nobody here
}

type attachment struct {
	network, iface string
	addrs          []netip.Addr
}

func (r *running) ref() string { return r.Namespace + "/" + r.Name }

// living decides which pods there are, and with which addresses.
func (d *draft) living() error {
	claims := map[string][]claim{}
	for _, cl := range d.claimsOf() {
		if cl.pod != "" {
			claims[cl.pod] = append(claims[cl.pod], cl)
		}
	}
	if len(d.Cluster.pods) == 0 && !d.sawKind("Pod") {
		d.report.NoPods = true
		d.fromEndpoints(claims)
		if d.fromClaims(claims) > 0 {
			d.unknown("no pods in the dump: whatever is claimed for a pod is taken to be in use by it, so that leaks cannot be told")
		}
	}
	d.unseen(claims)
	var t tally
	for _, ref := range d.Cluster.pods.keys() {
		d.origin("Pod "+ref, d.Cluster.pods[ref].from)
		p := &d.Cluster.pods[ref].value
		d.take(p, claims[ref], &t)
	}
	t.tell(d)
	if n := len(d.waiting); n > 0 {
		d.unknown("%s no address yet; since when, and what their ADDs were told, is not in a dump", plural(n, "pod has", "pods have"))
	}
	d.tellContainers()
	return nil
}

// tally counts what becomes of pods.
type tally struct {
	host, finished, waiting, elsewhere, ended, windows int

	assumed, lost []string
}

func (t *tally) tell(d *draft) {
	for _, x := range []struct {
		n    int
		what string
	}{
		{t.host, "that use their node's network and have no address of their own"},
		{t.finished, "that have finished and hold nothing"},
		{t.waiting, "that ask for no address"},
		{t.elsewhere, "whose addresses no address manager of the dump gives out"},
		{t.ended, "whose network Calico has taken down already, on the way out"},
		{t.windows, "on Windows nodes without Calico"},
	} {
		if x.n > 0 {
			d.left("%s %s", plural(x.n, "pod", "pods"), x.what)
		}
	}
	going := 0
	for i := range d.running {
		if d.running[i].Deleting {
			going++
		}
	}
	if going > 0 {
		d.unknown("how far the deletion of %s has come: it begins at 0s in the timeline", plural(going, "pod", "pods"))
	}
	if len(t.assumed) > 0 {
		d.unknown("pods that reported no address yet while the record has one for them, %s: taken to have it", d.some(t.assumed))
	}
	if len(t.lost) > 0 {
		d.unknown("pods that ask for networks of which the dump has no definition, or another manager's, %s: as if they did not ask", d.some(t.lost))
	}
}

// take decides about one pod of the dump.
func (d *draft) take(p *pod, claims []claim, t *tally) {
	r := running{pod: p}
	switch {
	case p.HostNetwork:
		t.host++
		return
	case p.finished():
		if len(claims) == 0 {
			t.finished++
			return
		}
		d.select_(&r, t)
		d.finished = append(d.finished, r)
		return
	case d.foreign[p.Node]:
		t.windows++
		return
	case d.calico && p.torn() && !slices.ContainsFunc(claims, func(cl claim) bool { return cl.pool == "" }):
		if p.Deleting {
			t.ended++
			return
		}
		again := *p // its next sandbox is yet to come
		again.Phase, again.IPs = "Pending", nil
		r.pod, p = &again, &again
	case d.calico:
		r.addrs = d.primary(p, claims)
	}
	d.select_(&r, t)
	for _, s := range statuses(p.Annotations[statusAnnotation]) {
		if n := d.reported(s, p.Namespace); n != nil && len(s.addrs()) > 0 && !s.Default {
			r.attached = append(r.attached, attachment{n.key, s.Interface, s.addrs()})
		}
	}
	if d.complete(&r, claims) {
		t.assumed = append(t.assumed, r.ref())
	}
	if len(r.addrs)+len(r.attached) == 0 {
		switch {
		case len(p.IPs) > 0:
			t.elsewhere++
		case d.calico || len(r.asked) > 0:
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
	r.container = d.containerOf(&r, claims)
	d.running = append(d.running, r)
}

// select_ keeps what the pod asks for of the networks that are simulated.
func (d *draft) select_(r *running, t *tally) {
	lost := false
	for _, s := range selections(r.Annotations[networksAnnotation], r.Namespace) {
		if d.network(s.Namespace+"/"+s.Name) != nil {
			r.asked = append(r.asked, s)
		} else {
			lost = true
		}
	}
	if lost && len(r.asked) == 0 && d.ranges {
		t.lost = append(t.lost, r.ref())
	}
}

// reported is the network that an entry of the network status is about. Multus
// before 3.5 wrote the name of the CNI configuration.
func (d *draft) reported(s status, namespace string) *network {
	if n := d.network(qualified(s.Name, namespace)); n != nil {
		return n
	}
	for i := range d.networks {
		if n := &d.networks[i]; n.invoked != "" && n.invoked == s.Name && slices.ContainsFunc(s.addrs(), n.contains) {
			return n
		}
	}
	return nil
}

// complete gives a pod that has reported nothing, and is not finished, what the
// record says it holds: between ADD and the kubelet's report it would else look
// like a leak, and somebody might free an address that is in use.
func (d *draft) complete(r *running, claims []claim) bool {
	had := len(r.addrs)+len(r.attached) > 0
	changed := false
	for _, cl := range claims {
		switch {
		case cl.pool == "":
			if !had && r.Node != "" && (cl.node == "" || cl.node == r.Node) && r.Annotations[containerByCalico] == "" {
				r.addrs, changed = append(r.addrs, cl.addr), true
			}
		case r.Annotations[statusAnnotation] == "" && r.Node != "":
			if a, ok := d.attachment(r, cl); ok {
				r.attached, changed = append(r.attached, a), true
			}
		}
	}
	return changed
}

// attachment is the interface of a pod that a claim of Whereabouts is for.
func (d *draft) attachment(r *running, cl claim) (attachment, bool) {
	for _, s := range r.asked {
		n := d.network(s.Namespace + "/" + s.Name)
		taken := slices.ContainsFunc(r.attached, func(a attachment) bool { return a.iface == s.Interface })
		if n != nil && n.contains(cl.addr) && !taken && (cl.iface == "" || cl.iface == s.Interface) {
			return attachment{n.key, s.Interface, []netip.Addr{cl.addr}}, true
		}
	}
	return attachment{}, false
}

// containerOf is the sandbox that the pod runs in, by what Calico's CNI plugin
// wrote, or by a claim of the same pod and address.
func (d *draft) containerOf(r *running, claims []claim) string {
	if id := r.Annotations[containerByCalico]; id != "" && d.calico {
		return id
	}
	if e := d.endpoints[r.ref()]; e != nil && e.value.Container != "" && e.value.Node == r.Node {
		return e.value.Container
	}
	has := func(a netip.Addr) bool {
		return slices.Contains(r.addrs, a) || slices.ContainsFunc(r.attached, func(x attachment) bool { return slices.Contains(x.addrs, a) })
	}
	ids := map[string]bool{}
	for _, cl := range claims {
		if cl.container != "" && has(cl.addr) {
			ids[cl.container] = true
		}
	}
	if len(ids) != 1 {
		return "" // none, or contradictory ones
	}
	return keysOf(ids)[0]
}

func (d *draft) tellContainers() {
	var of []string
	for i := range d.running {
		if d.running[i].container == "" {
			of = append(of, d.running[i].ref())
		}
	}
	if len(of) > 0 {
		d.unknown("container ids of %s: %s; made up", plural(len(of), "pod", "pods"), d.some(of))
	}
	if len(d.blocks) == 0 && d.calico && !d.sawKind("IPAMBlock") {
		n := 0
		for _, p := range d.Cluster.pods {
			if len(p.value.IPs) > 0 && !p.value.HostNetwork && !p.value.finished() {
				n++
			}
		}
		d.unknown("no IPAMBlocks in the dump: nothing is known of who holds which of Calico's addresses, and %s without one here; kubectl get ipamblocks, with etcd calicoctl ipam show --show-blocks and --show-borrowed", plural(n, "pod is", "pods are"))
	}
}
