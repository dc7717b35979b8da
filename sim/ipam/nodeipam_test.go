package ipam_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	nodeutil "k8s.io/component-helpers/node/util"

	"ipamsim/sim/ipam/nodeipam"
)

// The ranges of nodes in kubeadm's configuration, or the error in it.
func TestNodeRanges(t *testing.T) {
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
		n, _, err := nodeipam.New().Primary(configured(t, c.text))
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
		for _, x := range n.Ranges {
			got = append(got, fmt.Sprintf("%s %d %v", x.Prefix, x.Slice, x.Exclude))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %s, want %s", c.text, strings.Join(got, ", "), c.want)
		}
	}
}

// updateCIDRsAllocation keeps a podCIDR reserved if the server did not answer in time: the
// PATCH may have been carried out. It never does: PatchNodeCIDRs wraps the error by its
// text, in which IsServerTimeout does not recognise it.
func TestPatchHidesTheServersTimeout(t *testing.T) {
	timeout := errors.NewServerTimeout(schema.GroupResource{Resource: "nodes"}, "patch", 0)
	if !errors.IsServerTimeout(timeout) {
		t.Fatalf("%v is no timeout of the server", timeout)
	}
	body, err := json.Marshal(timeout.ErrStatus)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://server", Transport: answers(body)})
	if err != nil {
		t.Fatal(err)
	}
	err = nodeutil.PatchNodeCIDRs(t.Context(), client, "n0", []string{"10.244.0.0/24"})
	if err == nil || errors.IsServerTimeout(err) {
		t.Errorf("%v: fixed upstream: record it in reports/README.md", err)
	}
}

// answers is a server that answers every request with a status.
type answers []byte

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusInternalServerError, Request: r, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(a))),
	}, nil
}
