package whereabouts

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ipamsim/model"
)

func conf(section string) json.RawMessage {
	return json.RawMessage(`{"cniVersion":"0.3.1","name":"net","type":"macvlan","ipam":` + section + `}`)
}

func span(prefix, start, end string, exclude ...string) model.Range {
	r := model.Range{Prefix: netip.MustParsePrefix(prefix), Start: netip.MustParseAddr(start), End: netip.MustParseAddr(end)}
	for _, x := range exclude {
		r.Exclude = append(r.Exclude, netip.MustParsePrefix(x))
	}
	return r
}

func TestNetwork(t *testing.T) {
	for _, c := range []struct {
		in   string
		want model.Network
	}{
		{`"range":"10.0.0.0/24"`, model.Network{Overlap: true, Ranges: []model.Range{span("10.0.0.0/24", "10.0.0.1", "10.0.0.254")}}},
		{`"range":"10.0.0.99/24"`, model.Network{Overlap: true, Ranges: []model.Range{span("10.0.0.0/24", "10.0.0.1", "10.0.0.254")}}},
		{`"Range":"10.0.0.0/24","enable_overlapping_ranges":false,"network_name":"blue"`, model.Network{Name: "blue", Ranges: []model.Range{span("10.0.0.0/24", "10.0.0.1", "10.0.0.254")}}},
		{`"range":"10.0.0.200-10.0.0.210/24"`, model.Network{Overlap: true, Ranges: []model.Range{span("10.0.0.0/24", "10.0.0.200", "10.0.0.210")}}},
		{`"range":"10.128.40.192/27","range_start":"10.128.40.196","range_end":"10.128.40.200"`, model.Network{Overlap: true, Ranges: []model.Range{span("10.128.40.192/27", "10.128.40.196", "10.128.40.200")}}},
		{`"range":"10.0.0.0/24","range_start":"10.0.0.0","range_end":"10.0.0.255"`, model.Network{Overlap: true, Ranges: []model.Range{span("10.0.0.0/24", "10.0.0.1", "10.0.0.254")}}},
		{`"range":"10.0.0.0/24","exclude":["10.0.0.0/30","10.0.0.9","10.0.0.13/30"]`, model.Network{Overlap: true, Ranges: []model.Range{span("10.0.0.0/24", "10.0.0.1", "10.0.0.254", "10.0.0.0/30", "10.0.0.9/32", "10.0.0.12/30")}}},
		{`"range":"fd00:1::/64","exclude":["fd00:1::1"]`, model.Network{Overlap: true, Ranges: []model.Range{span("fd00:1::/64", "fd00:1::1", "fd00:1::ffff:ffff:ffff:fffe", "fd00:1::1/128")}}},
		{`"range":"10.0.0.0/24","ipRanges":[{"range":"fd00::/120"},{"range":"10.1.0.0/24","exclude":["10.1.0.1/32"]}]`, model.Network{Overlap: true, Ranges: []model.Range{
			span("10.0.0.0/24", "10.0.0.1", "10.0.0.254"), span("fd00::/120", "fd00::1", "fd00::fe"), span("10.1.0.0/24", "10.1.0.1", "10.1.0.254", "10.1.0.1/32")}}},
		{`"range":"10.0.0.0/16","node_slice_size":"/26"`, model.Network{Overlap: true, Slice: 26, Ranges: []model.Range{span("10.0.0.0/16", "10.0.0.1", "10.0.255.254")}}},
		{`"addresses":[{"address":"10.0.0.9/24"}]`, model.Network{Overlap: true}},
	} {
		got, ok, err := New().Network("default/net", conf(`{"type":"whereabouts",`+c.in+`}`))
		c.want.Key = "default/net"
		if d := cmp.Diff(c.want, got, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); !ok || err != nil || d != "" {
			t.Errorf("%s: %v %v\n%s", c.in, ok, err, d)
		}
	}
}

func TestNetworkRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`"range":"10.0.0.300/24"`, "invalid CIDR 10.0.0.300/24"},
		{`"range":"10.0.0.0"`, "invalid CIDR 10.0.0.0"},
		{`"range":7`, "cannot unmarshal number"},
		{`"range":"10.0.1.7-10.0.0.9/24"`, "invalid range start for CIDR 10.0.0.0/24: 10.0.1.7"},
		{`"range":"10.0.0.9-10.0.0.7/24"`, "range_end: 10.0.0.7 lies before range_start 10.0.0.9"},
		{`"range":"10.0.0.0/24","range_start":"10.0.1.5"`, "default/net: range_start: 10.0.1.5 lies outside of 10.0.0.0/24"},
		{`"range":"10.0.0.0/24","range_start":"banana"`, `range_start: "banana" is not an IP address`},
		{`"range":"10.0.0.0/24","range_end":"10.0.0.300"`, `range_end: "10.0.0.300" is not an IP address`},
		{`"range":"10.0.0.0/24","range_end":"fd00::1"`, "range_end: fd00::1 lies outside of 10.0.0.0/24"},
		{`"range":"10.0.0.0/24","range_start":"10.0.0.9","range_end":"10.0.0.7"`, "range_end: 10.0.0.7 lies before range_start 10.0.0.9"},
		{`"range":"10.0.0.0/24","range_start":"10.0.0.255"`, "range_start: 10.0.0.255 is the last address"},
		{`"ipRanges":[{"range":"10.0.0.0/24"},{"range":"10.1.0.0/24","range_end":"10.2.0.1"}]`, "ipRanges[1].range_end: 10.2.0.1 lies outside of 10.1.0.0/24"},
		{`"range":"10.0.0.0/24","exclude":["10.0.0.0/24","x"]`, `exclude[1]: "x" is neither a CIDR nor an IP address`},
		{`"ipRanges":[{"range":"fd00::/64","exclude":["fd00::g"]}]`, `ipRanges[0].exclude[0]: "fd00::g"`},
		{`"range":"10.0.0.0/31"`, "range: 10.0.0.0/31 has no usable address"},
		{`"range":"fd00::/128"`, "has no usable address"},
		{`"range":"0.0.0.0/0"`, "every address there is"},
		{`"range":"10.0.0.0/24","gateway":"x"`, "couldn't parse gateway IP: x"},
		{`"range":"10.0.0.0/24","network_name":"Blue_1"`, `network_name "Blue_1"`},
		{`"range":"10.0.0.0/24","node_slice_size":"x"`, `node_slice_size: "x"`},
		{`"range":"fd00::/64","node_slice_size":"/80"`, "slices IPv4 ranges only"},
		{`"range":"10.0.0.0/24","node_slice_size":"/20"`, "larger than the range"},
		{`"range":"10.0.0.0/24","node_slice_size":"/31"`, "no usable address"},
		{`"range":"10.0.0.0/8","node_slice_size":"/28"`, "cuts 10.0.0.0/8 into 1048576 slices"},
		{`"node_slice_size":"/28"`, "exactly one range, not 0"},
		{`"range":"10.0.0.0/24","leader_lease_duration":500`, "leader_lease_duration 500, leader_renew_deadline 1000"},
		{`"range":"10.0.0.0/24","leader_retry_period":-1`, "leader_retry_period -1"},
		{`"range":"10.0.0.0/24","leader_lease_duration":900,"leader_renew_deadline":800,"leader_retry_period":300`, "whole seconds"},
		{`"addresses":[{"address":"x"}]`, "invalid CIDR in addresses x"},
		{`"ipRanges":[null]`, "invalid CIDR"},
		{`"range":"10.0.0.0/24","Kubernetes":7`, "cannot unmarshal number"},
		{`"range":"10.0.0.0/24","configuration_path":"/etc/cni/net.d/whereabouts.d"`, "is a directory"},
	} {
		_, ok, err := New().Network("default/net", conf(`{"type":"whereabouts",`+c.in+`}`))
		if !ok || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v %v, want %q", c.in, ok, err, c.want)
		}
	}
	if _, _, err := New().Network("default/net", json.RawMessage(`{"ipam":{"type":"whereabouts","range":"10.0.0.0/24"}}`)); err == nil || !strings.Contains(err.Error(), "names no CNI plugin") {
		t.Error(err)
	}
}

func TestNotOurs(t *testing.T) {
	for _, in := range []string{``, `x`, `[]`, `null`, `{}`, `{"type":"x"}`, `{"ipam":7}`, `{"type":"x","ipam":{"type":"host-local","range":"x"}}`, `{"plugins":[]}`, `{"plugins":[null,7]}`, `{"plugins":{}}`} {
		if _, ok, err := New().Network("default/net", json.RawMessage(in)); ok || err != nil {
			t.Errorf("%s: %v %v", in, ok, err)
		}
	}
}

