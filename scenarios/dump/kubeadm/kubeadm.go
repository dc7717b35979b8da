// Package kubeadm reads out of a dump what kubeadm has configured of addresses: of its
// ClusterConfiguration nothing else gets into a scenario.
package kubeadm

import (
	"encoding/json"
	"net/netip"
	"slices"

	"sigs.k8s.io/yaml"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/manifest"
)

// Where kubeadm keeps it, and what takes no more of it than makes sense.
const (
	namespace = "kube-system"
	name      = "kubeadm-config"
	field     = "ClusterConfiguration"
	textMax   = 1 << 20
)

// Resource is the ConfigMap that has it.
var Resource = dump.Resource{APIVersion: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespace: namespace, Only: name}

// Configuration is the part of a ClusterConfiguration that is about addresses.
type Configuration struct {
	Networking        Networking `json:"networking"`
	APIServer         Component  `json:"apiServer"`
	ControllerManager Component  `json:"controllerManager"`
}

// Networking are ranges, as kubeadm has them: one, or two with a comma.
type Networking struct {
	PodSubnet     string `json:"podSubnet,omitempty"`
	ServiceSubnet string `json:"serviceSubnet,omitempty"`
}

// Component is what a program of the control plane is started with.
type Component struct {
	ExtraArgs Arguments `json:"extraArgs,omitempty"`
}

// Arguments are flags without their dashes: a list (v1beta4), or names with their values
// (v1beta3).
type Arguments []Argument

// Argument is one of them.
type Argument struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// UnmarshalJSON implements json.Unmarshaler. Of names with their values those are kept that
// are about addresses, in the order of flags.
func (a *Arguments) UnmarshalJSON(b []byte) error {
	var list []Argument
	if json.Unmarshal(b, &list) != nil {
		values := map[string]string{}
		if err := json.Unmarshal(b, &values); err != nil {
			return err
		}
		for name, v := range values {
			list = append(list, Argument{name, v})
		}
	}
	*a = nil
	for _, name := range flags {
		for _, x := range list {
			if x.Name == name {
				*a = append(*a, x)
			}
		}
	}
	return nil
}

// flags are those that are about addresses.
var flags = []string{
	"allocate-node-cidrs", "cidr-allocator-type", "cluster-cidr", "controllers",
	"node-cidr-mask-size", "node-cidr-mask-size-ipv4", "node-cidr-mask-size-ipv6", "service-cluster-ip-range", "service-node-port-range",
}

// Of reads a ConfigMap. ok is false if it is another one.
func Of(h *kept.Head, raw json.RawMessage) (c Configuration, ok bool, err error) {
	if h.Key() != namespace+"/"+name {
		return c, false, nil
	}
	var m struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return c, false, err
	}
	text := m.Data[field]
	if text == "" || len(text) > textMax {
		return c, false, nil
	}
	if yaml.Unmarshal([]byte(text), &c) != nil {
		return c, false, h.Fail("data."+field, "no ClusterConfiguration of kubeadm, want YAML with networking.podSubnet or serviceSubnet")
	}
	return c, true, nil
}

// Write writes the ConfigMap.
func (c *Configuration) Write(w *manifest.Writer) {
	text, err := yaml.Marshal(struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		*Configuration
	}{"kubeadm.k8s.io/v1beta4", field, c})
	if err != nil && w.Err == nil {
		w.Err = err
	}
	w.Manifest("v1", "ConfigMap", manifest.InNamespace(namespace+"/"+name), "data", manifest.Object{field: string(text)})
}

// Ranges are texts with the ranges of pods and of Services, each a CIDR.
func (c *Configuration) Ranges() []string {
	return slices.Concat(Split(c.Networking.PodSubnet), Split(c.Networking.ServiceSubnet), c.flag("cluster-cidr"), c.flag("service-cluster-ip-range"))
}

// flag are the ranges that a flag of either program has.
func (c *Configuration) flag(name string) (out []string) {
	for _, x := range slices.Concat(c.APIServer.ExtraArgs, c.ControllerManager.ExtraArgs) {
		if x.Name == name {
			out = append(out, Split(x.Value)...)
		}
	}
	return out
}

// Rename gives the ranges their aliases.
func (c *Configuration) Rename(a *alias.Aliases) {
	c.Networking.PodSubnet = renamed(a, c.Networking.PodSubnet)
	c.Networking.ServiceSubnet = renamed(a, c.Networking.ServiceSubnet)
	for _, all := range []Arguments{c.APIServer.ExtraArgs, c.ControllerManager.ExtraArgs} {
		for i := range all {
			if all[i].Name == "cluster-cidr" || all[i].Name == "service-cluster-ip-range" {
				all[i].Value = renamed(a, all[i].Value)
			}
		}
	}
}

func renamed(a *alias.Aliases, list string) string { return Join(a.Texts(Split(list))...) }

// Around is a range of so many bits less than the longest of some prefixes of one family,
// which has the first of them in it.
func Around(all []netip.Prefix, bits int) (around netip.Prefix, longest int) {
	for _, p := range all {
		longest = max(longest, p.Bits())
	}
	if len(all) == 0 {
		return around, 0
	}
	around, _ = all[0].Addr().Prefix(max(min(longest-bits, all[0].Bits()), 0))
	return around, longest
}
