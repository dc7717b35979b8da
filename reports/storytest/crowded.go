package storytest

import (
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/sim"
)

// crowded is a story with five pods, faults, errors and too many steps.
func Crowded() *reports.Report {
	s := newStory()
	s.r.Scenario, s.r.Seed, s.r.Exact = "t9-crowded", 7, false
	s.event(model.Event{Kind: model.NodeEvent, Node: "worker-1", Text: "lost power"})
	s.step(0, "kubelet/worker-1/default/web-2", "POST sandbox", nothing, 200, "")
	s.sandbox(web2, "worker-1")
	for i := range 60 {
		s.add(web2, "worker-1", "20", "21")
		st := s.step(0, "cni-add/default/web-2/net1", "PATCH "+pool, poolGives(web2, ""), 500, "500")
		if i%3 == 0 {
			st.Choice.Outcome, st.Detail = sim.LoseReply, nil
		}
		s.others(i % 7)
	}
	for i, node := range []string{"worker-2", "worker-3", "worker-4", "worker-5"} {
		p := model.PodRef{Namespace: "default", Name: "web-" + string(rune('4'+i))}
		s.sandbox(p, node)
		s.add(p, node, "30", "31")
	}
	s.event(model.Event{Kind: model.ActorPanic, Actor: "ip-reconciler~2", Err: "runtime error: index out of range\ngoroutine 7"})
	s.breaks("unbacked-sandbox", model.Major, "default/web-2 on worker-1 has 10.128.40.47, but no claim records it: another pod can get it",
		"address 10.128.40.47", "network default/whereabouts-conf", "pod default/web-2")
	return s.r
}
