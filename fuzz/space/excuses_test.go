package space_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/checker"
)

// excuses compares a cluster with the result of importing its dump. A difference that a dump cannot
// avoid is counted under its reason, and the import's value is accepted: for the node or sandbox of
// the excuse, the routes that depend on it, and nothing else.
type excuses struct {
	fail  func(string, ...any)
	was   end
	is    *checker.Snapshot
	pods  map[model.PodRef]*corev1.Pod // as stored
	nodes map[string]*corev1.Node
	count map[string]int

	loose map[string]bool     // nodes with an excuse
	freed map[netip.Addr]bool // addresses of sandboxes with an excuse
}

// node and sandbox excuse a node and a sandbox.
func (x *excuses) node(name, why string) {
	x.count[why]++
	x.loose[name] = true
}

func (x *excuses) sandbox(s *model.Sandbox, why string) {
	x.count[why]++
	for _, a := range s.Attachments {
		for _, addr := range a.Addrs {
			x.freed[addr] = true
		}
	}
}

// ownAddress is the annotation with the address from which a node announces routes.
const ownAddress = "projectcalico.org/IPv4Address"

// The reasons.
const (
	noObject   = "a sandbox whose pod object is gone, or was replaced by another of its name"
	noStatus   = "a sandbox whose pod has not reported its addresses yet"
	noNode     = "a machine that runs on without a Node object"
	podsLeft   = "a Node that was deleted and still has pods: taken for one that the dump lacks"
	unnoticed  = "a machine that is off or cut off, and its Node says that it is ready"
	outOfReach = "a machine that is on, and its Node says that nobody hears of it"
	device     = "a node whose object names other addresses of its tunnels than its devices have"
	noCalico   = "a Node that Calico's own datastore has lost, which calico-node would make again"
	moved      = "a machine that was replaced under its name: its Node says a new address, and its routes use the old one"
	noPools    = "Calico without a pool, a block or an address: taken for not there"
	noID       = "a sandbox whose container id the record does not tell for certain"
	stopped    = "a pod on its way out, whose containers have stopped and whose object is not gone yet"
	assumed    = "a pod that has reported nothing, of which the record has an address: taken to use it"
	stale      = "a pod whose status has the addresses of a sandbox that is gone"
	renewed    = "a pod whose status tells the addresses of another sandbox than it has now"
	underWay   = "a call under way that no dump shows, or none where a pod has no sandbox: it is taken to have one"
	off        = "a machine that is off, and its Node says no more than that nobody hears of it"
)

// The sum of all excuses, and one that is about the whole cluster.
const (
	anyExcuse   = "any of these"
	notImported = "a cluster without a Node, or in which nothing of an address manager is left: not imported"
)

// ceilings are the percentages of worlds that may need an excuse: measured on many worlds, with a
// margin, because schedules change. Reasons that are not listed do not excuse anything.
var ceilings = map[string]float64{
	noObject: 4, noStatus: 12, noNode: 4, podsLeft: 2, unnoticed: 5, outOfReach: 4, device: 2, noCalico: 2, moved: 6,
	noPools: 2, noID: 2, stopped: 4, assumed: 7, stale: 8, renewed: 2, off: 2, underWay: 36, notImported: 2,
}

// anyExcuseMax is the percentage of worlds that may need any excuse.
const anyExcuseMax = 50

func newExcuses(fail func(string, ...any), was end, is *checker.Snapshot) *excuses {
	return &excuses{
		fail: fail, was: was, is: is, pods: map[model.PodRef]*corev1.Pod{}, nodes: map[string]*corev1.Node{}, count: map[string]int{},
		loose: map[string]bool{}, freed: map[netip.Addr]bool{},
	}
}

func (x *excuses) read(s *scenarios.Scenario) {
	first := map[string]string{}
	for _, o := range s.Objects {
		if n := (&corev1.Node{}); o.Kind == "Node" && json.Unmarshal(o.Body, n) == nil {
			first[o.Name] = n.Annotations[ownAddress]
		}
	}
	for _, o := range x.was.stored {
		switch o.Kind {
		case "Pod":
			p := &corev1.Pod{}
			if json.Unmarshal(o.Body, p) == nil {
				x.pods[model.PodRef{Namespace: o.Namespace, Name: o.Name}] = p
			}
		case "Node":
			n := &corev1.Node{}
			if json.Unmarshal(o.Body, n) == nil && n.APIVersion == "v1" {
				x.nodes[o.Name] = n
				if was, ok := first[o.Name]; ok && was != n.Annotations[ownAddress] {
					x.node(o.Name, moved)
				}
			}
		}
	}
}

