package nodeipam

import (
	"fmt"
	"strings"
	"testing"
)

// What kubeadm's configuration says of nodes' ranges.
func TestRanges(t *testing.T) {
	const args = "\ncontrollerManager: {extraArgs: "
	for _, c := range []struct{ text, want, wrong string }{
		{`networking: {podSubnet: 10.244.0.0/16, serviceSubnet: 10.96.0.0/12}`, "10.244.0.0/16 24 []", ""},
		{`networking: {podSubnet: 10.0.0.0/8, serviceSubnet: 10.96.0.0/12}`, "10.0.0.0/8 24 [10.96.0.0/12]", ""},
		{`networking: {podSubnet: "fd00::/48"}`, "fd00::/48 64 []", ""},
		{`networking: {podSubnet: "fd00::/56,10.244.0.0/20"}` + args + `[{name: node-cidr-mask-size-ipv4, value: "26"}]}`, "fd00::/56 64 [], 10.244.0.0/20 26 []", ""},
		{`networking: {podSubnet: 10.244.0.0/16}` + args + `{node-cidr-mask-size: "20", profiling: "false"}}`, "10.244.0.0/16 20 []", ""},
		{`networking: {}`, "", "node IPAM is off"},
		{`networking: {podSubnet: 10.244.0.0/16}` + args + `[{name: allocate-node-cidrs, value: "false"}]}`, "", "node IPAM is off"},
		{`networking: {podSubnet: 10.244.0.0/16}` + args + `[{name: controllers, value: "*,-node-ipam-controller"}]}`, "", "switches node IPAM off"},
		{`networking: {podSubnet: 10.244.0.0/16}` + args + `[{name: node-cidr-mask-size, value: many}]}`, "", "--node-cidr-mask-size"},
		{`networking: {podSubnet: 10.244.0.0/16}` + args + `[{name: node-cidr-mask-size, value: "8"}]}`, "", "want 16 to 32"},
		{`networking: {podSubnet: "fd00::/32"}`, "", "at most 48"},
		{`networking: {podSubnet: "10.244.0.0/16,10.0.0.0/16"}`, "", "one of each family"},
		{`networking: {podSubnet: here}`, "", "--cluster-cidr"},
		{`- 1`, "", "no ClusterConfiguration"},
	} {
		f, err := readFlags(c.text)
		var r ranges
		if err == nil {
			r, err = f.ranges()
		}
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v, want %s", c.text, err, c.wrong)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var got []string
		n := r.network()
		for _, x := range n.Ranges {
			got = append(got, fmt.Sprintf("%s %d %v", x.Prefix, x.Slice, x.Exclude))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %s, want %s", c.text, strings.Join(got, ", "), c.want)
		}
	}
}
