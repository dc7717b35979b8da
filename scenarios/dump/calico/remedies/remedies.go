// Package remedies is what is known of mending findings in Calico's record.
package remedies

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/scenarios/dump/calico"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/remedy"
)

// Calico are the remedies of Calico's record.
var Calico = &diagnosis.Remedies{
	Ownership: func(d *diagnosis.Drafts) { draftsOf(d).ownership() },
	Shortage:  func(d *diagnosis.Drafts) { draftsOf(d).homeless() },
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
}

func draftsOf(d *diagnosis.Drafts) *drafts {
	out := &drafts{Drafts: d, etcd: d.Datastore != "kubernetes"}
	for i := range d.View.Networks {
		if n := &d.View.Networks[i]; n.Blocks != nil {
			out.network = n
		}
	}
	return out
}

// leaks are claims of Calico's that nobody has.
func (d *drafts) leaks() {
	var about []int
	var addrs []netip.Addr
	for _, i := range d.Open("leaked-claim", "convergence") {
		o := diagnosis.ObjectsOf(&d.Findings.All[i].Violation)
		if a, err := netip.ParseAddr(o[model.RefAddress]); err == nil && o[model.RefBlock] != "" {
			about, addrs = append(about, i), append(addrs, a)
		}
	}
	if len(about) == 0 {
		return
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	addrs = slices.Compact(addrs)
	try := []remedy.Remedy{{Steps: []remedy.Step{remedy.ReleaseReport{}}, Cautions: []remedy.Caution{remedy.ReportCaution}}}
	if len(addrs) <= diagnosis.LinesMax {
		try = append(try, remedy.Remedy{Steps: []remedy.Step{remedy.Release{Addrs: addrs}}, Cautions: []remedy.Caution{remedy.AddressCaution}})
	}
	d.Add(about, remedy.Problem{Try: try, Advice: d.kubeControllers()})
}

// handles are those that count what is not claimed.
func (d *drafts) handles() {
	var about []int
	var names []string
	claimed := map[string]bool{}
	for i := range d.View.Record.Claims {
		claimed[d.View.Record.Claims[i].Handle] = true
	}
	for _, i := range d.Open("leftover-handle") {
		// Source: calicoctl/calicoctl/commands/ipam, checkIPAM: leaked are those by which no
		// address is claimed (v3.31).
		if id := diagnosis.ObjectsOf(&d.Findings.All[i].Violation)[model.RefHandle]; !claimed[id] {
			about, names = append(about, i), append(names, strings.ToLower(id))
		}
	}
	if len(about) == 0 {
		return
	}
	slices.Sort(names)
	try := []remedy.Remedy{{Steps: []remedy.Step{remedy.ReleaseReport{}}, Cautions: []remedy.Caution{remedy.ReportCaution}}}
	if names = slices.Compact(names); !d.etcd && len(names) <= diagnosis.LinesMax {
		try = append(try, remedy.Remedy{Steps: []remedy.Step{remedy.DropHandles{Names: names}}})
	}
	d.Add(about, remedy.Problem{Try: try})
}

func (d *drafts) grace() time.Duration { return calico.LeakGrace(d.Cluster) }

// kubeControllers asks whether calico-kube-controllers run.
func (d *drafts) kubeControllers() *remedy.Advice {
	a := d.Advice(remedy.KubeControllers, "calico-kube-controllers-", d.grace())
	a.Within = d.await()
	return a
}
