package services

import (
	"strings"
	"testing"
)

// What kubeadm's configuration says of Services' ranges, or what is wrong with it.
func TestConfig(t *testing.T) {
	for text, want := range map[string]string{
		``: "10.96.0.0/12 30000-32767",
		`networking: {serviceSubnet: "10.96.0.0/28,fd00::/112"}`: "10.96.0.0/28 fd00::/112 30000-32767",
		`{networking: {serviceSubnet: 10.96.0.0/16}, apiServer: {extraArgs: [{name: service-cluster-ip-range, value: 10.97.0.0/24}, {name: v, value: "4"}]}}`: "10.97.0.0/24 30000-32767",
		`apiServer: {extraArgs: {service-node-port-range: 30000-30003}}`:                                                                                      "10.96.0.0/12 30000-30003",
		`networking: {serviceSubnet: 10.96.0.0/31}`:                                                                                                           "--service-cluster-ip-range: 10.96.0.0/31 is too small, want /30 or wider",
		`networking: {serviceSubnet: "10.96.0.0/28,10.97.0.0/28"}`:                                                                                            "--service-cluster-ip-range: \"10.96.0.0/28,10.97.0.0/28\" has two ranges of one IP family, want one of each",
		`networking: {serviceSubnet: "fd00::/48"}`:                                                                                                            "--service-cluster-ip-range: fd00::/48 is too wide, want /64 or narrower",
	} {
		c, err := readConfig(text)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			for _, r := range c.ranges {
				got += r.String() + " "
			}
			got += c.ports.String()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Lines for kubectl that are understood, and those that are not.
func TestCommand(t *testing.T) {
	for line, want := range map[string]string{
		"kubectl create service clusterip web --tcp=80":                              " create default/web",
		"kubectl --server=kube-apiserver~2 -n a create service nodeport db --tcp=80": "kube-apiserver~2 create a/db",
		"kubectl delete service web":                                                 " delete default/web",
		`kubectl patch service web --patch={"spec":{"type":"NodePort"}}`:             " merge-patch default/web",
		"kubectl create service externalname web --tcp=80":                           "!",
		"kubectl create service clusterip web":                                       "!",
		"kubectl patch service web --patch={":                                        "!",
		"kubectl get services":                                                       "!",
		"calicoctl ipam show":                                                        "!",
	} {
		c, err := readCommand(strings.Fields(line))
		got := c.server + " " + string(c.verb) + " " + c.object.Namespace + "/" + c.object.Name
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
