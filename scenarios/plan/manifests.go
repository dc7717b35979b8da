package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"ipamsim/model/capacity"
	"ipamsim/sim/cluster"
)

// The kinds that settings change, and the names that what is not there gets.
const (
	poolKind       = "IPPool"
	attachmentKind = "NetworkAttachmentDefinition"
	nodeKind       = "Node"
	podKind        = "Pod"
	configKind     = "IPAMConfig"
	configKindV3   = "IPAMConfiguration"
	collectorKind  = "KubeControllersConfiguration"

	crdVersion  = "crd.projectcalico.org/v1"
	defaultPool = "default-ipv4-ippool"
	defaultNet  = "pods"
)

// body is a manifest that is being changed.
type body = map[string]any

// objects are the manifests with what the settings say; nodes and pods are left
// out, which a run has of its own.
func (d *draft) objects(base []cluster.Object) ([]cluster.Object, error) {
	var out []cluster.Object
	for _, o := range base {
		if !slices.Contains(left, o.Kind) {
			out = append(out, o)
		}
	}
	var err error
	for _, change := range []func([]cluster.Object) ([]cluster.Object, error){d.withPools, d.withConfig, d.withCollector, d.withRange} {
		if out, err = change(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// left are the kinds of what runs, and of what makes it run.
var left = []string{nodeKind, podKind, "StatefulSet", "Deployment", "DaemonSet", "Job", "CronJob", "Lease"}

// change changes the first manifest of a kind, or makes one.
func change(all []cluster.Object, kind string, f func(body) error) ([]cluster.Object, error) {
	i := slices.IndexFunc(all, func(o cluster.Object) bool { return o.Kind == kind })
	if i < 0 {
		return all, nil
	}
	b, err := open(all[i])
	if err == nil {
		err = f(b)
	}
	if err == nil {
		all[i].Body, err = json.Marshal(b)
	}
	return all, err
}

func open(o cluster.Object) (body, error) {
	b := body{}
	d := json.NewDecoder(bytes.NewReader(o.Body))
	d.UseNumber()
	return b, d.Decode(&b)
}

// under is the mapping under a key, made if there is none.
func under(b body, key string) body {
	inner, ok := b[key].(body)
	if !ok {
		inner = body{}
		b[key] = inner
	}
	return inner
}

func manifest(apiVersion, kind, namespace, name string, spec body) (cluster.Object, error) {
	meta := body{"name": name}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	b, err := json.Marshal(body{"apiVersion": apiVersion, "kind": kind, "metadata": meta, "spec": spec})
	return cluster.Object{Kind: kind, Namespace: namespace, Name: name, Body: b}, err
}

// withConfig sets IPAMConfig.
func (d *draft) withConfig(all []cluster.Object) ([]cluster.Object, error) {
	if d.strict == nil && d.auto == nil && d.maxBlocks == nil {
		return all, nil
	}
	kind := configKind
	if slices.ContainsFunc(all, func(o cluster.Object) bool { return o.Kind == configKindV3 }) {
		kind = configKindV3
	} else if !slices.ContainsFunc(all, func(o cluster.Object) bool { return o.Kind == configKind }) {
		o, err := manifest(crdVersion, configKind, "", "default", body{"strictAffinity": false, "autoAllocateBlocks": true, "maxBlocksPerHost": 0})
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return change(all, kind, func(b body) error {
		spec := under(b, "spec")
		if d.strict != nil {
			spec["strictAffinity"] = *d.strict
		}
		if d.auto != nil {
			spec["autoAllocateBlocks"] = *d.auto
		}
		if d.maxBlocks != nil {
			spec["maxBlocksPerHost"] = *d.maxBlocks
		}
		return nil
	})
}

// withCollector sets the collector's grace period; without the node controller in
// its configuration it never takes anything for leaked.
func (d *draft) withCollector(all []cluster.Object) ([]cluster.Object, error) {
	if !d.given["grace"] {
		return all, nil
	}
	all = slices.DeleteFunc(all, func(o cluster.Object) bool { return o.Kind == collectorKind })
	controllers := body{}
	if d.collect.Grace > 0 {
		controllers["node"] = body{"leakGracePeriod": d.collect.Grace.String()}
	}
	o, err := manifest("projectcalico.org/v3", collectorKind, "", "default", body{"controllers": controllers})
	return append(all, o), err
}

// withRange sets the range of the first network.
func (d *draft) withRange(all []cluster.Object) ([]cluster.Object, error) {
	if d.manager != whereaboutsName {
		return all, nil
	}
	if !slices.ContainsFunc(all, func(o cluster.Object) bool { return o.Kind == attachmentKind }) {
		o, err := manifest("k8s.cni.cncf.io/v1", attachmentKind, "default", defaultNet, body{"config": `{"cniVersion": "0.3.1", "type": "ipvlan", "ipam": {"type": "whereabouts"}}`})
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return change(all, attachmentKind, func(b body) error {
		spec := under(b, "spec")
		text, _ := spec["config"].(string)
		conf := body{}
		if err := json.Unmarshal([]byte(text), &conf); err != nil {
			return err
		}
		in := section(conf)
		if in == nil {
			return fmt.Errorf("the first network's configuration has no ipam of type whereabouts")
		}
		d.ranges(in)
		out, err := json.Marshal(conf)
		spec["config"] = string(out)
		return err
	})
}

// section finds the ipam of a configuration or of a list of plugins.
func section(conf body) body {
	if in, ok := conf["ipam"].(body); ok && in["type"] == whereaboutsName {
		return in
	}
	plugins, _ := conf["plugins"].([]any)
	for _, p := range plugins {
		if one, ok := p.(body); ok {
			if in := section(one); in != nil {
				return in
			}
		}
	}
	return nil
}

// ranges changes what is at the top of the section, or the first of ipRanges.
func (d *draft) ranges(in body) {
	top := in
	if list, ok := in["ipRanges"].([]any); ok && in["range"] == nil && len(list) > 0 {
		if first, ok := list[0].(body); ok {
			top = first
		}
	}
	if d.span.IsValid() {
		top["range"] = d.span.String()
		delete(top, "range_start")
		delete(top, "range_end")
		delete(top, "exclude")
	}
	if d.start.IsValid() {
		top["range_start"] = d.start.String()
	}
	if d.end.IsValid() {
		top["range_end"] = d.end.String()
	}
	if d.exclude != nil {
		top["exclude"] = d.exclude
	}
	if d.overlap != nil {
		in["enable_overlapping_ranges"] = *d.overlap
	}
	if d.slice != nil {
		delete(in, "node_slice_size")
		if *d.slice > 0 {
			in["node_slice_size"] = fmt.Sprintf("/%d", *d.slice)
		}
	}
}

// machines are the nodes at the beginning: the first of the manifests, and as many
// more as it takes.
func (d *draft) machines(base []cluster.Object) (out []machine, err error) {
	for _, o := range base {
		if o.Kind != nodeKind {
			continue
		}
		var n struct {
			Metadata struct {
				Labels      map[string]string `json:"labels"`
				Annotations map[string]string `json:"annotations"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(o.Body, &n); err != nil {
			return nil, err
		}
		addr, _ := netip.ParsePrefix(n.Metadata.Annotations[addrAnnotation]) // not valid: the simulated cluster gives it one
		out = append(out, machine{capacity.Node{Name: o.Name, Labels: n.Metadata.Labels, Addr: addr}, o.Body})
	}
	slices.SortStableFunc(out, func(a, b machine) int { return cmp.Compare(a.Name, b.Name) })
	have := map[string]bool{}
	for _, m := range out {
		have[m.Name] = true
	}
	if d.nodes == 0 {
		return out, nil
	}
	for i := 1; len(out) < d.nodes; i++ {
		if name := fmt.Sprintf("node-%04d", i); !have[name] {
			out = append(out, machine{capacity.Node{Name: name}, cluster.NodeManifest(name, nil)})
		}
	}
	return out[:d.nodes], nil
}

// machine is a node of the beginning.
type machine struct {
	capacity.Node
	body json.RawMessage
}

// addrAnnotation is where calico-node writes the address it announces routes from.
const addrAnnotation = "projectcalico.org/IPv4Address"
