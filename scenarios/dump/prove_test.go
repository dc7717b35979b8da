package dump_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
)

// crowded is a site where node-c has no block: node-a has two and does not need the second, node-d
// has one with room.
func crowded() *site {
	s := newSite()
	s.pool("more", "10.0.1.0/29", nil)
	s.node("node-a", 1, nil, nil)
	s.node("node-c", 3, nil, nil)
	s.node("node-d", 4, nil, nil)
	s.block("10.0.1.0/29", "node-d", true)
	s.pod("db-1", "node-d", "10.0.1.1", "ReplicaSet/db", true, nil)
	s.block("10.0.0.0/29", "node-a", true)
	s.block("10.0.0.8/29", "node-a", true)
	s.pod("web-1", "node-a", "10.0.0.1", "ReplicaSet/web", true, nil)
	s.pod("web-2", "node-a", "10.0.0.9", "ReplicaSet/web", true, nil)
	return s
}

const (
	dropsSecond = "kubectl delete ipamblocks.crd.projectcalico.org 10-0-0-8-29 && kubectl delete blockaffinities.crd.projectcalico.org node-a-10-0-0-8-29"
	simulated   = "remediation: simulated: "
)

func TestProveSpareBlock(t *testing.T) {
	s := crowded()
	s.pod("web-3", "node-c", "10.0.0.2", "ReplicaSet/web", true, nil)
	f := s.proven(t)
	says(t, f, "finding: blackholed-address", dropsSecond, simulated, "2 pods restarted, no new findings", "kubectl cordon node-c node-a")
}

// A block of a pool that does not serve the node is no remedy.
func TestProveSpareOfAnotherPool(t *testing.T) {
	for name, more := range map[string]obj{
		"of another nodeSelector": {"nodeSelector": "role == 'edge'"},
		"disabled":                {"disabled": true},
		"of some namespaces":      {"namespaceSelector": "team == 'a'", "allowedUses": []string{"Workload"}},
		"for tunnels":             {"allowedUses": []string{"Tunnel"}},
		"by request only":         {"assignmentMode": "Manual"},
	} {
		s := crowded()
		s.pool("edge", "10.9.0.0/28", more)
		s.node("node-b", 2, obj{"role": "edge"}, nil)
		s.block("10.9.0.0/29", "node-b", true)
		s.block("10.9.0.8/29", "node-b", true) // no pod would have to move
		s.pod("web-3", "node-c", "10.0.0.2", "ReplicaSet/web", true, nil)
		f := s.proven(t)
		if len(f.Shortages) != 1 || len(f.Shortages[0].Spare) != 1 {
			t.Errorf("%s: %s", name, printed(f))
			continue
		}
		says(t, f, dropsSecond, simulated)
		saysNot(t, f, "10.9.0", "10-9-0")
	}
}

// Pods on a tainted node run there on purpose, and pods that the taint keeps away find no room
// there.
func TestProveTaintedNode(t *testing.T) {
	taint := obj{"taints": []obj{{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}}}
	s := newSite()
	s.node("control", 1, nil, taint)
	s.node("node-c", 3, nil, nil)
	s.block("10.0.0.0/29", "control", true)
	s.block("10.0.0.8/29", "control", true)
	s.pod("dns-1", "control", "10.0.0.1", "ReplicaSet/dns", true, nil)
	s.pod("dns-2", "control", "10.0.0.9", "ReplicaSet/dns", true, nil)
	s.pod("web-3", "node-c", "10.0.0.2", "ReplicaSet/web", true, nil)
	f := s.proven(t)
	if len(f.Shortages) != 1 || len(f.Shortages[0].Spare) != 0 {
		t.Errorf("%s", printed(f))
	}
	says(t, f, "remediation: no node has a spare block")
	saysNot(t, f, "kubectl delete", "kubectl cordon")

	s = newSite()
	s.pool("more", "10.0.1.0/29", nil)
	s.node("control", 1, nil, taint)
	s.node("node-a", 2, nil, nil)
	s.node("node-c", 3, nil, nil)
	s.block("10.0.0.0/29", "node-a", true)
	s.block("10.0.0.8/29", "node-a", true)
	s.block("10.0.1.0/29", "control", true) // the only room for those who would have to move
	s.pod("dns-1", "control", "10.0.1.1", "ReplicaSet/dns", true, nil)
	s.pod("web-1", "node-a", "10.0.0.1", "ReplicaSet/web", true, nil)
	s.pod("web-2", "node-a", "10.0.0.9", "ReplicaSet/web", true, nil)
	s.pod("web-3", "node-c", "10.0.0.2", "ReplicaSet/web", true, nil)
	f = s.proven(t)
	says(t, f, "remediation: no safe remediation found", "2 pods would not be recreated")
	saysNot(t, f, "kubectl delete", "kubectl cordon")
}

