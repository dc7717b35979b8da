package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster/checker"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// CheckManifests checks the state that the manifests of a cluster describe, without storing
// them and without a step. It has no grace periods: an address that is leaked in the
// manifests counts as leaked immediately. Hooks are not called. For leaving see
// checker.Checker.CheckRecord.
func CheckManifests(w *sim.World, cfg Config, leaving func(model.PodRef) bool) (*checker.Snapshot, error) {
	if cfg.Manager.Read == nil {
		return nil, fmt.Errorf("cluster: %s: its record cannot be read without a run (ipam.Manager.Read)", cfg.Manager.Name)
	}
	c, err := blank(w, cfg)
	if err != nil {
		return nil, err
	}
	record, err := cfg.Manager.Read(cfg.Objects, c.networks())
	if err != nil {
		return nil, err
	}
	var left func(context.Context, ipam.Call, []netip.Addr) error
	if adopts := cfg.Manager.Adopts; adopts != nil {
		left = func(_ context.Context, call ipam.Call, addrs []netip.Addr) error {
			adopts(&record, call, addrs)
			return nil
		}
	}
	if err := c.imagine(cfg.Objects, left); err != nil {
		return nil, err
	}
	return c.Checker.CheckRecord(record, leaving), nil
}

// imagine adds the nodes and pods of manifests to the cache as if they were stored, and
// adopts the running pods. For left see adopt.
func (c *Cluster) imagine(objs []Object, left func(context.Context, ipam.Call, []netip.Addr) error) error {
	on := map[string][]*corev1.Pod{}
	for _, o := range objs {
		switch o.Kind {
		case "Node":
			n := &corev1.Node{}
			if err := json.Unmarshal(o.Body, n); err != nil {
				return &Rejected{o, err}
			}
			c.keep(kube.Change{Resource: "nodes", Name: o.Name, Object: n})
		case "Pod":
			p := &corev1.Pod{}
			if err := json.Unmarshal(o.Body, p); err != nil {
				return &Rejected{o, err}
			}
			p.Namespace, p.UID = o.Namespace, types.UID(o.Namespace+"/"+o.Name)
			c.keep(kube.Change{Resource: "pods", Namespace: o.Namespace, Name: o.Name, Object: p})
			on[p.Spec.NodeName] = append(on[p.Spec.NodeName], p)
		}
	}
	for _, name := range c.Nodes() {
		c.found(name)
		if err := c.adopt(name, on[name], left); err != nil {
			return err
		}
	}
	return nil
}
