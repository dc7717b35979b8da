package storytest

import (
	"net/netip"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/reports"
	"ipamsim/sim"
)

// store adds a message to the manager's own datastore.
func (s *story) store(kind sim.OpKind, actor, key string, did act.Act) *sim.Step {
	st := s.step(4*time.Millisecond, actor, key, nothing, 0, "ok")
	st.Choice.Op.Kind, st.Detail = kind, messageAct{did}
	return st
}

const (
	primary = "k8s-pod-network"
	blocks  = "/calico/ipam/v2/assignment/ipv4/block/"
	hosts   = "/calico/ipam/v2/host/"
	handles = "/calico/ipam/v2/handle/"
)

// claim is a node's way to a block of its own.
func (s *story) claim(actor, node, block string) {
	name := strings.Replace(block, "/", "-", 1)
	affinity := hosts + node + "/ipv4/block/" + name
	owner := model.Ref{Kind: model.RefNode, Name: node}
	s.store(sim.Read, actor, "List "+blocks, act.Act{Verb: act.List, Thing: act.Thing{Kind: act.Block}})
	s.store(sim.Write, actor, "Create "+affinity, act.Act{Verb: act.Create, Thing: act.Thing{Kind: act.Affinity, Name: block, Owner: owner, State: model.Pending}})
	s.store(sim.Write, actor, "Create "+blocks+name, act.Act{Verb: act.Create, Thing: act.Thing{Kind: act.Block, Name: block, Owner: owner}})
	s.store(sim.Write, actor, "Update "+affinity, act.Act{Verb: act.Update, Thing: act.Thing{Kind: act.Affinity, Name: block, Owner: owner, State: model.Confirmed}})
}

// assign is the end of an ADD: an address out of a block.
func (s *story) assign(p model.PodRef, node, owner, block, addr string) {
	actor := "cni-add/" + p.String() + "/eth0"
	call := model.Event{Kind: model.AddBegin, Actor: actor, Pod: p, Node: node, Network: primary, Interface: "eth0", Container: container(p)}
	s.event(call)
	if owner == "" {
		owner = node
		s.claim(actor, node, block)
	}
	name := strings.Replace(block, "/", "-", 1)
	read := act.Act{Verb: act.Read, Thing: act.Thing{Kind: act.Block, Name: block, Owner: model.Ref{Kind: model.RefNode, Name: owner}, Revision: "7", Used: 3, Size: 64}}
	s.store(sim.Read, actor, "List "+hosts+node+"/ipv4/block", act.Act{Verb: act.List, Thing: act.Thing{Kind: act.Affinity, Owner: model.Ref{Kind: model.RefNode, Name: node}}})
	s.store(sim.Read, actor, "Get "+blocks+name, read)
	s.store(sim.Write, actor, "Create "+handles+primary+"."+container(p), act.Act{Verb: act.Create, Thing: act.Thing{
		Kind: act.Handle, Name: primary + "." + container(p), Parts: []act.Thing{{Kind: act.Block, Name: block, Used: 1}},
	}})
	write := read
	write.Verb, write.Gives, write.If, write.Thing.Revision = act.Update, []act.Thing{held(addr, p.String())}, "7", ""
	s.store(sim.Write, actor, "Update "+blocks+name, write)
	call.Kind, call.Addrs = model.AddEnd, []netip.Addr{netip.MustParseAddr(addr)}
	s.event(call)
}

// staging is the story of seeds/000: the third node has no block, borrows the
// first address of the first node's block, and that node swallows what is sent to
// it.
func Staging() *reports.Report {
	s := newStory()
	s.r.Scenario, s.r.File, s.r.Upstream = "wikimedia-w2", "scenarios/wikimedia-w2.yaml", "github.com/projectcalico/calico@v3.31.0"
	s.r.Title, s.r.Story = "a borrowed address is swallowed by the node that owns its block", ""
	echo := func(n string) model.PodRef { return model.PodRef{Namespace: "default", Name: "echo-" + n} }
	for i, node := range []string{"kubestage1001", "kubestage1002"} {
		p := echo([]string{"a", "b"}[i])
		s.sandbox(p, node)
		s.assign(p, node, "", []string{"10.64.75.0/26", "10.64.75.64/26"}[i], []string{"10.64.75.4", "10.64.75.64"}[i])
	}
	s.others(30)
	for _, n := range strings.Split("d e f", " ") {
		s.sandbox(echo(n), "kubestage1001")
		s.assign(echo(n), "kubestage1001", "kubestage1001", "10.64.75.0/26", "10.64.75."+map[string]string{"d": "5", "e": "6", "f": "7"}[n])
	}
	s.at = 10 * time.Minute
	s.event(model.Event{Kind: model.NodeEvent, Node: "kubestage1003", Text: "up"})
	s.others(5)
	s.sandbox(echo("c"), "kubestage1003")
	s.assign(echo("c"), "kubestage1003", "kubestage1001", "10.64.75.0/26", "10.64.75.0")
	s.at += 10 * time.Second
	s.event(model.Event{Kind: model.Operator, Actor: "operator", Text: "ip route"})
	s.event(model.Event{Kind: model.Output, Actor: "operator", Node: "kubestage1001", Text: "ip route", Output: "default via 10.64.0.1 dev eno1 onlink \nblackhole 10.64.75.0/26 proto bird \n10.64.75.4 dev cali21fc9e9645e scope link \n"})
	s.breaks("blackholed-address", model.Critical,
		`kubestage1001 cannot reach 10.64.75.0 on kubestage1003 (default/echo-c) since 10m0s: dropped on the node itself by "blackhole 10.64.75.0/26 proto bird"`,
		"address 10.64.75.0", "node kubestage1001", "pod default/echo-c")
	s.breaks("starved-node", model.Major, "kubestage1003 has no block in network k8s-pod-network and default/echo-c has borrowed 10.64.75.0, while block 10.64.75.64/26 of kubestage1002 is empty",
		"block 10.64.75.64/26", "network k8s-pod-network", "node kubestage1002", "node kubestage1003")
	return Sampled(s.r)
}
