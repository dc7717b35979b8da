package ipam_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/kubeadm"
	"ipamsim/sim/ipam/services"
)

// configured is a cluster with a ClusterConfiguration of kubeadm.
func configured(t *testing.T, text string) []ipam.Object {
	t.Helper()
	body, err := json.Marshal(map[string]any{"data": map[string]string{kubeadm.Field: text}})
	if err != nil {
		t.Fatal(err)
	}
	return []ipam.Object{{Kind: kubeadm.Kind, Namespace: kubeadm.Namespace, Name: kubeadm.Name, Body: body}}
}

// The ranges of Services and of node ports in kubeadm's configuration, or the error in it.
func TestServicesRanges(t *testing.T) {
	for text, want := range map[string]string{
		``: "10.96.0.0/12 30000-32767",
		`networking: {serviceSubnet: "10.96.0.0/28,fd00::/112"}`: "10.96.0.0/28 fd00::/112 30000-32767",
		`{networking: {serviceSubnet: 10.96.0.0/16}, apiServer: {extraArgs: [{name: service-cluster-ip-range, value: 10.97.0.0/24}, {name: v, value: "4"}]}}`: "10.97.0.0/24 30000-32767",
		`apiServer: {extraArgs: {service-node-port-range: 30000-30003}}`:                                                                                      "10.96.0.0/12 30000-30003",
		`networking: {serviceSubnet: 10.96.0.0/31}`:                                                                                                           "--service-cluster-ip-range: 10.96.0.0/31 is too small, want /30 or wider",
		`networking: {serviceSubnet: "10.96.0.0/28,10.97.0.0/28"}`:                                                                                            "--service-cluster-ip-range: \"10.96.0.0/28,10.97.0.0/28\" has two ranges of one IP family, want one of each",
		`networking: {serviceSubnet: "fd00::/48"}`:                                                                                                            "--service-cluster-ip-range: fd00::/48 is too wide, want /64 or narrower",
	} {
		objects := configured(t, text)
		n, _, err := services.New().Primary(objects)
		got := ""
		for _, r := range n.Ranges {
			got += r.Prefix.String() + " "
		}
		if err == nil {
			ports, err := services.NodePorts(objects)
			if got += ports.String(); err != nil {
				t.Error(err)
			}
		} else {
			got = strings.TrimPrefix(err.Error(), "ConfigMap kubeadm-config: ")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Lines for kubectl that are understood, and those that are not.
func TestServicesCommand(t *testing.T) {
	check := services.New().CheckCommand
	for _, line := range []string{
		"kubectl create service clusterip web --tcp=80",
		"kubectl --server=kube-apiserver~2 -n a create service nodeport db --tcp=80",
		"kubectl delete service web",
		`kubectl patch service web --patch={"spec":{"type":"NodePort"}}`,
	} {
		if err := check(strings.Fields(line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, line := range []string{
		"kubectl create service externalname web --tcp=80",
		"kubectl create service clusterip web",
		"kubectl patch service web --patch={",
		"kubectl get services",
		"calicoctl ipam show",
	} {
		if err := check(strings.Fields(line)); err == nil {
			t.Errorf("%s: nothing is wrong with it", line)
		}
	}
}
