package calico

import (
	"encoding/json"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/manifest"
)

// Balancers is the importer of what Calico's load balancer controller has given to Services.
// Blocks of pods are the other one's.
var Balancers = &dump.Importer{
	Title: "Calico's LoadBalancer IPAM", Sign: "Calico IPPool with allowedUses LoadBalancer",
	Resources: slices.Concat(slices.DeleteFunc(slices.Clone(resources), func(r dump.Resource) bool {
		return !slices.Contains([]string{"IPPool", "IPReservation", "IPAMConfig", "IPAMConfiguration", "KubeControllersConfiguration", "BlockAffinity", "IPAMBlock", "IPAMHandle"}, r.Kind)
	}), []dump.Resource{{APIVersion: "v1", Plural: "services", Kind: "Service", Namespaced: true}}),
	Groups: []string{group, secondGroup},
	Apart:  true, Balances: true, Judged: ofBalancers,
	Open: openBalancers, Check: checkBalancer,
}

var ofBalancers = []string{
	invariant.DuplicateLoadBalancerIP.Name, invariant.LeakedLoadBalancerIP.Name, invariant.SurplusLoadBalancerIP.Name, invariant.UnservedLoadBalancer.Name,
}

// balancers are what is kept of a dump.
type balancers struct {
	*objects
	services kept.Objects[balancer] // those of type LoadBalancer, by namespace/name
	assigns  string                 // which Services are served
}

// balancer is what is kept of a Service.
type balancer struct {
	UID         string
	Annotations map[string]string
	Spec        balancerSpec
	Addrs       []string // of its status
}

type balancerSpec struct {
	Type              string   `json:"type"`
	ClusterIP         string   `json:"clusterIP,omitempty"`
	ClusterIPs        []string `json:"clusterIPs,omitempty"`
	IPFamilies        []string `json:"ipFamilies,omitempty"`
	IPFamilyPolicy    string   `json:"ipFamilyPolicy,omitempty"`
	LoadBalancerClass *string  `json:"loadBalancerClass,omitempty"`
}

func openBalancers(c *dump.Cluster) *dump.Reading {
	o := &balancers{objects: newObjects(c), services: kept.Objects[balancer]{}}
	return &dump.Reading{
		Add: o.add, Draft: o.draft,
		Found:  func() bool { return o.kdd && len(o.pools) > 0 },
		Forget: o.forget,
	}
}

// add keeps the objects of load balancers.
func (o *balancers) add(h *kept.Head, raw json.RawMessage) (bool, error) {
	switch h.Kind {
	case "Service":
		return o.addService(h, raw)
	case "KubeControllersConfiguration":
		return true, o.addAssigns(h, raw)
	}
	apart := newObjects(o.Cluster)
	if err := adders[h.Kind](apart, h, raw); err != nil {
		return false, err
	}
	o.kdd = o.kdd || apart.kdd
	return o.keep(apart), nil
}

// keep takes over what was read of one object, if it is of load balancers.
func (o *balancers) keep(of *objects) (kept bool) {
	for name, p := range of.pools {
		if slices.Contains(p.Value.AllowedUses, "LoadBalancer") {
			o.pools[name], kept = p, true
		}
	}
	for key, b := range of.blocks {
		if deref(b.Value.Affinity) == virtual+":"+balancerHost {
			o.blocks[key], kept = b, true
		}
	}
	for key, a := range of.affinities {
		if a.Value.Type == virtual && a.Value.Node == balancerHost {
			o.affinities[key], kept = a, true
		}
	}
	for id, x := range of.handles {
		if strings.HasPrefix(id, balancerHandle) {
			o.handles[id], kept = x, true
		}
	}
	for name, x := range of.reservations {
		o.reservations[name], kept = x, true
	}
	for name, x := range of.config {
		o.config[name], kept = x, true
	}
	return kept
}

// Whose blocks are those of load balancers, and how their handles begin.
//
// Source: api/pkg/apis/projectcalico/v3, VirtualLoadBalancer;
// kube-controllers/pkg/controllers/loadbalancer, createHandle (v3.31).
const (
	virtual        = "virtual"
	balancerHost   = "load-balancer"
	balancerHandle = "lb-"
)

// uidNote of a Service in a scenario is the UID that it has in the cluster: its handle is made
// of it.
const uidNote = "ipamsim.dev/uid"

