package calico

import (
	"encoding/json"
	"errors"
	"fmt"

	libapi "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
)

// The annotations of a pod, and the first three also of its namespace, that decide
// about its addresses.
const (
	ipv4Pools     = "cni.projectcalico.org/ipv4pools"
	ipv6Pools     = "cni.projectcalico.org/ipv6pools"
	ipFamilies    = "cni.projectcalico.org/ipFamilies"
	ipAddrs       = "cni.projectcalico.org/ipAddrs"
	ipAddrsNoIpam = "cni.projectcalico.org/ipAddrsNoIpam"
)

// The values of the network configuration that matter: "type" of its policy and of
// its IPAM.
const (
	kubernetesPolicy = "k8s"
	ipamType         = "calico-ipam"
)

// podFacts are what the plugin learns from the Kubernetes API, which it asks only
// if the configuration has the policy type k8s.
type podFacts struct {
	labels, annotations          map[string]string
	ports                        []libapi.WorkloadEndpointPort
	profiles                     []string
	generateName, serviceAccount string
	asks                         bool // for certain addresses, pools or families
}

// readPod reads namespace and pod, two messages, and puts the pools and families
// that their annotations ask for into the configuration of the IPAM plugin.
//
// Source: cni-plugin/pkg/k8s/k8s.go, CmdAddK8s.
func (p *plugin) readPod() (*podFacts, error) {
	f := &podFacts{profiles: []string{p.conf.Name}}
	if p.conf.Policy.PolicyType != kubernetesPolicy {
		return f, nil
	}
	namespace, err := namespaceAnnotations(p.kube, p.call.Pod.Namespace)
	if err != nil {
		return nil, err
	}
	f.labels, f.annotations, f.ports, f.profiles, f.generateName, f.serviceAccount, err = podInfo(p.kube, p.call.Pod.Name, p.call.Pod.Namespace)
	if err != nil || p.conf.IPAM.Type != ipamType {
		return f, err
	}
	wanted := map[string]string{}
	for _, key := range []string{ipv4Pools, ipv6Pools, ipFamilies} {
		if v := f.annotations[key]; v != "" {
			wanted[key] = v
		} else if v := namespace[key]; v != "" {
			wanted[key] = v
		}
	}
	f.asks = f.annotations[ipAddrs] != "" || len(wanted) > 0
	return f, p.configure(wanted)
}

// configure changes the configuration that the IPAM plugin will read. What is not
// known of it stays as it is.
func (p *plugin) configure(wanted map[string]string) error {
	if len(wanted) == 0 {
		return nil
	}
	var data map[string]any
	if err := json.Unmarshal(p.stdin, &data); err != nil {
		return err
	}
	section, ok := data["ipam"].(map[string]any)
	if !ok {
		return errors.New("data on stdin was of unexpected type")
	}
	for _, o := range []struct{ annotation, field string }{{ipv4Pools, "ipv4_pools"}, {ipv6Pools, "ipv6_pools"}} {
		if v := wanted[o.annotation]; v != "" {
			var pools []string
			if err := json.Unmarshal([]byte(v), &pools); err != nil {
				return err
			}
			section[o.field] = pools
		}
	}
	if v := wanted[ipFamilies]; v != "" {
		v4, v6, err := families(v)
		if err != nil {
			return err
		}
		section["assign_ipv4"], section["assign_ipv6"] = fmt.Sprint(v4), fmt.Sprint(v6)
	}
	var err error
	p.stdin, err = json.Marshal(data)
	return err
}

func families(annotation string) (v4, v6 bool, err error) {
	var all []string
	if err := json.Unmarshal([]byte(annotation), &all); err != nil {
		return false, false, err
	}
	for _, f := range all {
		switch f {
		case "IPv4":
			v4 = true
		case "IPv6":
			v6 = true
		default:
			return false, false, fmt.Errorf("error parsing ipFamilies: %s", annotation)
		}
	}
	return v4, v6, nil
}
