package ipam_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/hostlocal"
)

// The policy of a NetworkAttachmentDefinition, read by upstream's parser.
func TestNetwork(t *testing.T) {
	read := hostlocal.New().Network
	for _, c := range []struct{ config, want, wrong string }{
		{`{"type":"bridge","ipam":{"type":"host-local","subnet":"10.1.0.0/24"}}`, "net1 local 24: 10.1.0.0/24 10.1.0.1-10.1.0.254 [10.1.0.1/32]", ""},
		{`{"name":"a","type":"macvlan","ipam":{"type":"host-local","ranges":[[{"subnet":"10.1.0.0/24","rangeStart":"10.1.0.5","rangeEnd":"10.1.0.9","gateway":"10.1.0.7"}],[{"subnet":"fd00::/64"}]]}}`,
			"a 24: 10.1.0.0/24 10.1.0.5-10.1.0.9 [10.1.0.7/32], fd00::/64 fd00::1-fd00::ffff:ffff:ffff:ffff [fd00::1/128]", ""},
		{`{"cniVersion":"1.0.0","name":"b","plugins":[{"type":"tuning"},{"type":"ptp","ipam":{"type":"host-local","subnet":"10.1.0.0/29"}}]}`, "b local 29: 10.1.0.0/29 10.1.0.1-10.1.0.6 [10.1.0.1/32]", ""},
		{`{"type":"bridge","ipam":{"type":"whereabouts","range":"10.1.0.0/24"}}`, "", ""},
		{`{"type":"bridge","ipam":{"type":"host-local","subnet":"10.1.0.0/31"}}`, "", "too small"},
		{`{"type":"bridge","ipam":{"type":"host-local"}}`, "", "ipam.ranges: missing"},
		{`{"ipam":{"type":"host-local","subnet":"10.1.0.0/24"}}`, "", "names no CNI plugin"},
		{`{"type":"bridge","name":"../x","ipam":{"type":"host-local","subnet":"10.1.0.0/24"}}`, "", `name "../x"`},
		{`{"type":"bridge","ipam":{"type":"host-local","ranges":[[{"subnet":"10.1.0.0/24"},{"subnet":"10.2.0.0/24"}]]}}`, "", "want one"},
	} {
		n, ok, err := read("default/net1", json.RawMessage(c.config))
		if c.wrong != "" {
			if err == nil || !ok || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v, %v", c.config, ok, err)
			}
			continue
		}
		var ranges []string
		for _, r := range n.Ranges {
			ranges = append(ranges, fmt.Sprintf("%s %s-%s %s", r.Prefix, r.Start, r.End, r.Exclude))
		}
		local := ""
		if n.Local {
			local = " local"
		}
		if got := fmt.Sprintf("%s%s %d: %s", n.Name, local, n.Slice, strings.Join(ranges, ", ")); err != nil || ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s: %s, %v, %v", c.config, got, ok, err)
		}
	}
}

// If the configuration of the pods' network has no ranges, those of the nodes apply.
func TestPrimary(t *testing.T) {
	read := hostlocal.New().Primary
	conf := func(text string) ipam.Object {
		b, _ := json.Marshal(map[string]any{"data": map[string]string{"cni-conf.json": text}})
		return ipam.Object{Kind: "ConfigMap", Namespace: "kube-system", Name: "kube-router-cfg", Body: b}
	}
	node := func(name, cidrs string) ipam.Object {
		return ipam.Object{Kind: "Node", Name: name, Body: json.RawMessage(`{"spec":{"podCIDRs":[` + cidrs + `]}}`)}
	}
	const open = `{"name":"cbr0","plugins":[{"type":"bridge","ipam":{"type":"host-local"}}]}`
	n, config, err := read([]ipam.Object{conf(open), node("a", `"10.244.0.0/24","fd00:0:0:1::/64"`), node("b", `"10.244.3.0/24"`)})
	if err != nil || n.Key != "cbr0" || len(n.Ranges) != 2 || n.Ranges[0].Prefix.String() != "10.244.0.0/22" || n.Ranges[1].Prefix.String() != "fd00:0:0:1::/64" {
		t.Errorf("%+v, %s, %v", n, config, err)
	}
	if _, _, err = read(nil); !errors.Is(err, ipam.ErrNoPrimary) {
		t.Error(err)
	}
	var bad *ipam.ObjectError
	for text, wrong := range map[string]string{open: "no Node has spec.podCIDRs", `{"type":"bridge"}`: "no plugin has", `{`: "unexpected end"} {
		if _, _, err := read([]ipam.Object{conf(text)}); !errors.As(err, &bad) || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// An operator's command is refused before anything runs, unless it is the repair.
func TestCheckCommand(t *testing.T) {
	check := hostlocal.New().CheckCommand
	for line, wrong := range map[string]string{
		"ssh n0 rm -rf /var/lib/cni/networks/net1": "", "ssh n0 rm -rf /": "want the directory", "ssh n0 rm -rf x": "want the directory", "rm -rf /x": "want ssh NODE",
	} {
		if err := check(strings.Fields(line)); wrong == "" && err != nil || wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
