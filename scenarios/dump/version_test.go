package dump_test

import (
	"fmt"
	"slices"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
)

// Versions come from what Calico writes about itself and from the images of both managers, also
// under the names of rebuilders; during an upgrade there are two. A company's own tags are not
// versions.
func TestVersions(t *testing.T) {
	s := newSmall(t)
	s.add(`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"calico-node","namespace":"kube-system"},"spec":{"template":{"spec":{"containers":[{"name":"calico-node","image":"registry.internal:5000/rancher/mirrored-calico-node:v3.26.1@sha256:00"},{"name":"x","image":"quay.io/other/node:v9.9.9"},{"name":"y","image":"registry.internal/calico-node:1.17"},{"name":"z","image":"registry.internal/calico/cni:v2026.11.2"}]}}}}`)
	s.add(`{"apiVersion":"whereabouts.cni.cncf.io/v1alpha1","kind":"IPPool","metadata":{"name":"10.50.0.0-24","namespace":"kube-system"},"spec":{"range":"10.50.0.0/24","allocations":{}}}`)
	s.add(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"whereabouts-x2x4q","namespace":"kube-system"},"spec":{"hostNetwork":true,"nodeName":"a","containers":[{"image":"ghcr.io/k8snetworkplumbingwg/whereabouts:v0.6.3-amd64"}]},"status":{"phase":"Running"}}`)
	_, _, report := scenario(t, s.c, dump.Options{})
	var got []string
	for _, v := range report.Versions {
		all, newer := diagnosis.Differences(managers.All(), v)
		got = append(got, fmt.Sprint(v.Program, " ", v.Found, " ", len(all), " ", newer))
	}
	if want := []string{"calico v3.26.1 8 false", "calico v3.31.0 0 false", "whereabouts v0.6.3-amd64 5 false"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, newer := diagnosis.Differences(managers.All(), scenarios.Version{Program: "calico", Found: "v3.99.0"}); !newer {
		t.Error("v3.99.0 is not newer")
	}
}

// A tag that is not a version, and a digest, are reported as an unknown version.
func TestNoVersion(t *testing.T) {
	_, _, report := scenario(t, read(t, "whereabouts.yaml"), dump.Options{})
	contains(t, "unknown", report.Unknown, "the version of whereabouts")
}

// Routers of two racks have the AS numbers that the BGPPeers say, each that of its
// subnet.
func TestTwoRouters(t *testing.T) {
	s := newSmall(t)
	s.add(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"c","annotations":{"projectcalico.org/IPv4Address":"192.168.9.2/24"}}}`)
	s.add(`{"apiVersion":"crd.projectcalico.org/v1","kind":"BGPConfiguration","metadata":{"name":"default"},"spec":{"nodeToNodeMeshEnabled":false,"asNumber":64512}}`)
	s.add(`{"apiVersion":"crd.projectcalico.org/v1","kind":"BGPPeer","metadata":{"name":"x"},"spec":{"peerIP":"192.168.9.1","asNumber":64601}}`)
	s.add(`{"apiVersion":"crd.projectcalico.org/v1","kind":"BGPPeer","metadata":{"name":"y"},"spec":{"peerIP":"192.168.7.1","asNumber":64777}}`)
	_, sc, _ := scenario(t, s.c, dump.Options{})
	if got := sc.Doc.Spec.Fabric.TopOfRack.ASNumbers; !slices.Equal(got, []uint32{64777, 64601}) {
		t.Errorf("%v", got)
	}
}

// A network whose configuration is in a file on the nodes: what the definition says
// itself is kept, and one without a range is left out; its pool is judged all the same.
func TestConfigurationPath(t *testing.T) {
	for _, ranged := range []bool{true, false} {
		c := dump.New(managers.All())
		s := &small{t, c}
		conf := `{\"type\":\"macvlan\",\"ipam\":{\"type\":\"whereabouts\",\"configuration_path\":\"/etc/cni/net.d/x.conf\"}}`
		if ranged {
			conf = `{\"type\":\"macvlan\",\"ipam\":{\"type\":\"whereabouts\",\"range\":\"10.50.0.0/24\",\"configuration_path\":\"/etc/cni/net.d/x.conf\"}}`
		}
		s.add(`{"apiVersion":"k8s.cni.cncf.io/v1","kind":"NetworkAttachmentDefinition","metadata":{"name":"net","namespace":"default"},"spec":{"config":"` + conf + `"}}`)
		s.add(`{"apiVersion":"whereabouts.cni.cncf.io/v1alpha1","kind":"IPPool","metadata":{"name":"10.50.0.0-24","namespace":"kube-system"},"spec":{"range":"10.50.0.0/24","allocations":{"1":{"id":"c1","podref":"default/a","ifname":"net1"},"2":{"id":"c2","podref":"default/gone","ifname":"net1"}}}}`)
		s.add(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default","annotations":{"k8s.v1.cni.cncf.io/networks":"net","k8s.v1.cni.cncf.io/network-status":"[{\"name\":\"default/net\",\"interface\":\"net1\",\"ips\":[\"10.50.0.1\"]}]"}},"spec":{"nodeName":"n"},"status":{"phase":"Running"}}`)
		_, sc, report := scenario(t, whole(c), dump.Options{})
		contains(t, "left", report.Left, "(configuration_path)")
		var leaked []string
		for _, x := range wrong(inspect(t, sc)) {
			if x[:6] == "leaked" {
				leaked = append(leaked, x)
			}
		}
		if !slices.Equal(leaked, []string{"leaked-claim 10.50.0.2"}) {
			t.Errorf("with a range: %v: %v", ranged, leaked)
		}
		pools := slices.ContainsFunc(report.Unjudged, func(u scenarios.Unjudged) bool { return len(u.Pools) > 0 })
		if pools == ranged {
			t.Errorf("with a range: %v: %v", ranged, report.Unjudged)
		}
	}
}
