// Package storytest has reports of runs that were built by hand, for tests.
package storytest

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/reports"
	"ipamsim/sim"
	"ipamsim/sim/kube/exchange"
)

// story builds a report by hand, the way a run would.
type story struct {
	r  *reports.Report
	at time.Duration
}

func newStory() *story {
	return &story{r: &reports.Report{
		Scenario: "r1-whereabouts-162", Title: "the ip-reconciler removes the address of a pod that is still Pending",
		Story: "Whereabouts has allocated the address, but Multus has not\nwritten network-status yet.\n\nThe next pod is given the same address.\n",
		File:  "scenarios/r1-whereabouts-162.yaml", Upstream: "github.com/k8snetworkplumbingwg/whereabouts@v0.9.4",
		Seed: 1, Strategy: "timed", Store: "etcd", Verdict: reports.Pass, Exact: true,
		Wall: 410 * time.Millisecond, Digest: "00112233445566aa", StoreDigest: "ffeeddccbbaa9988",
		Trace: &sim.Trace{}, History: &model.History{},
		Act: detailAct,
	}}
}

// messageAct is the Detail of a manager's message: its act.
type messageAct struct{ act.Act }

// detailAct returns the act of a detail, and the zero value for other messages.
func detailAct(d any) act.Act {
	t, _ := d.(messageAct)
	return t.Act
}

// step adds a message; did is its act, if known.
func (s *story) step(after time.Duration, actor, key string, did act.Act, status int, note string) *sim.Step {
	s.at += after
	verb, object, _ := strings.Cut(key, " ")
	parts := strings.Split(object, "/")
	_, rev, _ := strings.Cut(note, "rv=")
	x := exchange.Exchange{Verb: strings.ToLower(verb), Resource: parts[0], Status: status, Revision: rev}
	if len(parts) > 2 {
		x.Namespace, x.Name = parts[1], parts[2]
	}
	kind := sim.Write
	if x.Verb == "get" || x.Verb == "list" {
		kind = sim.Read
	}
	var detail any = x
	if did.Verb != "" {
		of := x.Act()
		did.Outcome, did.Status, did.Error, did.Left = of.Outcome, of.Status, of.Error, of.Left
		detail = messageAct{did}
	}
	st := &sim.Step{Note: note, Detail: detail, Decision: sim.Decision{
		Step: len(s.r.Trace.Steps) + 1, At: s.at, Enabled: 2,
		Choice: sim.Choice{Op: sim.Op{Actor: sim.ActorID(actor), Seq: 1, Kind: kind, Key: key, Request: requestOf(verb, object)}},
	}}
	s.r.Trace.Steps = append(s.r.Trace.Steps, st)
	s.r.Calls++
	return st
}

// nothing is what a manager says of others' messages.
var nothing act.Act

func requestOf(verb, object string) *sim.Request {
	resource, _, _ := strings.Cut(object, "/")
	return &sim.Request{Verb: verb, Resource: resource, Path: object}
}

func (s *story) others(n int) {
	for i := range n {
		s.step(time.Millisecond, fmt.Sprintf("kubelet/worker-9/default/other-%d", i), "PATCH pods/default/other/status", nothing, 200, "200 rv=5")
	}
}

func (s *story) event(e model.Event) {
	e.Step, e.At = len(s.r.Trace.Steps), s.at
	s.r.History.Add(e)
}

func (s *story) breaks(invariant string, severity model.Severity, message string, objects ...string) {
	s.r.Verdict = reports.Fail
	refs := make([]model.Ref, len(objects))
	for i, o := range objects {
		if err := refs[i].UnmarshalText([]byte(o)); err != nil {
			panic(err)
		}
	}
	s.r.Virtual = s.at
	s.r.Violations = append(s.r.Violations, model.Violation{
		Invariant: invariant, Severity: severity, At: s.at, Step: len(s.r.Trace.Steps), Message: message, Objects: refs,
	})
}

var web2, web3 = model.PodRef{Namespace: "default", Name: "web-2"}, model.PodRef{Namespace: "default", Name: "web-3"}

const (
	network = "default/whereabouts-conf"
	pool    = "ippools/default/10.128.40.0-24"
	address = "10.128.40.47"
)

func (s *story) sandbox(p model.PodRef, node string) {
	s.event(model.Event{Kind: model.SandboxUp, Pod: p, Node: node, Container: container(p)})
}

func container(p model.PodRef) string { return strings.Repeat(p.Name[4:], 64) }

func (s *story) add(p model.PodRef, node, rev, next string) {
	actor := "cni-add/" + p.String() + "/net1"
	call := model.Event{Kind: model.AddBegin, Actor: actor, Pod: p, Node: node, Network: network, Interface: "net1", Container: container(p)}
	s.event(call)
	s.step(4*time.Millisecond, actor, "GET "+pool, poolRead(rev, 2), 200, "200 rv="+rev)
	s.step(4*time.Millisecond, actor, "PATCH "+pool, poolGives(p, rev), 200, "200 rv="+next)
	call.Kind, call.Addrs = model.AddEnd, []netip.Addr{netip.MustParseAddr(address)}
	s.event(call)
}

// poolRead shows the allocations of the first few pods.
func poolRead(rev string, pods int) act.Act {
	a := act.Act{Verb: act.Read, Thing: act.Thing{Kind: act.Pool, Name: "10.128.40.0-24", Revision: rev, Range: "10.128.40.0/24"}}
	for i := range pods {
		a.Thing.Parts = append(a.Thing.Parts, held(fmt.Sprint("10.128.40.", 45+i), fmt.Sprint("default/web-", i)))
	}
	return a
}

func held(addr, pod string) act.Thing {
	return act.Thing{Kind: act.Address, Name: addr, Owner: model.Ref{Kind: model.RefPod, Name: pod}}
}

func poolGives(p model.PodRef, rev string) act.Act {
	return act.Act{Verb: act.Update, Thing: act.Thing{Kind: act.Pool, Name: "10.128.40.0-24"}, Gives: []act.Thing{held(address, p.String())}, If: rev}
}
