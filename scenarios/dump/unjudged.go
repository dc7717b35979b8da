package dump

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/reports/imported"
	"ipamsim/scenarios"
)

// unjudged is what cannot be judged for lack of objects, in the order of resources.
func (d *draft) unjudged() []scenarios.Unjudged {
	var out []scenarios.Unjudged
	for i := range resources {
		r := &resources[i]
		what := d.hangOn(r)
		if len(what) == 0 || d.answered(r) {
			continue
		}
		if k := slices.IndexFunc(out, func(u scenarios.Unjudged) bool { return slices.Equal(u.What, what) }); k >= 0 {
			out[k].Without = append(out[k].Without, r.Name())
		} else {
			out = append(out, scenarios.Unjudged{What: what, Without: []string{r.Name()}})
		}
	}
	for _, u := range []*scenarios.Unjudged{d.ownerless(), d.unrecorded()} {
		if u != nil {
			out = append(out, *u)
		}
	}
	return append(out, d.partly...)
}

// hangOn are the invariants that need a resource in this cluster, sorted.
func (d *draft) hangOn(r *Resource) []string {
	var out []string
	if d.calico {
		out = append(out, r.Calico...)
	}
	if d.ranges {
		out = append(out, r.Whereabouts...)
	}
	switch r.Kind {
	case "BGPConfiguration", "BGPPeer":
		if !d.announced() {
			return nil
		}
	case "NodeSlicePool":
		if !slices.ContainsFunc(d.networks, func(n network) bool { return n.sliced }) {
			return nil
		}
	case "OverlappingRangeIPReservation":
		if !slices.ContainsFunc(d.networks, func(n network) bool { return n.overlap }) {
			return nil
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// announced reports whether BIRD has a part in the routes of any pool: those of VXLAN
// are Felix's.
func (d *draft) announced() bool {
	for _, p := range d.pools {
		if p.VXLANMode == "" || p.VXLANMode == "Never" {
			return true
		}
	}
	return len(d.pools) == 0
}

// answered reports whether the dump has a resource, or something else that says as much.
func (d *draft) answered(r *Resource) bool {
	c := d.Cluster
	if c.saw(r) {
		return true
	}
	switch r.Kind {
	case "Pod":
		return !d.ranges && c.saw(resourceOf("workloadendpoints."+secondGroup))
	case "Node":
		return c.saw(resourceOf("nodes." + secondGroup))
	case "IPAMBlock", "IPAMHandle": // a report of calicoctl ipam check has all of both
		return len(c.tables.checked) > 0
	case "BGPPeer": // kubectl's list of several kinds does not show empty ones; a mesh does without
		return c.mesh()
	case "IPAMConfig":
		_, shown := c.tables.config["StrictAffinity"]
		return shown
	}
	return false
}

// ownerless is that nobody can say which pods are made again, nil if somebody can.
func (d *draft) ownerless() *scenarios.Unjudged {
	if len(d.Cluster.pods) == 0 {
		return nil
	}
	for _, p := range d.Cluster.pods {
		if p.value.Owner != (Owner{}) {
			return nil
		}
	}
	u := &scenarios.Unjudged{What: []string{scenarios.Recreation}}
	for _, name := range []string{"daemonsets.apps", "deployments.apps", "statefulsets.apps", "jobs.batch"} {
		if d.Cluster.saw(resourceOf(name)) {
			return nil
		}
		u.Without = append(u.Without, name)
	}
	return u
}

// unrecorded is that pods have addresses of Calico's pools and its record is empty: either
// another IPAM plugin gives them out, which Calico's CNI plugin then names in its
// configuration, or all of the record is lost. nil if it is not so.
func (d *draft) unrecorded() *scenarios.Unjudged {
	if !d.calico || len(d.blocks)+len(d.affinities)+len(d.handles) > 0 || !d.answered(resourceOf("ipamblocks."+calicoGroup)) {
		return nil
	}
	for _, p := range d.Cluster.pods {
		if ip := p.value.Annotations[calicoAnnotations+"podIP"]; ip != "" && !p.value.HostNetwork {
			what := slices.Clone(ofBlocks)
			slices.Sort(what)
			return &scenarios.Unjudged{What: slices.Compact(what), Without: []string{"/etc/cni/net.d/10-calico.conflist"}}
		}
	}
	return nil
}

// Verdict is what the look at the cluster comes to, as to what is at least so severe.
func (f *Findings) Verdict(least model.Severity) imported.Verdict {
	switch {
	case slices.ContainsFunc(f.All, func(x Finding) bool { return asSevere(x.Severity, least) }):
		return imported.Wrong
	case f.Unsure(least):
		return imported.Undecided
	}
	return imported.Healthy
}

// Unsure reports whether anything that is at least so severe cannot be judged.
func (f *Findings) Unsure(least model.Severity) bool {
	return slices.ContainsFunc(f.Unjudged, func(u scenarios.Unjudged) bool {
		return slices.ContainsFunc(u.What, func(name string) bool { return asSevere(severityOf(name), least) })
	})
}

func asSevere(s, least model.Severity) bool {
	return s.Rank() <= least.Rank()
}

// severityOf is that of an invariant; of what is none, the least.
func severityOf(name string) model.Severity {
	inv, _ := invariant.Named(name)
	return cmp.Or(inv.Severity, model.Minor)
}

// doubtful reports whether an invariant cannot be judged in all of the cluster.
func doubtful(all []scenarios.Unjudged, name string) bool {
	return slices.ContainsFunc(all, func(u scenarios.Unjudged) bool {
		return len(u.Namespaces)+len(u.Pools) == 0 && slices.Contains(u.What, name)
	})
}

// writeUnjudged tells what cannot be judged, what would be wrong if what is assumed
// instead were so, and how the dump would say more.
func (f *Findings) writeUnjudged(w io.Writer) {
	for i, x := range f.Supposed {
		if shown := f.Style.shown(len(f.Supposed)); i == shown {
			fmt.Fprintf(w, "perhaps: %d more; --all lists them\n", len(f.Supposed)-shown)
			break
		}
		fmt.Fprintf(w, "perhaps: %s (%s): %s\n", x.Invariant, x.Severity, reports.Clean(x.Message))
	}
	lacking := map[string]bool{}
	for _, u := range f.Unjudged {
		fmt.Fprintf(w, "%s\n", reports.Clean(u.String()))
		for _, name := range u.Without {
			if r := resourceOf(name); r != nil && r.By == Kubectl {
				lacking[name] = true
			}
		}
	}
	for _, line := range f.more(slices.Sorted(maps.Keys(lacking))) {
		fmt.Fprintf(w, "       add what this writes: %s\n", line)
	}
}

// more are the command lines that write resources to files. What etcd has is shown by
// calicoctl, which says of empty lists, too, of which kind they are.
func (f *Findings) more(names []string) []string {
	var out, kube []string
	for _, name := range names {
		if r := resourceOf(name); f.etcd && r.Group() == calicoGroup {
			out = append(out, calicoctls(r))
		} else {
			kube = append(kube, name)
		}
	}
	if len(kube) > 0 {
		out = append(out, CollectCommand("more.yaml", kube...))
	}
	return slices.Compact(out)
}

// calicoctls shows a resource that etcd has.
//
// Source: calicoctl/calicoctl/commands, get and ipam (v3.31).
func calicoctls(r *Resource) string {
	switch r.Kind {
	case "IPAMBlock", "IPAMHandle":
		return "calicoctl ipam check -o check.json"
	case "IPAMConfig":
		return "calicoctl ipam show --show-configuration > configuration.txt"
	}
	return fmt.Sprintf("calicoctl get %s -o yaml > %s.yaml", r.Plural, r.Plural)
}