// The block of a deleted node is preferred: no pod has to move.
func TestProveBlockOfANodeThatIsGone(t *testing.T) {
	s := newSite()
	s.node("node-a", 1, nil, nil)
	s.node("node-c", 3, nil, nil)
	s.block("10.0.0.0/29", "node-a", true)
	s.block("10.0.0.8/29", "node-gone", true)
	s.claim("10.0.0.9", "c-old", "node-gone", "old")
	s.pod("web-1", "node-a", "10.0.0.1", "ReplicaSet/web", true, nil)
	s.pod("web-3", "node-c", "10.0.0.2", "ReplicaSet/web", true, nil)
	f := s.proven(t)
	says(t, f, "10.0.0.8/29 belongs to the deleted node node-gone", "calicoctl ipam release --ip=10.0.0.9",
		"kubectl delete ipamblocks.crd.projectcalico.org 10-0-0-8-29 && kubectl delete blockaffinities.crd.projectcalico.org node-gone-10-0-0-8-29", simulated)
}

// An address without a pod in the dump that is not reported as leaked may belong to another
// object: here a load balancer.
func TestProveBlockOfAnotherKind(t *testing.T) {
	s := newSite()
	s.node("node-a", 1, nil, nil)
	s.node("node-c", 3, nil, nil)
	s.block("10.0.0.0/29", "node-a", true)
	s.blocks = append(s.blocks, &siteBlock{cidr: netip.MustParsePrefix("10.0.0.8/29"), owner: "load-balancer", kind: "virtual"})
	s.pod("web-3", "node-c", "10.0.0.2", "ReplicaSet/web", true, nil)
	f := s.proven(t)
	says(t, f, "remediation: no node has a spare block")
	saysNot(t, f, "10-0-0-8-29", "kubectl delete")
}

// Of two pods with one address the one that the record names keeps it.
func TestProveDuplicate(t *testing.T) {
	for _, rightful := range []string{"web-1", "web-2"} {
		other := map[string]string{"web-1": "web-2", "web-2": "web-1"}[rightful]
		s := newSite()
		s.node("node-a", 1, nil, nil)
		s.node("node-b", 2, nil, nil)
		s.block("10.0.0.0/29", "node-a", true)
		s.block("10.0.0.8/29", "node-b", true)
		s.pod(rightful, "node-a", "10.0.0.1", "ReplicaSet/web", true, nil)
		s.pod(other, "node-b", "10.0.0.1", "ReplicaSet/web", false, nil)
		f := s.proven(t)
		says(t, f, "finding: duplicate-address", "kubectl delete pod -n shop "+other+"\n", simulated, "1 pod restarted, no new findings")
		saysNot(t, f, "kubectl delete pod -n shop "+rightful+"\n")
	}
}

// An affinity that its block names is deleted with the block; otherwise the block would have no
// owner.
func TestProveStaleAffinity(t *testing.T) {
	s := newSite()
	s.node("node-a", 1, nil, nil)
	s.block("10.0.0.0/29", "node-a", true)
	s.block("10.0.0.8/29", "node-gone", true)
	s.pod("web-1", "node-a", "10.0.0.1", "ReplicaSet/web", true, nil)
	f := s.proven(t)
	says(t, f, "finding: leaked-affinity", "check first: is calico-kube-controllers running? It should release leaked addresses and blocks after 15m. The dump has no pod of this controller",
		"kubectl get pods -A -l k8s-app=calico-kube-controllers",
		"kubectl delete ipamblocks.crd.projectcalico.org 10-0-0-8-29 && kubectl delete blockaffinities.crd.projectcalico.org node-gone-10-0-0-8-29", simulated, "no pod restarted, no new findings")
}

// A block that pods use and that has lost its affinity gets it again.
func TestProveBlockWithoutAffinity(t *testing.T) {
	s := newSite()
	s.node("node-a", 1, nil, nil)
	s.node("node-b", 2, nil, nil)
	s.block("10.0.0.0/29", "node-a", false)
	s.block("10.0.0.8/29", "node-b", true)
	s.pod("web-1", "node-a", "10.0.0.1", "ReplicaSet/web", true, nil)
	f := s.proven(t)
	says(t, f, "finding: leaked-affinity", `"kind":"BlockAffinity"`, "| kubectl create -f -", simulated)
}

