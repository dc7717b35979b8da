package fuzz_test

import (
	"testing"

	"ipamsim/fuzz/cause"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// Every kind of action has the trigger of its class.
func TestTriggersOfActions(t *testing.T) {
	want := map[model.Class]cause.Trigger{
		model.Ordinary: cause.NoFault, model.InjectedFault: cause.Faulted, model.Crash: cause.Killed, model.OperatorAction: cause.OperatorAction,
	}
	for _, k := range action.All() {
		if k.Describe == nil {
			triggers(t, k.New(), want[k.Class])
		}
	}
	for _, x := range []struct {
		action cluster.Action
		want   cause.Trigger
	}{
		{&action.DiskFault{}, cause.Faulted},
		{&action.Terminate{}, cause.Killed},
		{&action.Scale{}, cause.NoFault},
		{&action.Second{}, cause.OperatorAction},
		// kubectl accepts a resource with or without its group.
		{&action.Delete{Resource: "statefulsets"}, cause.NoFault},
		{&action.Delete{Resource: "jobs.batch"}, cause.NoFault},
		{&action.Delete{Resource: "services"}, cause.NoFault},
		{&action.Delete{Resource: "pods", Force: true}, cause.ForcedDeletion},
		{&action.Delete{Resource: "pods.metrics.k8s.io"}, cause.OperatorAction},
		{&action.Delete{Resource: "nodes"}, cause.OperatorAction},
		{&action.Drain{Node: "n"}, cause.NoFault},
		{&action.Drain{Node: "n", Force: true}, cause.ForcedDeletion},
		{&action.Apply{Object: []byte(`{"kind": "Pod"}`)}, cause.NoFault},
		{&action.Apply{Object: []byte(`{"kind": "IPPool"}`)}, cause.OperatorAction},
		{&action.Patch{Resource: "services", Merge: map[string]any{"spec": map[string]any{"type": "NodePort"}}}, cause.NoFault},
		{&action.Patch{Resource: "services", Merge: map[string]any{"metadata": nil}}, cause.OperatorAction},
		{&action.Command{Run: "kubectl create service nodeport x"}, cause.NoFault},
		{&action.Command{Run: "kubectl patch service x"}, cause.OperatorAction},
		{&action.Command{Run: "calicoctl ipam release --ip=10.0.0.1"}, cause.OperatorAction},
	} {
		triggers(t, x.action, x.want)
	}
}

func triggers(t *testing.T, a cluster.Action, want cause.Trigger) {
	t.Helper()
	rep := &reports.Report{Trace: &sim.Trace{}, History: &model.History{}, Ledger: &model.Ledger{}}
	rep.History.Add(model.Event{Kind: model.Operator, Action: action.Ref(a)})
	rep.Violations = []model.Violation{{Invariant: "stuck", To: len(rep.History.Events)}}
	if got := cause.Of(rep, &rep.Violations[0]).Trigger; got != want {
		t.Errorf("%s: %q, want %q", action.Ref(a), got, want)
	}
}
