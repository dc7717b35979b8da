package main

// difference is one that is known: what makes the two servers answer differently, and why.
// Where fields is set, these are left out of both answers before they are compared; where
// skips is, requests for which it holds are not sent.
type difference struct {
	name, why string
	fields    []string // path.of.it; [] is each item
	skips     func(m *exchange) bool
}

// differences are all that are known. Whatever else differs is a finding.
var differences = []difference{
	{name: "managedFields", why: "the simulator tracks owners of fields only of what somebody applies: they cost half of an object's bytes",
		fields: []string{"metadata.managedFields"}},
	{name: "server's clock", why: "the simulator's is virtual and begins in the year 2000",
		fields: []string{"metadata.creationTimestamp", "metadata.deletionTimestamp"}},
	{name: "uid", why: "random there, counted here; each stands for one of the other's throughout the run"},
	{name: "names by generateName", why: "random there, from the run's seed here; translated likewise"},
	{name: "resourceVersion", why: "the real server writes objects of its own; each stands for one of the other's, in the same order, throughout the run"},
	{name: "system objects", why: "kube-apiserver stores namespaces, a Service, leases and ConfigMaps when it starts, the simulator none: what its own client wrote is left out of lists and watches"},
	{name: "system namespaces", why: "default and kube-system are there before the run, so that they cannot be created again",
		skips: func(m *exchange) bool {
			return m.method == "POST" && m.path == "/api/v1/namespaces" && systemNamespace[m.name]
		}},
	{name: "deletion of a namespace", why: "with the simple controllers it goes at once: the real one waits for kube-controller-manager, which is not here; controllers: real leaves it to it",
		skips: func(m *exchange) bool { return m.method == "DELETE" && m.resource == "namespaces" }},
	{name: "service addresses", why: "random there, in order here, from the same range",
		fields: []string{"spec.clusterIP", "spec.clusterIPs", "spec.ports[].nodePort", "spec.healthCheckNodePort"}},
	{name: "stale reads", why: "the schedule had the simulator answer as a watch cache that lags behind; the real server is asked without one (--watch-cache=false)",
		skips: func(m *exchange) bool { return m.Stale }},
	{name: "bookmarks", why: "the simulator sends them where Kubernetes' own controllers run, the real server without a watch cache never; they say nothing of any object"},
	{name: "compaction", why: "the simulator forgets history after five virtual minutes, the real server after five real ones: what it has not forgotten is not compared",
		skips: func(m *exchange) bool { return m.Status == 410 }},
	{name: "admission", why: "runs with the simple controllers admit everything as it is, and the real server has its plugins off"},
}

var systemNamespace = map[string]bool{"default": true, "kube-system": true, "kube-public": true, "kube-node-lease": true}
