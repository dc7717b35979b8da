// Package nodeipam reads out of a dump which ranges of pods' addresses Kubernetes' node
// IPAM controller has given to nodes: the podCIDRs of Node objects.
package nodeipam

import (
	"encoding/json"
	"net/netip"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/kubeadm"
)

// Importer is node IPAM's.
var Importer = &dump.Importer{
	Title: "node IPAM", Sign: "Node with spec.podCIDR",
	Resources: []dump.Resource{kubeadm.Resource, {APIVersion: "v1", Plural: "nodes", Kind: "Node"}, kubeadm.PodResource},
	Apart:     true, Bare: true, Judged: []string{invariant.OutOfPool.Name, invariant.SliceConflict.Name, invariant.UnassignedNode.Name},
	Programs: kubeadm.Programs, Open: open, Check: check,
}

// objects are what is kept of a dump.
type objects struct {
	*dump.Cluster
	cidrs  kept.Objects[[]string] // of each Node
	config kept.Objects[kubeadm.Configuration]
	pods   kept.Objects[kubeadm.Program] // of the control plane
}

func open(c *dump.Cluster) *dump.Reading {
	o := &objects{Cluster: c, cidrs: kept.Objects[[]string]{}, config: kept.Objects[kubeadm.Configuration]{}, pods: kept.Objects[kubeadm.Program]{}}
	return &dump.Reading{
		Add: o.add, Draft: o.draft,
		Found:  o.found,
		OnNode: func(name string, _ *kept.Node) bool { return o.cidrs[name] != nil && len(o.cidrs[name].Value) > 0 },
		Words:  o.words,
		Forget: func() { o.config, o.pods = nil, nil },
	}
}

// found reports whether a Node has a podCIDR.
func (o *objects) found() bool {
	for _, x := range o.cidrs {
		if len(x.Value) > 0 {
			return true
		}
	}
	return false
}

// words are none: where no Node has a podCIDR, none need have one.
func (o *objects) words(*model.Violation) (words string, covered bool) { return "", !o.found() }

func (o *objects) add(h *kept.Head, raw json.RawMessage) (bool, error) {
	switch h.Kind {
	case "ConfigMap":
		return kubeadm.Keep(o.Store, o.config, h, raw)
	case "Pod":
		return kubeadm.KeepPod(o.Store, o.pods, h, raw)
	}
	if _, err := kubeadm.KeepServer(o.Store, o.pods, h); err != nil {
		return false, err
	}
	var spec struct {
		PodCIDR  string   `json:"podCIDR"`
		PodCIDRs []string `json:"podCIDRs"`
	}
	if err := kept.SpecOf(raw, &spec); err != nil {
		return false, err
	}
	if len(spec.PodCIDRs) == 0 && spec.PodCIDR != "" {
		spec.PodCIDRs = []string{spec.PodCIDR}
	}
	for _, s := range spec.PodCIDRs {
		if _, err := netip.ParsePrefix(s); err != nil {
			return false, h.Fail("spec.podCIDRs", "%q is not a range, want e.g. 10.244.1.0/24", s)
		}
	}
	return true, kept.Put(o.Store, o.cidrs, h.Metadata.Name, h, spec.PodCIDRs)
}

// check shows what the nodes have now.
func check(v *model.Violation) string {
	slice := v.Code != "" && v.Invariant == invariant.OutOfPool.Name && model.Named(v.Objects, model.RefPod) == ""
	if v.Invariant == invariant.SliceConflict.Name || v.Invariant == invariant.UnassignedNode.Name || slice {
		return "kubectl get nodes -o custom-columns=NAME:.metadata.name,PODCIDRS:.spec.podCIDRs shows what each node has"
	}
	return ""
}
