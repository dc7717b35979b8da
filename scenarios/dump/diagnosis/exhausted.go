package diagnosis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports/imported"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
)

// exhausted returns networks without an address for a waiting pod, and ranges without a
// podCIDR for a node. Both are critical: no pod can start there.
func (f *Findings) exhausted(v *scenarios.View) []model.Violation {
	return append(f.waitingPods(v), waitingNodes(v)...)
}

// waitingPods groups waiting pods by network, and also by node if addresses are per node.
func (f *Findings) waitingPods(v *scenarios.View) (out []model.Violation) {
	type place struct{ network, node string }
	has := map[model.PodRef]map[string]bool{}
	for i := range v.Truth.Sandboxes {
		s := &v.Truth.Sandboxes[i]
		for _, a := range s.Attachments {
			if has[s.Pod] == nil {
				has[s.Pod] = map[string]bool{}
			}
			has[s.Pod][a.Network] = len(a.Addrs) > 0
		}
	}
	free := map[place]int{}
	left := func(at place) int {
		n, known := free[at]
		if !known {
			n = model.Free(v.Networks, v.Record, at.network, at.node)
			free[at] = n
		}
		return n
	}
	waiting := map[place][]string{}
	for ref, p := range v.Truth.Pods {
		if p.Node == "" || p.Deleting || p.Phase != "Pending" {
			continue
		}
		for _, key := range p.Networks {
			n := model.NetworkByKey(v.Networks, key)
			if n == nil || len(n.Ranges) == 0 || has[ref][key] {
				continue
			}
			at, within := place{key, ""}, place{key, ""}
			if n.Blocks != nil || n.Slice > 0 {
				at.node = p.Node
			}
			if at.node != "" || n.Local {
				within.node = p.Node
			}
			if left(within) > 0 {
				continue
			}
			waiting[at] = append(waiting[at], ref.String())
		}
	}
	leaks := f.leaks(v)
	for at, pods := range waiting {
		slices.Sort(pods)
		x := model.Violation{Invariant: imported.Exhausted, Severity: model.Critical, Objects: []model.Ref{{Kind: model.RefNetwork, Name: at.network}}}
		if at.node != "" {
			x.Objects = append(x.Objects, model.Ref{Kind: model.RefNode, Name: at.node})
		}
		for _, p := range pods {
			x.Objects = append(x.Objects, model.Ref{Kind: model.RefPod, Name: p})
		}
		x.Message = fmt.Sprintf("%s %s for an address of network %s%s, where %s%s: %s cannot start",
			layout.Some(pods), plural(len(pods), "waits", "wait"), at.network, on(at.node), lack(v, at.network, at.node), leaks.unused(&x), plural(len(pods), "it", "they"))
		out = append(out, x)
	}
	return sorted(out)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func on(node string) string {
	if node == "" {
		return ""
	}
	return " on " + node
}

// lack renders why there is no address: the node has no slice, or the maximum number of
// blocks, or all addresses are in use.
func lack(v *scenarios.View, network, node string) string {
	n := model.NetworkByKey(v.Networks, network)
	if n.Blocks == nil {
		sliced := slices.ContainsFunc(v.Record.Pools, func(p model.Pool) bool { return p.Node == node && p.Network == n.Name })
		if n.Slice > 0 && !sliced {
			return "the node has no slice"
		}
		return "none is free"
	}
	most := Limit(v, n, node)
	if most == 0 {
		return "none is free"
	}
	return fmt.Sprintf("none is free and the node has reached its limit of %d blocks", most)
}

// leaks are findings that may cause pods to wait.
type leaks struct {
	view  *scenarios.View
	all   []*Finding
	pools map[string][]*model.Pool // by name, and by the name of their block
}

func (f *Findings) leaks(v *scenarios.View) *leaks {
	l := &leaks{view: v, pools: map[string][]*model.Pool{}}
	for i := range f.All {
		if x := &f.All[i]; x.Invariant == invariant.LeakedClaim.Name || x.Invariant == invariant.LeakedAffinity.Name {
			l.all = append(l.all, x)
		}
	}
	for i := range v.Record.Pools {
		p := &v.Record.Pools[i]
		for _, name := range []string{p.Name, model.BlockOf(p.Range).Name} {
			l.pools[name] = append(l.pools[name], p)
		}
	}
	return l
}

// unused renders how many addresses of an exhausted network are leaked. It raises the severity
// of these leaks to that of the exhaustion.
func (l *leaks) unused(exhausted *model.Violation) string {
	n := 0
	for _, x := range l.all {
		if !l.cause(&x.Violation, exhausted) {
			continue
		}
		x.Severity = exhausted.Severity
		if x.Invariant == invariant.LeakedClaim.Name {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %s leaked", layout.Count(n, "address is", "addresses are"))
}

// cause reports whether a leak holds an address or a block that pods wait for.
func (l *leaks) cause(leak, exhausted *model.Violation) bool {
	o, at := ObjectsOf(exhausted), ObjectsOf(leak)
	n := model.NetworkByKey(l.view.Networks, o[model.RefNetwork])
	if n == nil {
		return false
	}
	name := cmp.Or(at[model.RefPool], at[model.RefBlock])
	i := slices.IndexFunc(l.pools[name], n.Owns)
	if name == "" || i < 0 {
		return false
	}
	node := o[model.RefNode]
	return node == "" || l.pools[name][i].Node == node || leak.Invariant == invariant.LeakedAffinity.Name && Limit(l.view, n, node) == 0
}

// Limit returns the maximum number of blocks of a node if the node has reached it, else 0.
func Limit(v *scenarios.View, n *model.Network, node string) int {
	if n.Blocks == nil {
		return 0
	}
	most := cmp.Or(n.Blocks.MaxBlocks, model.MaxBlocksDefault)
	blocks := 0
	for _, a := range v.Record.Affinities {
		if a.Node == node {
			blocks++
		}
	}
	if blocks < most {
		return 0
	}
	return most
}

// waitingNodes returns the nodes without a podCIDR whose range is full.
func waitingNodes(v *scenarios.View) (out []model.Violation) {
	for i := range v.Networks {
		n := &v.Networks[i]
		for j := range n.Ranges {
			r := &n.Ranges[j]
			free, all := invariant.FreeSlices(r, v.Record.Pools)
			if r.Slice == 0 || free > 0 || all == 0 {
				continue
			}
			var without []string
			for _, name := range slices.Sorted(maps.Keys(v.Truth.Nodes)) {
				served := slices.ContainsFunc(v.Record.Pools, func(p model.Pool) bool {
					return p.Node == name && p.Network == n.Name && p.Range.Addr().Is4() == r.Prefix.Addr().Is4()
				})
				if v.Truth.Nodes[name].Registered && !served {
					without = append(without, name)
				}
			}
			if len(without) == 0 {
				continue
			}
			x := model.Violation{Invariant: imported.Exhausted, Severity: model.Critical, Objects: []model.Ref{{Kind: model.RefRange, Name: r.Prefix.String()}}}
			for _, name := range without {
				x.Objects = append(x.Objects, model.Ref{Kind: model.RefNode, Name: name})
			}
			x.Message = fmt.Sprintf("%s %s no podCIDR, and in %s all %d podCIDRs of /%d are taken: pods cannot start there", layout.Some(without), plural(len(without), "has", "have"), r.Prefix, all, r.Slice)
			out = append(out, x)
		}
	}
	return sorted(out)
}

func sorted(all []model.Violation) []model.Violation {
	for i := range all {
		slices.SortFunc(all[i].Objects, model.Ref.Compare)
	}
	slices.SortFunc(all, func(a, b model.Violation) int { return slices.CompareFunc(a.Objects, b.Objects, model.Ref.Compare) })
	return all
}
