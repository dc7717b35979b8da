package cause_test

import (
	"testing"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
)

// did is the recorded effect of a message of a play.
type did act.Act

func (d did) Act() act.Act { return act.Act(d) }

// A pass that removes a pod's claim is described by what it read of the pod: no pod, or a pod
// without the address, and whether it read the pod again.
func TestWhatAPassHadSeen(t *testing.T) {
	pod := func(state string, reports ...string) act.Thing {
		t := act.Thing{Kind: act.Pod, Name: "default/web-0", State: state}
		for _, a := range reports {
			t.Parts = append(t.Parts, act.Thing{Kind: act.NetworkStatus, Parts: []act.Thing{{Kind: act.Address, Name: a}}})
		}
		return t
	}
	for _, x := range []struct {
		name   string
		listed []act.Thing
		again  bool
		want   string
	}{
		{"none", []act.Thing{{Kind: act.Pod, Name: "default/other", State: "Running"}}, false, " absent"},
		{"its address", []act.Thing{pod("Running", addr.String())}, false, " reported"},
		{"another address", []act.Thing{pod("Pending", "10.0.0.9")}, false, " unreported, once"},
		{"no address yet", []act.Thing{pod("Pending")}, true, " unreported"},
		{"no address any more", []act.Thing{pod("Failed")}, true, " over"},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := newPlay(t)
			p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
			p.claims(claim(web, "c1"))
			p.step(sim.Read, "ip-reconciler", "LIST", "pods").Detail = did{Verb: act.List, Thing: act.Thing{Kind: act.Pod, Parts: x.listed}}
			if x.again {
				st := p.step(sim.Read, "ip-reconciler", "GET", "pods/web-0")
				st.Choice.Op.Request.Namespace = "default"
			}
			p.step(sim.Write, "ip-reconciler", "PATCH", "ippools/a")
			p.claims()
			p.want(p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web)), "unbacked-sandbox, wrote ip-reconciler PATCH ippools removed"+x.want)
		})
	}
}

// Processes that watch pods receive every change, so the time of their list does not matter.
func TestWatchersHaveNoList(t *testing.T) {
	p := newPlay(t)
	p.step(sim.Read, "pod-control-loop/n1", "LIST", "pods").Detail = did{Verb: act.List, Thing: act.Thing{Kind: act.Pod}}
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	p.claims(claim(web, "c1"))
	p.step(sim.Event, "pod-control-loop/n1", "EVENT", "pods")
	p.step(sim.Write, "pod-control-loop/n1", "PATCH", "ippools/a")
	p.claims()
	p.want(p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web)), "unbacked-sandbox, wrote pod-control-loop PATCH ippools removed")
}

// An eviction deletes the pod, too. A sandbox has one ADD for each network; the first ADD
// identifies the pod.
func TestEvictedPod(t *testing.T) {
	p := newPlay(t)
	begin := func(actor string) {
		p.event(model.Event{Kind: model.AddBegin, Actor: actor, Pod: web, Container: "c1"})
	}
	begin("cni-add/default/web-0/net1")
	p.step(sim.Write, "cni-add/default/web-0/net1", "PATCH", "ippools/a")
	p.claims(claim(web, "c1"))
	evict := p.step(sim.Write, "operator/default/web-0", "POST", "pods/web-0").Choice.Op.Request
	evict.Namespace, evict.Subresource = "default", "eviction"
	begin("cni-add/default/web-0/net2")
	p.step(sim.Write, "ip-reconciler", "PATCH", "ippools/a")
	p.claims()
	p.want(p.breaks("unbacked-sandbox", model.AddressOf(addr), model.PodOf(web)), "unbacked-sandbox, wrote ip-reconciler PATCH ippools removed of a terminating pod")
}
