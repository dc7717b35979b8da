package calico

import (
	"encoding/json"

	"ipamsim/scenarios/dump/kept"
)

// endpoint is what matters of a WorkloadEndpoint: a pod as Calico's CNI plugin
// left it.
type endpoint struct {
	Namespace, Pod, Node, Container string
	IPs                             []string // with their lengths
}

func (c *objects) addEndpoint(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Spec struct {
			Orchestrator string   `json:"orchestrator"`
			Node         string   `json:"node"`
			Pod          string   `json:"pod"`
			ContainerID  string   `json:"containerID"`
			Endpoint     string   `json:"endpoint"`
			IPNetworks   []string `json:"ipNetworks"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	if o.Spec.Pod == "" || o.Spec.Orchestrator != "k8s" {
		c.Ignore("WorkloadEndpoint without a pod")
		return nil
	}
	c.Names(h.Metadata.Namespace + "/" + o.Spec.Pod)
	e := endpoint{h.Metadata.Namespace, o.Spec.Pod, c.Word(o.Spec.Node), o.Spec.ContainerID, o.Spec.IPNetworks}
	return kept.Put(c.Store, c.endpoints, h.Metadata.Namespace+"/"+o.Spec.Pod, h, e)
}

// addCalicoNode reads what calicoctl get nodes prints: on both datastores the
// addresses that Calico knows of the node, which Kubernetes has as annotations.
//
// Source: libcalico-go/lib/backend/k8s/resources, K8sNodeToCalico (v3.31).
func (c *objects) addCalicoNode(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Spec struct {
			BGP struct {
				IPv4Address             string          `json:"ipv4Address"`
				IPv6Address             string          `json:"ipv6Address"`
				IPv4IPIPTunnelAddr      string          `json:"ipv4IPIPTunnelAddr"`
				ASNumber                json.RawMessage `json:"asNumber"`
				RouteReflectorClusterID string          `json:"routeReflectorClusterID"`
			} `json:"bgp"`
			IPv4VXLANTunnelAddr string `json:"ipv4VXLANTunnelAddr"`
			IPv6VXLANTunnelAddr string `json:"ipv6VXLANTunnelAddr"`
			Wireguard           struct {
				InterfaceIPv4Address string `json:"interfaceIPv4Address"`
				InterfaceIPv6Address string `json:"interfaceIPv6Address"`
			} `json:"wireguard"`
			OrchRefs []struct{ NodeName, Orchestrator string } `json:"orchRefs"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	said := map[string]string{}
	for k, v := range map[string]string{
		"IPv4Address": o.Spec.BGP.IPv4Address, "IPv6Address": o.Spec.BGP.IPv6Address, "IPv4IPIPTunnelAddr": o.Spec.BGP.IPv4IPIPTunnelAddr,
		"ASNumber": trimmed(o.Spec.BGP.ASNumber), "RouteReflectorClusterID": o.Spec.BGP.RouteReflectorClusterID,
		"IPv4VXLANTunnelAddr": o.Spec.IPv4VXLANTunnelAddr, "IPv6VXLANTunnelAddr": o.Spec.IPv6VXLANTunnelAddr,
		"IPv4WireguardInterfaceAddr": o.Spec.Wireguard.InterfaceIPv4Address, "IPv6WireguardInterfaceAddr": o.Spec.Wireguard.InterfaceIPv6Address,
	} {
		if v != "" {
			said[nodeNotes+k] = v
		}
	}
	for _, r := range o.Spec.OrchRefs {
		if r.Orchestrator == "k8s" && r.NodeName != "" && r.NodeName != h.Metadata.Name {
			return h.Fail("spec.orchRefs", "Kubernetes calls this node %q; such a cluster cannot be simulated yet", r.NodeName)
		}
	}
	return c.Note(h, said)
}

func trimmed(raw json.RawMessage) string {
	var n json.Number
	if json.Unmarshal(raw, &n) != nil || n == "0" {
		return ""
	}
	return n.String()
}

// addInformation keeps the version that Calico writes of itself.
func (c *objects) addInformation(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		CalicoVersion string `json:"calicoVersion"`
	}
	if err := kept.SpecOf(raw, &o); err != nil {
		return err
	}
	if o.CalicoVersion == "" {
		return nil
	}
	return kept.Put(c.Store, c.information, h.Metadata.Name, h, o.CalicoVersion)
}
