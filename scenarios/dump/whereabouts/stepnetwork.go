package whereabouts

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"ipamsim/reports"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/remedy"
)

const networksResource = "network-attachment-definitions.k8s.cni.cncf.io"

// exclude is the step that takes an address out of the range of a network; nil: there is none.
func exclude(d *diagnosis.Drafts, network string, addr netip.Addr) remedy.Step {
	c, ok := dump.KeptOf[*objects](d.Cluster)
	if !ok || c.attachments[network] == nil {
		return nil
	}
	old := c.attachments[network].Value
	changed, ok := without(old, addr)
	if !ok {
		return nil
	}
	namespace, name, _ := strings.Cut(network, "/")
	return excludeAddr{Addr: addr, Namespace: namespace, Name: name, Old: old, New: changed}
}

// excludeAddr excludes an address from the range of a network, if the configuration is still the same.
type excludeAddr struct {
	Addr            netip.Addr
	Namespace, Name string
	Old, New        string // spec.config
}

// Say says what.
func (e excludeAddr) Say() string {
	return fmt.Sprintf("exclude %s from the range of network %s/%s (ipam.exclude in its spec.config)", e.Addr, e.Namespace, e.Name)
}

// Commands patch the NetworkAttachmentDefinition.
func (e excludeAddr) Commands() []string {
	patch, _ := json.Marshal([]map[string]string{
		{"op": "test", "path": "/spec/config", "value": e.Old}, {"op": "replace", "path": "/spec/config", "value": e.New},
	})
	return []string{fmt.Sprintf("kubectl patch %s %s -n %s --type=json -p %s", networksResource, reports.Shell(e.Name), reports.Shell(e.Namespace), reports.Shell(string(patch)))}
}

// Perform excludes it in the configuration that the run begins with.
func (e excludeAddr) Perform(s *remedy.Script) {
	s.Edit("NetworkAttachmentDefinition", e.Namespace, e.Name, e.Addr, func(body json.RawMessage) (json.RawMessage, error) {
		var o map[string]any
		if err := json.Unmarshal(body, &o); err != nil {
			return nil, err
		}
		spec, _ := o["spec"].(map[string]any)
		config, _ := spec["config"].(string)
		changed, ok := without(config, e.Addr)
		if !ok {
			return nil, fmt.Errorf("spec.config: no range has %s", e.Addr)
		}
		spec["config"] = changed
		return json.Marshal(o)
	})
}

// without is a configuration in which the ranges of Whereabouts that have an address exclude it.
func without(config string, addr netip.Addr) (changed string, ok bool) {
	var o map[string]any
	if json.Unmarshal([]byte(config), &o) != nil {
		return "", false
	}
	plugins, _ := o["plugins"].([]any)
	for _, p := range append(plugins, any(o)) {
		m, _ := p.(map[string]any)
		section, _ := m["ipam"].(map[string]any)
		if section["type"] != upstreamName {
			continue
		}
		more, _ := section["ipRanges"].([]any)
		for _, r := range append(more, any(section)) {
			of, _ := r.(map[string]any)
			text, _ := of["range"].(string)
			if _, after, ends := strings.Cut(text, "-"); ends {
				text = after
			}
			if p, err := netip.ParsePrefix(text); err == nil && p.Contains(addr) {
				all, _ := of["exclude"].([]any)
				of["exclude"], ok = append(all, netip.PrefixFrom(addr, addr.BitLen()).String()), true
			}
		}
	}
	text, err := json.Marshal(o)
	return string(text), ok && err == nil
}
