package invariant

import (
	"slices"
	"testing"

	"ipamsim/model"
)

// exit is the end of a daemon at a second, with an error or without.
func exit(at float64, why string) model.Event {
	return model.Event{Kind: model.Exited, At: sec(at), Actor: "controller~2", Err: why}
}

func TestCrashLoop(t *testing.T) {
	loop := []model.Event{exit(10, "no range"), exit(35, "no range"), exit(60, "no range\nmore")}
	with := func(events ...model.Event) func(*View) {
		return func(v *View) {
			for _, e := range slices.SortedStableFunc(slices.Values(slices.Concat(loop, events)), func(a, b model.Event) int { return int(a.At - b.At) }) {
				v.History.Add(e)
			}
			v.Past = &Past{}
			v.Past.Note(*v)
		}
	}
	of := func(change func(*model.Event)) func(*View) {
		return func(v *View) {
			for _, e := range loop {
				change(&e)
				v.History.Add(e)
			}
			v.Past = &Past{}
			v.Past.Note(*v)
		}
	}
	const broken = "controller has exited 3 times in a row since 10s: no range"
	table(t, CrashLoop, []row{
		{"three times", with(), broken},
		{"users write and machines come and go", with(model.Event{Kind: model.Operator, At: sec(30), Action: model.ActionRef{Verb: "apply", Object: "Node"}},
			model.Event{Kind: model.NodeEvent, At: sec(40), Node: "node-1"},
			model.Event{Kind: model.FaultEvent, At: sec(50), Actor: "hazard-1", Action: model.ActionRef{Stops: model.StopsMachine}},
			model.Event{Kind: model.FaultEvent, At: sec(55), Actor: "cni-add/web-0", Action: model.ActionRef{Class: model.InjectedFault}}), broken},
		{"on a machine that is well", of(func(e *model.Event) { e.Node = "node-1" }), broken},

		{"it is killed", of(func(e *model.Event) { e.Disturbed = true }), ""},
		{"it ends without an error", of(func(e *model.Event) { e.Err = "" }), ""},
		{"once it ends without an error", with(exit(50, "")), ""},
		{"it panics", with(model.Event{Kind: model.ActorPanic, At: sec(1), Actor: "controller~2"}), ""},
		{"one of its messages is lost", with(model.Event{Kind: model.FaultEvent, At: sec(50), Actor: "controller~2", Action: model.ActionRef{Class: model.InjectedFault}}), ""},
		{"it is paused", with(model.Event{Kind: model.Operator, At: sec(50), Action: model.ActionRef{Stops: model.StopsProcesses}}), ""},
		{"its messages are late", func(v *View) { v.Late = sec(40); with()(v) }, ""},
		{"it gave up a message that took long", func(v *View) { v.GaveUp = sec(40); with()(v) }, ""},
		{"its machine is cut off", func(v *View) {
			v.Truth.Nodes["node-1"] = model.Node{Up: true, Registered: true, Partitioned: true}
			of(func(e *model.Event) { e.Node = "node-1" })(v)
		}, ""},
		{"within a moment", of(func(e *model.Event) { e.At /= 10 }), ""},
		{"after hours of work", of(func(e *model.Event) { e.At *= 100 }), ""},
	})
}
