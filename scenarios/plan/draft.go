package plan

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/model/route"
)

// draft is a cell while its settings are read: those of manifests are 0 or nil
// where nothing was said.
type draft struct {
	manager string
	given   map[string]bool
	running int  // pods of the beginning
	tunnels bool // nodes' devices get addresses

	pools                 addresses
	add                   []newPool
	resize                map[string]int
	remove                []string
	poolSize              int
	blocks                blockSizes
	temporary             []netip.Prefix
	restartEvery          time.Duration
	restart               bool
	strict, auto, overlap *bool
	maxBlocks, slice      *int
	span                  netip.Prefix
	start, end            netip.Addr
	exclude               []netip.Prefix
	datastore, topology   string
	nodes                 int
	load                  capacity.Load
	trouble               capacity.Trouble
	collect               capacity.Collect
	fabric                route.Fabric
}

// clone is a draft that can be changed by itself. What its pointers lead to is
// only ever replaced.
func (d *draft) clone() *draft {
	out := *d
	out.given = maps.Clone(d.given)
	return &out
}

// first is what a plan says nothing about: what its scenario has, or upstream's
// defaults.
func (p *Plan) first() *draft {
	d := &draft{manager: p.base.Doc.Spec.IPAM, given: map[string]bool{}, fabric: p.base.Doc.Spec.Fabric}
	d.datastore = p.base.Doc.Spec.Datastore
	d.collect = p.collects()
	d.running, d.tunnels = p.running(), p.alone() || slices.Contains(p.base.Doc.Spec.Daemons, tunnelDaemon) || tunnelsIn(p.base.Objects)
	return d
}

// complete checks what settings mean for each other, and fills in what follows.
func (d *draft) complete() (name, problem string) {
	t := &d.trouble
	switch {
	case d.load.Pods == 0 && !d.given["podsPerNode"] && d.running == 0:
		return "podsPerNode", "missing, want podsPerNode or pods: how many pods are meant to run"
	case t.DrainEvery > 0 && t.DrainFor == 0:
		return "drainFor", "missing: with drainEvery, how long does a drained node take no pods?"
	case t.CrashEvery > 0 && t.CrashFor == 0:
		return "crashFor", "missing: with crashEvery, how long is a node without power?"
	case t.ReplaceEvery > 0 && t.ReplaceFor == 0:
		return "replaceFor", "missing: with replaceEvery, after how long does another node take its place?"
	case d.given["growAt"] && d.load.Grow == 0:
		return "growAt", "when how many nodes join? grow is missing"
	}
	if name, problem = d.arriving(); problem != "" {
		return name, problem
	}
	if d.topology != "" && d.topology != d.fabric.Topology {
		d.fabric.Topology, d.fabric.Reflectors, d.fabric.TopOfRack = d.topology, nil, route.TopOfRack{}
	}
	if pods := d.load.Pods; pods == 0 {
		if most := float64(d.nodes+d.load.Grow) * d.load.PodsPerNode.Mean; most > podsMax {
			return "podsPerNode", fmt.Sprintf("%.0f pods in all, want at most %d", most, podsMax)
		}
	}
	return "", ""
}
