package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/kube/exchange"
)

// TestCostOf counts a run made by hand: two ADDs: the first meets a conflict and
// tries again, a DEL, a pass of the reconciler and a daemon; and a kubelet, which is
// not the manager's.
func TestCostOf(t *testing.T) {
	r := &Report{Trace: &sim.Trace{}, History: &model.History{}, Used: model.Usage{
		Addresses: 1, AddressesMost: 2, Blocks: 1, BlocksMost: 1, Routes: 3, RoutesMost: 5,
	}}
	asks := func(actor string, kind sim.OpKind, verb string, status int) {
		r.Trace.Steps = append(r.Trace.Steps, &sim.Step{
			Decision: sim.Decision{Choice: sim.Choice{Op: sim.Op{Actor: sim.ActorID(actor), Kind: kind}}},
			Detail:   exchange.Exchange{Verb: verb, Status: status},
		})
	}
	happens := func(at time.Duration, kind model.EventKind, actor, err string) {
		r.History.Add(model.Event{At: at, Kind: kind, Actor: actor, Pod: model.PodRef{Name: actor}, Err: err})
	}
	for _, a := range []string{"cni-add/default/web-0/net1", "cni-add/default/web-1/net1", "cni-add/default/web-2/net1", "cni-del/default/web-0/net1", "ip-reconciler", "ip-reconciler~2", "pod-control-loop/worker-1"} {
		r.Upstreams = append(r.Upstreams, sim.ActorID(a))
	}
	happens(0, model.AddBegin, "cni-add/default/web-0/net1", "")
	asks("cni-add/default/web-0/net1", sim.Read, "get", 200)
	asks("cni-add/default/web-0/net1", sim.Write, "patch", 422) // the test of a JSON patch failed
	asks("cni-add/default/web-0/net1", sim.Read, "get", 200)
	asks("cni-add/default/web-0/net1", sim.Write, "patch", 200)
	happens(2*time.Second, model.AddEnd, "cni-add/default/web-0/net1", "")
	happens(0, model.AddBegin, "cni-add/default/web-1/net1", "")
	asks("cni-add/default/web-1/net1", sim.Read, "get", 200)
	asks("cni-add/default/web-1/net1", sim.Write, "update", 409)
	happens(4*time.Second, model.AddEnd, "cni-add/default/web-1/net1", "")
	happens(0, model.AddBegin, "cni-add/default/web-2/net1", "")
	happens(time.Hour, model.AddEnd, "cni-add/default/web-2/net1", "no address left") // says nothing of waiting
	happens(0, model.DelBegin, "cni-del/default/web-0/net1", "")
	asks("cni-del/default/web-0/net1", sim.Write, "delete", 404)
	happens(time.Second, model.DelEnd, "cni-del/default/web-0/net1", "")
	happens(0, model.Reconcile, "ip-reconciler", "")
	happens(0, model.Reconcile, "ip-reconciler~2", "")
	asks("ip-reconciler", sim.Read, "list", 200)
	asks("pod-control-loop/worker-1", sim.Watch, "watch", 200)
	asks("pod-control-loop/worker-1", sim.Event, "event", 200) // not requested
	asks("kubelet/worker-1", sim.Write, "update", 409)

	want := map[string]string{
		"API calls per ADD": "6 of 3", "writes per ADD": "3 of 3", "conflicts per ADD": "2 of 3", "API calls of a usual ADD": "2 of 1",
		"API calls per DEL": "1 of 1", "writes per DEL": "1 of 1", "conflicts per DEL": "0 of 1", "API calls of a usual DEL": "1 of 1",
		"API calls per pass of ip-reconciler": "1 of 2", "writes per pass of ip-reconciler": "0 of 2", "conflicts per pass of ip-reconciler": "0 of 2", "API calls of a usual pass of ip-reconciler": "0 of 1",
		"API calls per pod-control-loop": "1 of 1", "writes per pod-control-loop": "0 of 1", "conflicts per pod-control-loop": "0 of 1", "API calls of a usual pod-control-loop": "1 of 1",
		"time of an ADD, median": "2 of 1", "time of an ADD, 95 %": "2 of 1", "time of an ADD, longest": "4 of 1",
		"time of a DEL, median": "1 of 1", "time of a DEL, 95 %": "1 of 1", "time of a DEL, longest": "1 of 1",
		"addresses at most": "2 of 1", "addresses at the end": "1 of 1", "blocks at most": "1 of 1", "blocks at the end": "1 of 1",
		"routes at most": "5 of 1", "routes at the end": "3 of 1", "ADDs refused": "1 of 1", "pods without an address": "1 of 3",
	}
	got := CostOf(r)
	for _, m := range got.Measures() {
		name := m.String()
		if is := fmt.Sprintf("%g of %g", got[m].Sum, got[m].Of); is != want[name] {
			t.Errorf("%s: %s, want %s", name, is, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("not counted: %s", strings.Join(slices.Sorted(maps.Keys(want)), ", "))
	}
}

// TestCostOfNothing: a run that never began cost nothing.
func TestCostOfNothing(t *testing.T) {
	if c := CostOf(&Report{}); len(c) != 0 {
		t.Errorf("%v", c)
	}
}
