package storytest

import (
	"encoding/json"
	"time"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/reports"
	"ipamsim/sim/kube/exchange"
)

// issue162 is the story of the issue report.
func Issue162() *reports.Report {
	s := newStory()
	s.event(model.Event{Kind: model.NodeEvent, Node: "worker-1", Text: "up"})
	s.others(40)
	s.at = 52 * time.Second
	s.event(model.Event{Kind: model.Operator, Actor: "operator", Text: "kubectl scale statefulset web --replicas=5"})
	s.others(20)
	s.at = 59 * time.Second
	s.step(0, "kubelet/worker-1/default/web-2", "POST sandbox", nothing, 200, "")
	s.sandbox(web2, "worker-1")
	s.add(web2, "worker-1", "733528", "733533")
	s.others(14)
	s.at = time.Minute
	s.event(model.Event{Kind: model.Reconcile, Actor: "ip-reconciler"})
	s.step(time.Millisecond, "ip-reconciler", "GET "+pool, poolRead("733533", 3), 200, "200 rv=733533")
	for range 3 {
		s.step(250*time.Millisecond, "ip-reconciler", "GET pods/default/web-2", nothing, 200, "200 rv=733530").Detail = podRead
	}
	s.step(time.Millisecond, "ip-reconciler", "PATCH "+pool, act.Act{Verb: act.Update, Thing: act.Thing{Kind: act.Pool, Name: "10.128.40.0-24"}, Takes: []act.Thing{{Kind: act.Address, Name: address}}, If: "733533"}, 200, "200 rv=733540")
	s.event(model.Event{Kind: model.Reconciled, Actor: "ip-reconciler"})
	s.others(8)
	st := s.step(1300*time.Millisecond, "kubelet/worker-1/default/web-2", "PATCH pods/default/web-2/status", nothing, 200, "200 rv=733544")
	st.Detail = exchange.Exchange{Verb: "patch", Resource: "pods", Namespace: "default", Name: "web-2", Subresource: "status", Status: 200, Revision: "733544", Request: annotation()}
	s.sandbox(web3, "worker-2")
	s.add(web3, "worker-2", "733544", "733551")
	s.breaks("duplicate-address", model.Critical,
		"10.128.40.47 in network default/whereabouts-conf is held by two live sandboxes: default/web-2 on worker-1 since 59.008s, and default/web-3 on worker-2 since 1m2.061s",
		"address 10.128.40.47", "network default/whereabouts-conf", "node worker-1", "node worker-2", "pod default/web-2", "pod default/web-3")
	return s.r
}

var podRead = exchange.Exchange{
	Verb: "get", Resource: "pods", Namespace: "default", Name: "web-2", Status: 200,
	Response: []byte(`{"metadata":{"namespace":"default","name":"web-2","annotations":{"k8s.v1.cni.cncf.io/networks":"whereabouts-conf"}},"status":{"phase":"Pending"}}`),
}

func annotation() []byte {
	status, _ := json.Marshal([]map[string]any{{"name": network, "interface": "net1", "ips": []string{address}}})
	b, _ := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{"k8s.v1.cni.cncf.io/network-status": string(status)}}})
	return b
}