func (o *balancers) addAssigns(_ *kept.Head, raw json.RawMessage) error {
	var x struct {
		Spec struct {
			Controllers struct {
				LoadBalancer struct {
					AssignIPs string `json:"assignIPs"`
				} `json:"loadBalancer"`
			} `json:"controllers"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &x); err != nil {
		return err
	}
	if s := x.Spec.Controllers.LoadBalancer.AssignIPs; s == "RequestedServicesOnly" {
		o.assigns = s
	}
	return nil
}

func (o *balancers) addService(h *kept.Head, raw json.RawMessage) (bool, error) {
	var x struct {
		Metadata struct{ UID string }
		Spec     balancerSpec
		Status   struct {
			LoadBalancer struct{ Ingress []struct{ IP string } }
		}
	}
	if err := json.Unmarshal(raw, &x); err != nil {
		return false, err
	}
	if h.Metadata.Namespace == "" {
		h.Metadata.Namespace = "default"
	}
	if x.Spec.Type != "LoadBalancer" {
		return false, nil
	}
	b := balancer{UID: x.Metadata.UID, Spec: x.Spec}
	for k, v := range h.Metadata.Annotations {
		if strings.HasPrefix(k, nodeNotes) {
			b.Annotations = kept.Over(b.Annotations, map[string]string{k: v})
		}
	}
	for _, i := range x.Status.LoadBalancer.Ingress {
		b.Addrs = append(b.Addrs, i.IP)
	}
	return true, kept.Put(o.Store, o.services, h.Key(), h, b)
}

// draft makes a scenario with Services and their blocks. Without all Services, the owners of a block's
// addresses are unknown.
func (o *balancers) draft(d *dump.Draft) (*dump.Record, error) {
	clear(d.Nodes)
	r := &record{
		Draft: d, c: o.objects, blocks: map[string]*blockSpec{}, pools: map[string]*poolSpec{}, handles: map[string]*handleSpec{},
		reserving: map[string]*reservationSpec{},
	}
	r.take()
	if x := o.config["default"]; x != nil {
		r.config = &x.Value
	}
	all := o.SawAll("services")
	for _, x := range o.services {
		all = all && x.Value.UID != "" // the handle contains it
	}
	if !all {
		r.blocks, r.affinities, r.handles = nil, nil, nil
	}
	for key, x := range o.services {
		d.Origin("Service "+key, x.From)
	}
	return &dump.Record{
		Claims: r.claims, Settings: func(w *manifest.Writer) { r.writePools(w); o.writeAssigns(w) },
		Write:     func(w *manifest.Writer) { r.write(w); o.writeServices(w, all) },
		Datastore: "kubernetes", Spec: func(spec map[string]any) { spec["nodes"] = []string{"n0"} },
		Unjudged: func() []scenarios.Unjudged {
			if all {
				return nil
			}
			return []scenarios.Unjudged{{What: ofBalancers, Without: []string{"services"}}}
		},
		Needs: func(x *dump.Resource) []string {
			if x.Kind == "IPAMBlock" && x.Group() == group {
				return ofBalancers
			}
			return nil
		},
	}, nil
}

func (o *balancers) writeAssigns(w *manifest.Writer) {
	spec := manifest.Object{"node": manifest.Object{"leakGracePeriod": "15m0s"}}
	if o.assigns != "" {
		spec["loadBalancer"] = manifest.Object{"assignIPs": o.assigns}
	}
	w.Manifest(version, "KubeControllersConfiguration", manifest.Named("default"), "spec", manifest.Object{"controllers": spec})
}

func (o *balancers) writeServices(w *manifest.Writer, all bool) {
	if !all {
		return
	}
	for _, key := range o.services.Keys() {
		x := o.services[key].Value
		meta := manifest.With(manifest.InNamespace(key), "annotations", kept.Over(x.Annotations, map[string]string{uidNote: x.UID}))
		var ingress []manifest.Object
		for _, a := range x.Addrs {
			if a != "" {
				ingress = append(ingress, manifest.Object{"ip": a})
			}
		}
		w.Manifest("v1", "Service", meta, "spec", x.Spec, "status", manifest.Object{"loadBalancer": manifest.Object{"ingress": ingress}})
	}
}

// checkBalancer shows what the Service has now.
func checkBalancer(v *model.Violation) string {
	namespace, name, ok := strings.Cut(model.Named(v.Objects, model.RefService), "/")
	if !ok || !slices.Contains(ofBalancers, v.Invariant) {
		return ""
	}
	return "kubectl get service -n " + namespace + " " + name + " -o jsonpath={.status.loadBalancer.ingress}, and calicoctl ipam show --show-blocks"
}