// A list's plugin gets the list's name and version; a configuration without a name gets that of its
// object.
func TestStdin(t *testing.T) {
	for _, c := range []struct{ in, name, version string }{
		{`{"cniVersion":"1.0.0","name":"x","type":"macvlan","ipam":{"type":"whereabouts","range":"10.0.0.0/24"}}`, "x", "1.0.0"},
		{`{"type":"macvlan","ipam":{"type":"whereabouts","range":"10.0.0.0/24"}}`, "net", "<nil>"},
		{`{"cniVersion":"0.3.1","name":"list","plugins":[{"type":"macvlan","ipam":{"type":"whereabouts","range":"10.0.0.0/24"}},{"type":"tuning"}]}`, "list", "0.3.1"},
		{`{"cniVersion":"0.3.1","name":"list","plugins":[{"type":"tuning"},{"type":"macvlan","name":"y","ipam":{"type":"whereabouts","range":"10.0.0.0/24"}}]}`, "list", "0.3.1"},
	} {
		in, err := stdin("default/net", []byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		o, _ := decode(in)
		if o["name"] != c.name || fmt.Sprint(o["cniVersion"]) != c.version {
			t.Errorf("%s: %s", c.in, in)
		}
		if n, ok, err := New().Network("default/net", json.RawMessage(c.in)); !ok || err != nil || len(n.Ranges) != 1 {
			t.Errorf("%s: %v %v %v", c.in, n, ok, err)
		}
	}
}

// However it is spelled, a log file is not opened, and no file of the machine is read.
func TestHazards(t *testing.T) {
	dir := t.TempDir()
	log, flat := filepath.Join(dir, "log"), filepath.Join(dir, "flat")
	if err := os.WriteFile(flat, []byte(`{"range":"10.9.9.0/24","log_file":"`+log+`","kubernetes":{"kubeconfig":"x"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, hazard := range []string{
		`"log_file":"` + log + `"`, `"LOG_FILE":"` + log + `"`, `"log_file":"x","log_ﬁle":"x","Log_File":"` + log + `"`,
		`"configuration_path":"` + flat + `"`, `"Configuration_Path":"` + flat + `"`, `"log_level":"nonsense"`,
		`"\u006cog_file":"` + log + `"`, `"log_file":"` + log + `","log_file":null`, `"kubernetes":{"kubeconfig":""}`,
	} {
		for _, in := range []string{
			`{"type":"macvlan","name":"x","ipam":{"type":"whereabouts","range":"10.0.0.0/24",` + hazard + `}}`,
			`{"type":"macvlan","name":"x","ipam":{"type":"whereabouts","range":"10.0.0.0/24",` + hazard + `},"IPAM":{"type":"whereabouts","range":"10.0.0.0/24",` + hazard + `}}`,
			`{"name":"x","plugins":[{"type":"macvlan","Ipam":{"Type":"whereabouts","range":"10.0.0.0/24",` + hazard + `}}]}`,
		} {
			n, ok, err := New().Network("default/net", json.RawMessage(in))
			if !ok || err != nil || len(n.Ranges) != 1 || n.Ranges[0].Prefix != netip.MustParsePrefix("10.0.0.0/24") {
				t.Errorf("%s: %+v %v %v", in, n, ok, err)
			}
		}
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("the log file was opened")
	}
}

func TestUpstream(t *testing.T) {
	if u := New().Upstream; !strings.HasPrefix(u, "github.com/k8snetworkplumbingwg/whereabouts@") {
		t.Error(u)
	}
	if crds, err := New().CRDs(); err != nil || len(crds) != 3 {
		t.Error(len(crds), err)
	}
}

func FuzzNetwork(f *testing.F) {
	f.Add(`{"type":"x","ipam":{"type":"whereabouts","range":"10.0.0.0/24","range_start":"10.0.0.4","exclude":["10.0.0.5"]}}`)
	f.Add(`{"plugins":[{"type":"x","ipam":{"type":"whereabouts","ipRanges":[{"range":"fd00::1-fd00::9/64"}],"node_slice_size":"/99"}}]}`)
	f.Fuzz(func(t *testing.T, in string) {
		n, ok, err := New().Network("default/net", json.RawMessage(in))
		if !ok || err != nil {
			return
		}
		for _, r := range n.Ranges {
			if !r.Spans(r.Start) || !r.Spans(r.End) || r.Prefix != r.Prefix.Masked() {
				t.Errorf("%s: %+v", in, r)
			}
		}
	})
}
