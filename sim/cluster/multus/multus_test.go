package multus

import (
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/containernetworking/cni/pkg/types"
	cni100 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/google/go-cmp/cmp"
	nadv1 "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/apis/k8s.cni.cncf.io/v1"
	nadutils "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/utils"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The status that we write equals the result of Multus' own function for the plugins' results,
// which have one interface each, and Multus' own reader can read it.
func TestStatus(t *testing.T) {
	got := []Attached{
		{Network{"default/a", "net1"}, []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1")}},
		{Network{"other/b", "data0"}, []netip.Addr{netip.MustParseAddr("10.1.0.7")}},
		{Network{"default/c", "net3"}, nil},
	}
	var want []nadv1.NetworkStatus
	for _, a := range got {
		res := &cni100.Result{CNIVersion: cni100.ImplementedSpecVersion, Interfaces: []*cni100.Interface{{Name: a.Interface, Sandbox: "/var/run/netns/x"}}, Routes: []*types.Route{}}
		for _, addr := range a.Addrs {
			res.IPs = append(res.IPs, &cni100.IPConfig{Interface: new(int), Address: net.IPNet{IP: addr.AsSlice(), Mask: net.CIDRMask(addr.BitLen(), addr.BitLen())}})
		}
		all, err := nadutils.CreateNetworkStatuses(res, a.Key, false, nil)
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		all[0].DNS = nadv1.DNS{} // of no name servers: [] there, and nothing once it is written
		want = append(want, *all[0])
	}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{StatusAnnotation: Status(got)}}}
	read, err := nadutils.GetNetworkStatus(p)
	if d := cmp.Diff(want, read); d != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, d)
	}
}

// The forms of the annotation that Multus knows. Interfaces without a name are numbered by
// their place; the pod's own network, which is not in the list, is the first.
//
// Source: Multus, pkg/k8sclient, parsePodNetworkAnnotation; pkg/multus, getIfname (v4.2.3).
func TestRead(t *testing.T) {
	for _, tt := range []struct{ annotation, want string }{
		{"", "[]"},
		{"a", "[{apps/a net1}]"},
		{" other/a@data0 , b", "[{other/a data0} {apps/b net2}]"},
		{"a,a", "[{apps/a net1} {apps/a net2}]"},
		{`[{"name":"a"},{"name":"b","namespace":"other","interface":"data0"},{"name":"c"}]`, "[{apps/a net1} {other/b data0} {apps/c net3}]"},
		{"[]", "[]"},
		{"a/b/c", "multus: parsePodNetworkAnnotation: Invalid network object (failed at '/')"},
		{"a@b@c", "multus: parsePodNetworkAnnotation: Invalid network object (failed at '@')"},
		{"[null]", "multus: panic: runtime error: invalid memory address or nil pointer dereference"},
	} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Annotations: map[string]string{nadv1.NetworkAttachmentAnnot: tt.annotation}}}
		read, err := Read(p)
		got := fmt.Sprint(read)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s", tt.annotation, got, tt.want)
		}
	}
}
