// Package kubeadm reads out of a dump what kubeadm has configured of addresses: of its
// ClusterConfiguration nothing else gets into a scenario.
package kubeadm

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/manifest"
	"ipamsim/sim/ipam/kubeadm"
)

// textMax is as much of it as makes sense.
const textMax = 1 << 20

// Resource is the ConfigMap that has it.
var Resource = dump.Resource{APIVersion: "v1", Plural: "configmaps", Kind: kubeadm.Kind, Namespace: kubeadm.Namespace, Only: kubeadm.Name}

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
	ExtraArgs kubeadm.Arguments `json:"extraArgs,omitempty"`
}

// Argument is a flag of a component.
type Argument = kubeadm.Argument

// aboutAddresses are those that are, in the order of flags.
func aboutAddresses(all kubeadm.Arguments) (out kubeadm.Arguments) {
	for _, name := range flags {
		for _, x := range all {
			if x.Name == name {
				out = append(out, x)
			}
		}
	}
	return out
}

// flags are those that are about addresses.
var flags = []string{
	"allocate-node-cidrs", "cidr-allocator-type", "cluster-cidr", "controllers",
	"node-cidr-mask-size", "node-cidr-mask-size-ipv4", "node-cidr-mask-size-ipv6", "service-cluster-ip-range", "service-node-port-range",
}

// Of reads a ConfigMap. ok is false if it is another one.
func Of(h *kept.Head, raw json.RawMessage) (c Configuration, ok bool, err error) {
	if h.Key() != kubeadm.Namespace+"/"+kubeadm.Name {
		return c, false, nil
	}
	var m struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return c, false, err
	}
	text := m.Data[kubeadm.Field]
	if text == "" || len(text) > textMax {
		return c, false, nil
	}
	if yaml.Unmarshal([]byte(text), &c) != nil {
		return c, false, h.Fail("data."+kubeadm.Field, "not a ClusterConfiguration of kubeadm: want YAML with networking.podSubnet or serviceSubnet")
	}
	c.APIServer.ExtraArgs, c.ControllerManager.ExtraArgs = aboutAddresses(c.APIServer.ExtraArgs), aboutAddresses(c.ControllerManager.ExtraArgs)
	return c, true, nil
}

// Keep keeps what a ConfigMap says among a dump's objects; ok is false if it is another one.
func Keep(s *kept.Store, in kept.Objects[Configuration], h *kept.Head, raw json.RawMessage) (ok bool, err error) {
	c, ok, err := Of(h, raw)
	if !ok {
		return false, err
	}
	return true, kept.Put(s, in, h.Key(), h, c)
}

// Write writes the ConfigMap.
func (c *Configuration) Write(w *manifest.Writer) {
	text, err := yaml.Marshal(struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		*Configuration
	}{"kubeadm.k8s.io/v1beta4", kubeadm.Field, c})
	if err != nil && w.Err == nil {
		w.Err = err
	}
	w.Manifest("v1", kubeadm.Kind, manifest.InNamespace(kubeadm.Namespace+"/"+kubeadm.Name), "data", manifest.Object{kubeadm.Field: string(text)})
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
	for _, all := range []kubeadm.Arguments{c.APIServer.ExtraArgs, c.ControllerManager.ExtraArgs} {
		for i := range all {
			if all[i].Name == "cluster-cidr" || all[i].Name == "service-cluster-ip-range" {
				all[i].Value = renamed(a, all[i].Value)
			}
		}
	}
}

func renamed(a *alias.Aliases, list string) string { return strings.Join(a.Texts(Split(list)), ",") }

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
