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
	"ipamsim/scenarios"
	"ipamsim/sim/cluster"
)

// excuses compares what there is with what the import takes for it. What a dump cannot
// show is counted under its reason, and taken over from the import.
type excuses struct {
	fail  func(string, ...any)
	was   end
	is    *cluster.Sight
	pods  map[model.PodRef]*corev1.Pod // as stored
	nodes map[string]*corev1.Node
	count map[string]int
}

// ownAddress is the annotation with the address that a node announces routes from.
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
	stale      = "a pod whose status says that it runs, and whose sandbox is gone"
)

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
					x.count[moved]++
				}
			}
		}
	}
}

// policy takes over what a dump cannot show of the policy: the nodes that pools serve,
// where Calico's own datastore has lost one or the Node is gone; a pool that is gone;
// and Calico itself where nothing is left of it.
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

// served are the nodes that a pool serves, with those of the import that have an excuse.
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

// forget takes a network away from those that pods want.
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
			x.count[why]++
		} else {
			x.fail("the import does not know the sandbox of %s on %s with %s", s.Pod, s.Node, addresses(s))
		}
	}
	for i := range x.is.Truth.Sandboxes {
		if s := &x.is.Truth.Sandboxes[i]; !there[s] {
			if why := x.imagined(s); why != "" {
				x.count[why]++
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
	t.Busy = x.is.Truth.Busy // a call under way is in no dump; see cluster.Look
	for _, why := range []string{noObject, noStatus, noNode, podsLeft, unnoticed, outOfReach, device, stopped, assumed, stale, moved} {
		if x.count[why] > 0 { // ways follow from machines and addresses
			x.was.Losses = x.is.Losses
		}
	}
}

// sameNodes are the machines as they are, but for the excuses.
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
			x.count[noNode]++
			continue
		case there && !n.Registered && x.nodes[name] == nil:
			x.count[podsLeft]++
		case there && now.Healthy() && !n.Healthy() && !unheard(x.nodes[name]):
			x.count[unnoticed]++
		case there && !now.Healthy() && n.Healthy():
			x.count[outOfReach]++
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

// unseen is why a dump does not show a sandbox, or "".
func (x *excuses) unseen(s *model.Sandbox) string {
	p := x.pods[s.Pod]
	n, there := x.is.Truth.Nodes[s.Node]
	switch {
	case s.Pod.Namespace == "":
		return device
	case !there:
		return noNode
	case !n.Healthy():
		return outOfReach
	case p == nil || string(p.UID) != s.UID:
		return noObject
	case !reported(p, s):
		return noStatus
	}
	return ""
}

// reported reports whether the pod's status has every address of its sandbox.
func reported(p *corev1.Pod, s *model.Sandbox) bool {
	text := p.Annotations["k8s.v1.cni.cncf.io/network-status"] + p.Status.PodIP
	for _, ip := range p.Status.PodIPs {
		text += " " + ip.IP
	}
	for _, a := range s.Attachments {
		for _, addr := range a.Addrs {
			if !strings.Contains(text, addr.String()) {
				return false
			}
		}
	}
	return len(s.Attachments) > 0 && p.Status.Phase == corev1.PodRunning
}

// imagined is why a dump shows a sandbox that is not there, or "".
func (x *excuses) imagined(s *model.Sandbox) string {
	p, n := x.pods[s.Pod], x.was.Truth.Nodes[s.Node]
	switch {
	case s.Pod.Namespace == "":
		return device
	case p == nil:
		return ""
	case x.nodes[s.Node] == nil:
		return podsLeft
	case !n.Healthy():
		return unnoticed
	case p.DeletionTimestamp != nil:
		return stopped
	case !reported(p, s):
		return assumed
	}
	return stale
}

// sameSandbox compares everything of two sandboxes that has no time in it.
func (x *excuses) sameSandbox(was, is *model.Sandbox) {
	strip := func(s *model.Sandbox) model.Sandbox {
		out := *s
		out.Since, out.UID, out.Attachments = 0, "", slices.Clone(s.Attachments)
		for i := range out.Attachments {
			out.Attachments[i].Since = 0
		}
		return out
	}
	if was.ID != is.ID && len(x.claimants(was)) != 1 {
		x.count[noID]++
		was.ID = is.ID
	}
	if a, b := fmt.Sprintf("%+v", strip(was)), fmt.Sprintf("%+v", strip(is)); a != b {
		x.fail("another sandbox:\n  was %s\n  is  %s", a, b)
	}
}

// claimants are the containers for which the record claims a sandbox's addresses.
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

// samePods compares the pod objects. Their uids are the API server's own.
func (x *excuses) samePods() {
	now := map[model.PodRef]model.Pod{}
	for ref, p := range x.was.Truth.Pods {
		is, ok := x.is.Truth.Pods[ref]
		if done := p.Phase == "Succeeded" || p.Phase == "Failed"; !ok && (done || len(p.Networks) == 0) {
			continue // it holds nothing, or wants nothing
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
