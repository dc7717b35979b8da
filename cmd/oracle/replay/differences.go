package replay

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/cmd/oracle/upstream"
)

// difference is a known difference: what makes the two servers answer differently, and why.
type difference struct {
	name, why string
	// simple limits it to runs in which the simple controllers stand in for Kubernetes'.
	simple bool
	kind   string // only objects of this kind, if set
	// leftOut are fields that are not compared: path.of.it; [] is each item, [T] each of type, or for the reason, T.
	leftOut []string
	// masked are fields that both must have and like must accept; their values are not
	// compared.
	masked []string
	like   func(value any) bool
	// skips are requests that are not sent.
	skips func(m *Message) bool
}

// differences are all that are known. Whatever else differs is a finding.
var differences = []difference{
	{name: "managedFields", why: "the simulator tracks owners of fields only for objects that are applied: they cost half of an object's bytes",
		leftOut: []string{"metadata.managedFields"}},
	{name: "server's clock", why: "the simulator's clock is virtual and begins in the year 2000",
		masked: []string{"metadata.creationTimestamp", "metadata.deletionTimestamp"}, like: instant},
	{name: "server's clock, in conditions", why: "the same: the server writes the time at which a pod is bound or evicted",
		kind: "Pod", masked: []string{"status.conditions[PodScheduled].lastTransitionTime", "status.conditions[EvictionByEvictionAPI].lastTransitionTime"}, like: instant},
	{name: "uid", why: "random there, counted here; each is translated into one of the other's throughout the run"},
	{name: "names by generateName", why: "random there, from the run's seed here; translated likewise"},
	{name: "resourceVersion", why: "the real server writes objects of its own; each is translated into one of the other's, in the same order, throughout the run"},
	{name: "system objects", why: "kube-apiserver stores namespaces, a Service, leases and ConfigMaps when it starts, the simulator none: objects that only its own client wrote are left out of lists and watches"},
	{name: "system objects created", why: "the system's namespaces and the Service kubernetes exist before the run: their creation by the run is sent as an update"},
	{name: "finalizer of a namespace", why: "with the simple controllers no controller removes it",
		simple: true, kind: "Namespace", leftOut: []string{"spec.finalizers"}},
	{name: "deletion of a namespace", why: "with the simple controllers it is deleted immediately; the real one waits for kube-controller-manager",
		simple: true, skips: func(m *Message) bool { return m.Method == "DELETE" && m.resource == "namespaces" }},
	{name: "service addresses", why: "random there, in order here, from the same ranges",
		kind:   "Service",
		masked: []string{"spec.clusterIP", "spec.clusterIPs[]", "spec.ports[].nodePort", "spec.healthCheckNodePort"}, like: addressOrPort},
	{name: "stale reads", why: "the schedule makes the simulator answer as a lagging watch cache; the real server runs without one (--watch-cache=false)",
		skips: func(m *Message) bool { return m.Stale }},
	{name: "bookmarks", why: "the simulator sends them where Kubernetes' own controllers run, the real server without a watch cache never; they carry no object"},
	{name: "compaction", why: "the simulator compacts its history after five virtual minutes, the real server never (--etcd-compaction-interval=0): watches are compared up to the error 410",
		skips: func(m *Message) bool { return m.Status == 410 }},
	{name: "admission", why: "the real server has the simulator's plugins: none with the simple controllers, otherwise " + strings.Join(upstream.Admission, ", ")},
	{name: "nodes that are there from the start", why: "the simulator does not taint them as new nodes: the taint is removed on the real server before the answers are compared"},
}

// applies reports whether a difference is one in a run.
func (d *difference) applies(controlled bool) bool { return !d.simple || !controlled }

var systemNamespace = map[string]bool{"default": true, "kube-system": true, "kube-public": true, "kube-node-lease": true}

func instant(value any) bool {
	s, _ := value.(string)
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}

// addressOrPort is what a Service was given of the server's ranges, "None" is not.
func addressOrPort(value any) bool {
	switch v := value.(type) {
	case string:
		a, err := netip.ParseAddr(v)
		return err == nil && slices.ContainsFunc(serviceRanges, func(r netip.Prefix) bool { return r.Contains(a) })
	case json.Number:
		n, err := v.Int64()
		return err == nil && nodePortFirst <= n && n <= nodePortLast
	}
	return false
}

// What both servers give Services, of each family.
var serviceRanges = []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12"), netip.MustParsePrefix("fd00:10:96::/112")}

const nodePortFirst, nodePortLast = 30000, 32767