// policy accepts differences of the policy that a dump cannot avoid: the nodes that pools serve, if
// Calico's datastore has lost one or a Node is gone; a pool that is gone; and Calico itself if
// nothing is left of it.
func (x *excuses) policy() {
	calico := map[string]bool{}
	for _, o := range x.was.stored {
		if o.Kind == "Node" && bytes.Contains(o.Body, []byte(`"projectcalico.org/v3"`)) {
			calico[o.Name] = true
		}
	}
	var kept []model.Network
	for _, n := range x.was.Networks {
		now := model.NetworkByKey(x.is.Networks, n.Key)
		switch {
		case n.Blocks != nil && now == nil && len(n.Blocks.Pools) == 0:
			x.count[noPools]++
			x.forget(n.Key)
			continue
		case n.Blocks != nil && now != nil && now.Blocks != nil && len(now.Blocks.Pools) == len(n.Blocks.Pools):
			n.Ranges = now.Ranges
			b := *n.Blocks
			b.Pools = slices.Clone(b.Pools)
			for i := range b.Pools {
				b.Pools[i].Nodes = x.served(b.Pools[i].Nodes, now.Blocks.Pools[i].Nodes, calico)
			}
			n.Blocks = &b
		}
		kept = append(kept, n)
	}
	x.was.Networks = kept
}

// served returns the nodes that a pool serves, with the import's nodes that have an excuse.
func (x *excuses) served(was, is []string, calico map[string]bool) []string {
	out := slices.Clone(was)
	for _, name := range is {
		switch {
		case slices.Contains(was, name):
		case x.nodes[name] == nil: // see podsLeft
			out = append(out, name)
		case len(calico) > 0 && !calico[name]:
			x.count[noCalico]++
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// forget removes a network from the requests of pods.
func (x *excuses) forget(key string) {
	x.was.Truth.Pods = maps.Clone(x.was.Truth.Pods)
	for ref, p := range x.was.Truth.Pods {
		p.Networks = slices.DeleteFunc(slices.Clone(p.Networks), func(k string) bool { return k == key })
		x.was.Truth.Pods[ref] = p
	}
}

func (x *excuses) truth() {
	t := &x.was.Truth
	t.Nodes = x.sameNodes()
	var kept []model.Sandbox
	known := map[string]*model.Sandbox{}
	for i := range x.is.Truth.Sandboxes {
		s := &x.is.Truth.Sandboxes[i]
		known[s.Node+" "+s.Pod.String()+" "+addresses(s)] = s
	}
	there := map[*model.Sandbox]bool{}
	for i := range t.Sandboxes {
		s := &t.Sandboxes[i]
		if now := known[s.Node+" "+s.Pod.String()+" "+addresses(s)]; now != nil && !there[now] {
			there[now] = true
			x.sameSandbox(s, now)
			kept = append(kept, *s)
		} else if why := x.unseen(s); why != "" {
			x.sandbox(s, why)
		} else {
			x.fail("the import does not know the sandbox of %s on %s with %s", s.Pod, s.Node, addresses(s))
		}
	}
	for i := range x.is.Truth.Sandboxes {
		if s := &x.is.Truth.Sandboxes[i]; !there[s] {
			if why := x.imagined(s); why != "" {
				x.sandbox(s, why)
				kept = append(kept, *s)
			} else {
				x.fail("the import has a sandbox of %s on %s with %s, which is not there", s.Pod, s.Node, addresses(s))
			}
		}
	}
	slices.SortFunc(kept, func(a, b model.Sandbox) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Pod.String(), b.Pod.String()), cmp.Compare(a.ID, b.ID))
	})
	t.Sandboxes = kept
	x.samePods()
	x.sameBusy()
	x.sameLosses()
}

// sameBusy accepts the import's active calls, which a dump does not show, and counts a difference
// if they are for other pods; see cluster.CheckManifests.
func (x *excuses) sameBusy() {
	pods := func(all map[string]model.Busy) map[model.PodRef]bool {
		out := map[model.PodRef]bool{}
		for _, b := range all {
			out[b.Pod] = true
		}
		return out
	}
	if !maps.Equal(pods(x.was.Truth.Busy), pods(x.is.Truth.Busy)) {
		x.count[underWay]++
	}
	x.was.Truth.Busy = x.is.Truth.Busy
}

// sameLosses compares the lost routes that no excuse affects, and accepts the others.
func (x *excuses) sameLosses() {
	touched := func(l route.Loss) bool {
		if x.loose[l.From] || x.loose[l.On] || x.loose[l.At] || x.freed[l.To] {
			return true
		}
		return slices.ContainsFunc(x.is.Record.Affinities, func(a model.Affinity) bool { return x.loose[a.Node] && a.Block.Contains(l.To) })
	}
	not := func(l route.Loss) bool { return !touched(l) }
	timeless := func(all []route.Loss) []route.Loss {
		out := slices.Clone(all)
		for i := range out {
			out[i].Since = 0
		}
		return out
	}
	was, is := slices.DeleteFunc(timeless(x.was.Losses), touched), slices.DeleteFunc(timeless(x.is.Losses), touched)
	if !slices.Equal(was, is) {
		x.fail("other ways are lost:\n  was %+v\n  is  %+v", was, is)
	}
	x.was.Losses = append(was, slices.DeleteFunc(timeless(x.is.Losses), not)...)
	slices.SortFunc(x.was.Losses, func(a, b route.Loss) int { return cmp.Or(cmp.Compare(a.From, b.From), a.To.Compare(b.To)) })
}

