// Package whereabouts is what plans know of Whereabouts: its settings, and how its
// networks configure it.
package whereabouts

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/whereabouts"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/plan/values"
	"ipamsim/sim/cluster"
)

// Plan is what plans know of Whereabouts. Its pools are called like Calico's. Every is
// upstream's own interval. A step is long, because it may ask the API server ten times,
// and then five times a second.
//
// Source: doc/crds/daemonset-install.yaml, reconciler_cron_expression "30 4 * * *" (v0.9.4).
var Plan = plan.Manager{
	Configure: func(_ *plan.Draft, _ *scenarios.Scenario, c *capacity.Cluster) error {
		c.Manager = &whereabouts.Config{}
		return nil
	},
	Settings: []plan.Setting{
		{Name: "range", Means: "the first network's range", Type: values.CIDR()},
		{Name: "rangeStart", Means: "first address of the range", Type: values.Address()},
		{Name: "rangeEnd", Means: "last address of the range", Type: values.Address()},
		{Name: "exclude", Means: "excluded parts of the range", Type: values.CIDRs(0)},
		{Name: "nodeSliceSize", Means: "prefix length of a node's slice of the range; 0: no slices", Type: values.Whole(0, 30)},
		{Name: "overlap", Means: "enable_overlapping_ranges: addresses are reserved across ranges", Type: values.Flag()},
	},
	Manifests: manifests,
	Blame:     []string{"nodeSliceSize", "rangeStart", "rangeEnd", "exclude", "range"},
	Collector: "ip-reconciler", Pass: "ip-reconciler", Every: 24 * time.Hour,
	Stored: []string{"IPPool", "OverlappingRangeIPReservation", "NodeSlicePool"},
	Real:   plan.RealCode{Least: 10 * time.Second, Most: 20 * time.Second, TooMuch: tooMuch},
}

func tooMuch(c *capacity.Cluster) string {
	if !slices.ContainsFunc(c.Networks, func(n model.Network) bool { return n.Slice > 0 }) {
		return ""
	}
	return "node slices: the controllers renew a lease every few seconds, which takes the real code too long for days"
}

const (
	attachmentKind = "NetworkAttachmentDefinition"
	defaultNet     = "pods"
)

// manifests set the range of the first network.
func manifests(d *plan.Draft, all []cluster.Object) ([]cluster.Object, error) {
	if !slices.ContainsFunc(all, func(o cluster.Object) bool { return o.Kind == attachmentKind }) {
		o, err := plan.Manifest("k8s.cni.cncf.io/v1", attachmentKind, "default", defaultNet, plan.Body{"config": `{"cniVersion": "0.3.1", "type": "ipvlan", "ipam": {"type": "whereabouts"}}`})
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return plan.Change(all, attachmentKind, func(b plan.Body) error {
		spec := plan.Under(b, "spec")
		text, _ := spec["config"].(string)
		conf := plan.Body{}
		if err := json.Unmarshal([]byte(text), &conf); err != nil {
			return err
		}
		in := section(conf)
		if in == nil {
			return errors.New("the first network's configuration has no ipam of type whereabouts")
		}
		ranges(d, in)
		out, err := json.Marshal(conf)
		spec["config"] = string(out)
		return err
	})
}

// section finds the ipam of a configuration or of a list of plugins.
func section(conf plan.Body) plan.Body {
	if in, ok := conf["ipam"].(plan.Body); ok && in["type"] == "whereabouts" {
		return in
	}
	plugins, _ := conf["plugins"].([]any)
	for _, p := range plugins {
		if one, ok := p.(plan.Body); ok {
			if in := section(one); in != nil {
				return in
			}
		}
	}
	return nil
}

// ranges changes what is at the top of the section, or the first of ipRanges.
func ranges(d *plan.Draft, in plan.Body) {
	top := in
	if list, ok := in["ipRanges"].([]any); ok && in["range"] == nil && len(list) > 0 {
		if first, ok := list[0].(plan.Body); ok {
			top = first
		}
	}
	if p, given := plan.Value[netip.Prefix](d, "range"); given {
		top["range"] = p.String()
		delete(top, "range_start")
		delete(top, "range_end")
		delete(top, "exclude")
	}
	if a, given := plan.Value[netip.Addr](d, "rangeStart"); given {
		top["range_start"] = a.String()
	}
	if a, given := plan.Value[netip.Addr](d, "rangeEnd"); given {
		top["range_end"] = a.String()
	}
	if all, given := plan.Value[[]netip.Prefix](d, "exclude"); given {
		top["exclude"] = all
	}
	if on, given := plan.Value[bool](d, "overlap"); given {
		in["enable_overlapping_ranges"] = on
	}
	if bits, given := plan.Value[int](d, "nodeSliceSize"); given {
		delete(in, "node_slice_size")
		if bits > 0 {
			in["node_slice_size"] = fmt.Sprintf("/%d", bits)
		}
	}
}
