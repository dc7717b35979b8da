// Package remedies has the remedies for findings in Calico's record.
package remedies

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/calico"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/remedy"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// kubeControllers release the claims and blocks that belong to no pod and no node.
//
// Source: manifests/calico-kube-controllers.yaml (v3.31), label k8s-app.
var kubeControllers = &remedy.Controller{
	Name: "calico-kube-controllers", Works: "release leaked addresses and blocks",
	Pods: "calico-kube-controllers-", Label: "k8s-app=calico-kube-controllers", Logs: "ipam", Daemon: "ipam-controller",
}

// What a run cannot show.
//
// Source: calicoctl/calicoctl/commands/ipam, Release: a report must be of the locked
// datastore; --ip gives no handle and no sequence number (v3.31).
// libcalico-go/lib/ipam, releaseBlockAffinity, which deletes a block that is empty and
// then its affinity, each if it has not changed; kubectl does not check (v3.31).
const (
	reportCaution  remedy.Caution = "while the datastore is locked, no pod gets an address. Read the report first: every address that it lists as not in use is released"
	addressCaution remedy.Caution = "each command does nothing if the pod runs at that moment; it does not detect a pod that starts in the same second"
	blockCaution   remedy.Caution = "kubectl deletes a block even if addresses in it are in use: check calicoctl ipam show --show-blocks immediately before, and let no pod start on its node in the meantime (scenarios/w4-repair-too-early.yaml)"
)

// Calico are the remedies of Calico's record.
var Calico = &diagnosis.Remedies{
	Defaults: defaults,
	Ownership: func(d *diagnosis.Drafts) {
		o := draftsOf(d)
		o.ownership()
		o.collisions()
	},
	Shortage: func(d *diagnosis.Drafts) { draftsOf(d).homeless() },
	Room:     room,
	Leftovers: func(d *diagnosis.Drafts) {
		o := draftsOf(d)
		o.starved()
		o.leaks()
		o.handles()
	},
}

// drafts are remedies of Calico's.
type drafts struct {
	*diagnosis.Drafts
	network *model.Network // the primary one; nil: it has no blocks
	etcd    bool           // the record is where kubectl does not reach

	blocks     map[netip.Prefix]*model.Pool
	owned      map[string][]*model.Pool    // blocks, by node
	affinities map[string][]model.Affinity // by node
}

func draftsOf(d *diagnosis.Drafts) *drafts {
	out := &drafts{
		Drafts: d, etcd: d.Datastore == "etcdv3",
		blocks: map[netip.Prefix]*model.Pool{}, owned: map[string][]*model.Pool{}, affinities: map[string][]model.Affinity{},
	}
	for i := range d.View.Record.Pools {
		b := &d.View.Record.Pools[i]
		if out.owned[b.Node] = append(out.owned[b.Node], b); out.blocks[b.Range] == nil {
			out.blocks[b.Range] = b
		}
	}
	for _, a := range d.View.Record.Affinities {
		out.affinities[a.Node] = append(out.affinities[a.Node], a)
	}
	for i := range d.View.Networks {
		if n := &d.View.Networks[i]; n.Blocks != nil {
			out.network = n
		}
	}
	return out
}

// defaults returns the configuration of calico-kube-controllers, which dumps often omit and
// without which calicoctl ipam check fails.
func defaults(s *scenarios.Scenario, v *scenarios.View) []scenarios.Event {
	const kind = "KubeControllersConfiguration"
	if !slices.ContainsFunc(v.Networks, func(n model.Network) bool { return n.Blocks != nil }) ||
		slices.ContainsFunc(s.Objects, func(o cluster.Object) bool { return o.Kind == kind }) {
		return nil
	}
	body := fmt.Sprintf(`{"apiVersion":"crd.projectcalico.org/v1","kind":%q,"metadata":{"name":"default"},"spec":{"controllers":{"node":{"leakGracePeriod":"15m0s"}}}}`, kind)
	return []scenarios.Event{{Action: &action.Apply{Object: []byte(body)}}}
}

// leaks adds the leaked claims.
func (d *drafts) leaks() {
	var about []int
	var addrs []netip.Addr
	guards := map[netip.Addr]remedy.Guard{}
	for _, i := range d.Open(invariant.LeakedClaim.Name, invariant.Convergence.Name) {
		x := &d.Findings.All[i].Violation
		o := diagnosis.ObjectsOf(x)
		if a, err := netip.ParseAddr(o[model.RefAddress]); err == nil && o[model.RefBlock] != "" {
			about, addrs = append(about, i), append(addrs, a)
			guards[a] = d.Guard(x)
		}
	}
	if len(about) == 0 {
		return
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	addrs = slices.Compact(addrs)
	try := []remedy.Remedy{{Steps: []remedy.Step{releaseReport{}}, Cautions: []remedy.Caution{reportCaution}}}
	if len(addrs) <= diagnosis.LinesMax {
		try = append(try, remedy.Remedy{Steps: []remedy.Step{release{Addrs: addrs, Guards: guards}}, Cautions: []remedy.Caution{addressCaution}})
	}
	d.Add(about, remedy.Problem{Try: try, Advice: d.kubeControllers()})
}

// handles are those that count what is not claimed.
func (d *drafts) handles() {
	var about []int
	var names, ids []string
	claimed := map[string]bool{}
	for i := range d.View.Record.Claims {
		claimed[d.View.Record.Claims[i].Handle] = true
	}
	for _, i := range d.Open(invariant.LeftoverHandle.Name) {
		// Source: calicoctl/calicoctl/commands/ipam, checkIPAM: leaked are those by which no
		// address is claimed (v3.31).
		if id := diagnosis.ObjectsOf(&d.Findings.All[i].Violation)[model.RefHandle]; !claimed[id] {
			about, names, ids = append(about, i), append(names, strings.ToLower(id)), append(ids, id)
		}
	}
	if len(about) == 0 {
		return
	}
	slices.Sort(names)
	slices.Sort(ids)
	try := []remedy.Remedy{{Steps: []remedy.Step{releaseReport{}}, Cautions: []remedy.Caution{reportCaution}}}
	if names = slices.Compact(names); !d.etcd && len(names) <= diagnosis.LinesMax {
		try = append(try, remedy.Remedy{Steps: []remedy.Step{dropHandles{Names: names, IDs: slices.Compact(ids)}}})
	}
	d.Add(about, remedy.Problem{Try: try})
}

func (d *drafts) grace() time.Duration { return calico.LeakGrace(d.Cluster) }

// kubeControllers asks whether calico-kube-controllers run.
func (d *drafts) kubeControllers() *remedy.Advice {
	a := d.Advice(kubeControllers, d.grace())
	a.Within = d.await()
	return a
}
