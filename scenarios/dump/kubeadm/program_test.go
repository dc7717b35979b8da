package kubeadm

import (
	"fmt"
	"testing"

	"ipamsim/scenarios/dump/kept"
)

// Flags stand alone or with their values, as words of their own or in the line of a shell. What
// is no value is left out, and the last of one name counts.
func TestArgumentsIn(t *testing.T) {
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{[]string{"kube-controller-manager", "--cluster-cidr=10.42.0.0/24", "--allocate-node-cidrs", "--node-cidr-mask-size", "24", "--v=2"}, "[{allocate-node-cidrs true} {cluster-cidr 10.42.0.0/24} {node-cidr-mask-size 24}]"},
		{[]string{"/bin/sh", "-c", "exec kube-controller-manager --cluster-cidr=10.0.0.0/8,fd00::/48 --allocate-node-cidrs=1 2>&1"}, "[{allocate-node-cidrs true} {cluster-cidr 10.0.0.0/8,fd00::/48}]"},
		{[]string{"--cluster-cidr=10.xx.0.0/16", "--node-cidr-mask-size=abc", "--allocate-node-cidrs=maybe", "--cluster-cidr"}, "[]"},
		{[]string{"--cluster-cidr=10.0.0.0/8", "--cluster-cidr=10.1.0.0/16", "-allocate-node-cidrs=F"}, "[{allocate-node-cidrs false} {cluster-cidr 10.1.0.0/16}]"},
		{[]string{"kube-apiserver", "--service-cluster-ip-range=10.43.0.0/16", "--service-node-port-range=30000-30100"}, "[{service-cluster-ip-range 10.43.0.0/16} {service-node-port-range 30000-30100}]"},
	} {
		if got := fmt.Sprint(argumentsIn(tt.words)); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.words, got, tt.want)
		}
	}
}

// A server of k3s says its ranges by arguments, or has k3s' own; an agent has none.
func TestKeepServer(t *testing.T) {
	for args, want := range map[string]string{
		`["server"]`: "[{allocate-node-cidrs true} {cluster-cidr 10.42.0.0/16} {service-cluster-ip-range 10.43.0.0/16}]",
		`["server","--cluster-cidr","10.0.0.0/16","--cluster-cidr=fd00::/48","--kube-controller-manager-arg","node-cidr-mask-size-ipv4=25","--service-cidr=10.1.0.0/16"]`: "[{allocate-node-cidrs true} {cluster-cidr 10.0.0.0/16,fd00::/48} {node-cidr-mask-size-ipv4 25} {service-cluster-ip-range 10.1.0.0/16}]",
		`["agent","--cluster-cidr=10.0.0.0/16"]`: "",
		`["server","--cluster-cidr=********"]`:   "",
		`no JSON`:                                "",
	} {
		h, in := kept.HeadOf("Node", "n", kept.Head{}.From), kept.Objects[Program]{}
		h.Metadata.Annotations = map[string]string{k3sNote: args}
		ok, err := KeepServer(kept.NewStore(nil), in, h)
		got := ""
		for _, x := range in {
			got = fmt.Sprint(x.Value.Args)
		}
		if err != nil || got != want || ok != (want != "") {
			t.Errorf("%s: %s, %v, %v, want %s", args, got, ok, err, want)
		}
	}
}