// sameNodes returns the cluster's nodes, with the import's values for excused ones.
func (x *excuses) sameNodes() map[string]model.Node {
	out := map[string]model.Node{}
	for name, n := range x.was.Truth.Nodes {
		now, there := x.is.Truth.Nodes[name]
		switch {
		case there && now.Healthy() == n.Healthy() && now.Registered == n.Registered:
			out[name] = n
			continue
		case !there && !n.Registered && !n.Up:
			continue // nothing is left of it
		case !there && !n.Registered:
			x.node(name, noNode)
			continue
		case there && !n.Registered && x.nodes[name] == nil:
			x.node(name, podsLeft)
		case there && now.Healthy() && !n.Healthy() && !unheard(x.nodes[name]):
			x.node(name, unnoticed)
		case there && !now.Healthy() && n.Healthy() && unheard(x.nodes[name]):
			x.node(name, outOfReach)
		default:
			x.fail("node %s: was %+v, is %+v, there %v", name, n, now, there)
		}
		out[name] = now
	}
	for name := range x.is.Truth.Nodes {
		if _, ok := x.was.Truth.Nodes[name]; !ok {
			x.fail("the import has a node %s, which is not there", name)
		}
	}
	return out
}

func unheard(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown
	})
}

// sameSandbox compares two sandboxes except for times.
func (x *excuses) sameSandbox(was, is *model.Sandbox) {
	strip := func(s *model.Sandbox) model.Sandbox {
		out := *s
		out.Since, out.UID, out.Attachments = 0, "", slices.Clone(s.Attachments)
		for i := range out.Attachments {
			out.Attachments[i].Since, out.Attachments[i].OfPool = 0, false // a dump does not show what a namespace requests
		}
		return out
	}
	if was.ID != is.ID && len(x.claimants(was)) != 1 {
		x.count[noID]++
		was.ID = is.ID
	}
	if was.Stopped && !is.Stopped { // a dump shows addresses, not processes
		why := stale
		if p := x.pods[was.Pod]; p != nil && p.DeletionTimestamp != nil {
			why = stopped
		}
		x.sandbox(was, why)
		was.Stopped = false
	}
	if a, b := fmt.Sprintf("%+v", strip(was)), fmt.Sprintf("%+v", strip(is)); a != b {
		x.fail("another sandbox:\n  was %s\n  is  %s", a, b)
	}
}

// claimants returns the containers for which the record claims a sandbox's addresses.
func (x *excuses) claimants(s *model.Sandbox) map[string]bool {
	out := map[string]bool{}
	for _, c := range x.is.Record.Claims {
		for _, a := range s.Attachments {
			if c.Pod == s.Pod && c.Container != "" && slices.Contains(a.Addrs, c.Addr) {
				out[c.Container] = true
			}
		}
	}
	return out
}

// samePods compares the pod objects, without the UIDs that the API server assigns.
func (x *excuses) samePods() {
	now := map[model.PodRef]model.Pod{}
	for ref, p := range x.was.Truth.Pods {
		is, ok := x.is.Truth.Pods[ref]
		if done := p.Phase == "Succeeded" || p.Phase == "Failed"; !ok && (done || len(p.Networks) == 0) {
			continue // it has no address, or requests none
		}
		if !ok {
			x.fail("the import has no pod %s", ref)
			continue
		}
		p.UID, p.Since, is.Since = is.UID, 0, 0
		if !reflect.DeepEqual(p, is) {
			x.fail("pod %s: was %+v, is %+v", ref, p, is)
		}
		now[ref] = p
	}
	for ref := range x.is.Truth.Pods {
		if _, ok := x.was.Truth.Pods[ref]; !ok {
			x.fail("the import has a pod %s, which is not there", ref)
		}
	}
	for i := range x.was.Truth.Sandboxes {
		s := &x.was.Truth.Sandboxes[i]
		if p, ok := now[s.Pod]; ok {
			s.UID = p.UID
		}
	}
	x.was.Truth.Pods = now
}

func addresses(s *model.Sandbox) string {
	var out []string
	for _, a := range s.Attachments {
		out = append(out, fmt.Sprint(a.Network, " ", a.Interface, " ", list(a.Addrs), " ", list(a.Static)))
	}
	return strings.Join(out, ", ")
}

func list(all []netip.Addr) string { return strings.Trim(fmt.Sprint(all), "[]") }