// A virtual machine's launcher is not deleted but migrated.
func TestProveVirtualMachine(t *testing.T) {
	s := newSite()
	s.node("node-a", 1, nil, nil)
	s.node("node-b", 2, nil, nil)
	s.block("10.0.0.0/29", "node-a", true)
	s.block("10.0.0.8/29", "node-b", true)
	s.pod("web-1", "node-a", "10.0.0.1", "ReplicaSet/web", true, nil)
	s.pod("virt-launcher-pg-x7x7x", "node-b", "10.0.0.1", "VirtualMachineInstance/pg", false, nil)
	f := s.proven(t)
	says(t, f, "finding: duplicate-address", `"kind":"VirtualMachineInstanceMigration"`, `"vmiName":"pg"`, simulated)
	saysNot(t, f, "kubectl delete pod")
}

// A pod without a controller and a static pod are not deleted; a pod that requests its address
// would get the same one.
func TestProveObstacles(t *testing.T) {
	for why, x := range map[string]struct {
		owner string
		notes obj
	}{
		"shop/web-2 is a bare pod":                           {"", nil},
		"shop/web-2 belongs to a Job":                        {"Job/web", nil},
		"shop/web-2 is a static pod":                         {"Node/node-b", obj{"kubernetes.io/config.mirror": "c2"}},
		"shop/web-2 requests this address by the annotation": {"StatefulSet/web", obj{"cni.projectcalico.org/ipAddrs": `["10.0.0.1"]`}},
	} {
		s := newSite()
		s.node("node-a", 1, nil, nil)
		s.node("node-b", 2, nil, nil)
		s.block("10.0.0.0/29", "node-a", true)
		s.block("10.0.0.8/29", "node-b", true)
		s.pod("web-1", "node-a", "10.0.0.1", "ReplicaSet/web", true, nil)
		s.pod("web-2", "node-b", "10.0.0.1", x.owner, false, x.notes)
		f := s.proven(t)
		says(t, f, "finding: duplicate-address", "remediation: no safe remediation found", why)
		saysNot(t, f, "kubectl delete pod")
	}
}

// What was not simulated is not printed.
func TestProveBounds(t *testing.T) {
	s := crowded()
	s.pod("web-3", "node-c", "10.0.0.2", "ReplicaSet/web", true, nil)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for why, within := range map[string]struct {
		ctx context.Context
		diagnosis.Bound
	}{
		"not simulated, so no commands are printed: the cluster has 4 pods (limit 2)": {context.Background(), diagnosis.Bound{Pods: 2}},
		"not simulated, so no commands are printed: time was up after 0s (--act)":     {ended, diagnosis.Bound{}},
	} {
		c := s.cluster(t)
		_, parsed, _ := scenario(t, c, dump.Options{})
		f := proveWithin(t, c, parsed, within.ctx, within.Bound)
		says(t, f, "finding: blackholed-address", why)
		saysNot(t, f, "kubectl delete", "kubectl cordon", "simulated: ")
	}
}

// A leak is freed by calicoctl, after it was asked whose work it would have been.
func TestProveLeak(t *testing.T) {
	s := newSite()
	s.node("node-a", 1, nil, nil)
	s.block("10.0.0.0/29", "node-a", true)
	s.pod("web-1", "node-a", "10.0.0.1", "ReplicaSet/web", true, nil)
	s.pod("calico-kube-controllers-x", "node-a", "10.0.0.2", "ReplicaSet/calico-kube-controllers", true, nil)
	s.claim("10.0.0.3", "c-old", "node-a", "old")
	f := s.proven(t)
	says(t, f, "finding: leaked-claim", "Its pod shop/calico-kube-controllers-x is running: check the logs",
		"simulated: with the controller running, this is fixed within 31m; no new findings", "calicoctl ipam release --from-report=report.json", simulated, "no pod restarted, no new findings")
}

// Whereabouts may keep its objects in a namespace of its own: what is printed names it, and
// is simulated where the simulated one has them.
func TestProveElsewhere(t *testing.T) {
	c := read(t, "whereabouts.yaml")
	guard := `{"apiVersion":"whereabouts.cni.cncf.io/v1alpha1","kind":"OverlappingRangeIPReservation","metadata":{"name":"blue-10.50.0.18","namespace":"openshift-multus"},"spec":{"podref":"tenants/db-9","ifname":"net2"}}`
	if err := c.Read("guard", strings.NewReader(guard), nil); err != nil {
		t.Fatal(err)
	}
	_, s, _ := scenario(t, c, dump.Options{})
	says(t, prove(t, c, s), "kubectl patch ippools.whereabouts.cni.cncf.io blue-10.50.0.0-24 -n openshift-multus", simulated)
}
