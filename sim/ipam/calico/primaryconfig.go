package calico

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/projectcalico/calico/cni-plugin/pkg/types"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/record"
)

// The ConfigMap of Calico's manifest that holds the CNI configuration.
const (
	configNamespace = "kube-system"
	configName      = "calico-config"
	configKey       = "cni_network_config"
)

// pluginConfig is the configuration of the CNI plugin.
type pluginConfig struct {
	list   json.RawMessage // with the plugins that follow
	v4, v6 bool
}

// defaultConfig is the part of the manifest's CNI configuration that IPAM depends on.
//
// Source: manifests/calico.yaml (v3.31).
const defaultConfig = `{"name":"` + record.NetworkKey + `","cniVersion":"0.3.1","plugins":[{"type":"calico","ipam":{"type":"calico-ipam"},"policy":{"type":"k8s"}}]}`

// cniConfig reads the list of plugins of the pods' network and checks the part of the calico
// plugin.
//
// Source: cni-plugin/pkg/ipamplugin, cmdAdd, for the families (v3.31).
func cniConfig(all []ipam.Object) (pluginConfig, error) {
	list, bad := defaultConfig, func(err error) error { return fmt.Errorf("calico: %w", err) }
	for _, o := range all {
		if o.Kind != "ConfigMap" || o.Namespace != configNamespace || o.Name != configName {
			continue
		}
		m := corev1.ConfigMap{}
		if err := json.Unmarshal(o.Body, &m); err != nil {
			return pluginConfig{}, &ipam.ObjectError{Object: o, Err: err}
		}
		if text, ok := m.Data[configKey]; ok {
			list = installed(text, m.Data)
			bad = func(err error) error { return &ipam.ObjectError{Object: o, Field: "data." + configKey, Err: err} }
		}
	}
	body, err := pluginPart(list)
	if err != nil {
		return pluginConfig{}, bad(err)
	}
	conf := types.NetConf{}
	if err := json.Unmarshal(body, &conf); err != nil {
		return pluginConfig{}, bad(fmt.Errorf("failed to load netconf: %w", err))
	}
	if conf.IPAM.Type != "calico-ipam" {
		return pluginConfig{}, bad(fmt.Errorf("ipam.type %q: want calico-ipam, no other can be simulated", conf.IPAM.Type))
	}
	if len(conf.ReadinessGates) > 0 {
		return pluginConfig{}, bad(fmt.Errorf("readiness_gates: %s: nothing answers there, no such endpoint can be simulated", conf.ReadinessGates[0]))
	}
	p := pluginConfig{list: json.RawMessage(list), v4: true}
	for _, f := range []struct {
		name  string
		value *string
		to    *bool
	}{{"assign_ipv4", conf.IPAM.AssignIpv4, &p.v4}, {"assign_ipv6", conf.IPAM.AssignIpv6, &p.v6}} {
		if f.value == nil {
			continue
		}
		if *f.value != "true" && *f.value != "false" {
			return pluginConfig{}, bad(fmt.Errorf("ipam.%s %q: want \"true\" or \"false\"; Calico takes everything else for the default", f.name, *f.value))
		}
		*f.to = *f.value == "true"
	}
	if !p.v4 && !p.v6 {
		return pluginConfig{}, bad(fmt.Errorf("ipam: neither assign_ipv4 nor assign_ipv6: no pod would get an address"))
	}
	return p, nil
}

// installed replaces the placeholders of Calico's installer that are not strings.
//
// Source: cni-plugin/pkg/install, writeCNIConfig (v3.31).
func installed(text string, data map[string]string) string {
	mtu := cmp.Or(data["veth_mtu"], "1500")
	return strings.NewReplacer("__CNI_MTU__", mtu, "__REQUIRE_MTU_FILE__", "false",
		"__LOG_FILE_MAX_SIZE__", "100", "__LOG_FILE_MAX_AGE__", "30", "__LOG_FILE_MAX_COUNT__", "10").Replace(text)
}

// pluginPart extracts the calico plugin from a list of plugins, with the list's name and version,
// as a container runtime passes it.
func pluginPart(list string) (json.RawMessage, error) {
	var l struct {
		Name       string           `json:"name"`
		CNIVersion string           `json:"cniVersion"`
		Plugins    []map[string]any `json:"plugins"`
	}
	if err := json.Unmarshal([]byte(list), &l); err != nil {
		return nil, err
	}
	if l.Name != record.NetworkKey {
		return nil, fmt.Errorf("name %q: want %s, by which Calico's own addresses are known", l.Name, record.NetworkKey)
	}
	for _, p := range l.Plugins {
		if p["type"] == "calico" {
			p["name"], p["cniVersion"] = l.Name, l.CNIVersion
			return json.Marshal(p)
		}
	}
	return nil, fmt.Errorf("plugins: none is of type calico")
}
