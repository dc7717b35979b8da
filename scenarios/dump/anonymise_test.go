package dump_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ipamsim/scenarios/dump"
)

// vocabulary are the words that a scenario is written in, and numbers.
var vocabulary = regexp.MustCompile(`^([0-9]+|v1|v1alpha1|k8s\.v1\.cni\.cncf\.io|whereabouts\.cni\.cncf\.io|k8s\.cni\.cncf\.io|crd\.projectcalico\.org|cni\.projectcalico\.org|projectcalico\.org|` +
	`kube-system|k8s-pod-network|topology\.kubernetes\.io|kubernetes\.io|zone|host|confirmed|Running|Pending|Ready|True|true|false|null|all|Never|0\.3\.1|net1|eth0|whereabouts|calico|Scenario|dump|cluster|` +
	`[a-zA-Z]*[Ll]ist|apiVersion|kind|metadata|spec|status|name|namespace|labels|annotations|affinity|allocations|attributes|cidr|containerID|deleted|strictAffinity|unallocated|handle_id|secondary|node|pod|Pod|Node|` +
	`IPPool|IPAMBlock|IPAMHandle|BlockAffinity|BGPPeer|BGPConfiguration|NetworkAttachmentDefinition|OverlappingRangeIPReservation|blockSize|ipipMode|vxlanMode|nodeSelector|block|handleID|state|` +
	`podIP|podIPs|ip|ips|phase|conditions|type|containers|image|nodeName|main|IPv4Address|networks|network-status|interface|config|cniVersion|ipam|range|range_start|range_end|id|podref|ifname|containerid|` +
	`kubernetes|tor|fabric|topology|default|a|of|and|in|is|the|that|was|with|as|by|for|not|no|are|it|have|what|how|be|have|nodes|pods|addresses|address|use|out|left|Not|known|to|any|between|from|up|has|one|op|at|yet|other|kinds|` +
	`BGPPeers|settle|until|title|story|judge|expect|violations|blackholed-address|convergence|leaked-claim|mode|s|m|X|checksum|app|release|test|l|master|networksstatus|` +
	`ownerReferences|uid|controller|apps|tolerations|effect|key|operator|Exists|NoExecute)$`)

var token = regexp.MustCompile(`[A-Za-z0-9_][A-Za-z0-9_.-]*`)

// Nothing of a dump but the addresses of pools gets into an anonymised scenario, and
// of those nothing either where that is asked for. What is wrong stays wrong.
func TestAnonymise(t *testing.T) {
	for _, name := range []string{"wikimedia.yaml", "tkg.yaml"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]bool{}
		for _, w := range token.FindAllString(string(data), -1) {
			said[w] = true
		}
		_, plain, _ := scenario(t, read(t, name), dump.Options{})
		want := kindsOf(wrong(inspect(t, plain)))
		for _, o := range []dump.Options{{Anonymise: true}, {Anonymise: true, Addresses: true}} {
			text, s, _ := scenario(t, read(t, name), o)
			words := token.FindAllString(text, -1)
			slices.Sort(words)
			for _, w := range slices.Compact(words) {
				pool := strings.HasPrefix(w, "10.64.75.") || strings.HasPrefix(w, "10-64-75-") || strings.HasPrefix(w, "172.18.178.")
				if said[w] && !vocabulary.MatchString(w) && (o.Addresses || !pool) {
					t.Errorf("%s %+v: %s gets through", name, o, w)
				}
			}
			if o.Addresses && strings.Contains(text, "10.64.") {
				t.Errorf("%s: an address gets through", name)
			}
			if got := kindsOf(wrong(inspect(t, s))); !slices.Equal(got, want) {
				t.Errorf("%s %+v: got %v, want %v", name, o, got, want)
			}
			if again, _, _ := scenario(t, read(t, name), o); again != text {
				t.Errorf("%s: not the same twice", name)
			}
		}
	}
}

// kindsOf are findings without their addresses.
func kindsOf(all []string) []string {
	var out []string
	for _, s := range all {
		kind, _, _ := strings.Cut(s, " ")
		out = append(out, kind)
	}
	return out
}
