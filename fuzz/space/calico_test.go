package space_test

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/space"
	"ipamsim/sim/cluster/action"
)

// Two thousand worlds of Calico load. One in twenty is printed, and the result loads to an equal one.
func TestCalicoWorldsAreFiles(t *testing.T) {
	for seed := range uint64(2000) {
		s, err := space.Draw(managers.All(), "calico", seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if seed%20 != 0 {
			continue
		}
		printed, err := s.YAML()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		again, err := managers.All().Parse(s.File, printed)
		if err != nil {
			t.Fatalf("seed %d, printed: %v\n%s", seed, err, printed)
		}
		if a, b := shape(t, s), shape(t, again); !bytes.Equal(a, b) {
			t.Fatalf("seed %d changes when it is printed:\n%s\n%s", seed, a, b)
		}
	}
}

// calicoFeatures are texts of scenario files that must occur in a thousand worlds of Calico.
var calicoFeatures = strings.Fields(`
	"datastore":"etcdv3" "datastore":"kubernetes" kubestage1001.eqiad.wmnet worker-4 "zone":"b" 10.0.1.12/24
	"cidr":"10.64.75.0/24" "cidr":"10.64.75.0/26" "cidr":"10.64.75.0/27" "cidr":"10.64.75.0/28" "cidr":"10.64.75.0/29" "cidr":"fd00:64:75::/124"
	"blockSize":26 "blockSize":28 "blockSize":29 "blockSize":30 "blockSize":31 "blockSize":32 "blockSize":126 "blockSize":128
	"name":"pool-3" projectcalico.org/v3 crd.projectcalico.org/v1 "ipipMode":"Always" "ipipMode":"CrossSubnet" "vxlanMode":"Always" "vxlanMode":"CrossSubnet"
	"disableBGPExport":true "disabled":true "assignmentMode":"Manual" "namespaceSelector": "allowedUses":["Tunnel"] "nodeSelector":"!has(zone)"
	"kind":"IPAMConfig" "kind":"IPAMConfiguration" "strictAffinity":true "strictAffinity":false "maxBlocksPerHost":1 "autoAllocateBlocks":true "autoAllocateBlocks":false
	"kind":"KubeControllersConfiguration" "leakGracePeriod":"0s" "controllers":{} "syncLabels":"Enabled" "syncLabels":"Disabled" "autoCreate":"Enabled"
	"kind":"IPReservation" "reservedCIDRs": "kind":"ConfigMap" assign_ipv6 ip_addrs_no_ipam
	cni.projectcalico.org/ipAddrs": ipAddrsNoIpam cni.projectcalico.org/ipv4pools ipFamilies "team":"blue"
	"ipam-controller"] "ipam-controller","ipam-controller" "tunnel-addresses" "name":"ipam-gc","schedule":"@every
	"topology":"mesh" "topology":"reflectors" "topology":"tor" "distinctAS":true "asOverride":true "defaultOnly":true "allowLocalAS":1 "mesh":true
	StatefulSet Deployment DaemonSet Job "kind":"Pod" "churn": "force":10
	configure --strictaffinity=true configure --strictaffinity=false --max-blocks-per-host=2 ipam release --ip= check --output=report --from-report=report
	ippools.crd ipamblocks.crd blockaffinities.crd kubecontrollersconfigurations.crd ipreservations.crd
	"apply": "command": "cordon": "crash": "delete": "drain": "kill": "partition": "patch": "pause": "powerOn": "reboot": "reconcile": "replace": "scale":
	newcomer-1 fail-before lose-reply stale drop gone crash "hazards": "random" "timed" "stall" "pos" "pct"
	"settle": "leakAfter": "blackholeAfter": "sandboxRetry": "kind":"BlockAffinity" "affinity":"host:gone" "noSpace": "plugin"]
`)

func TestCalicoFeatures(t *testing.T) {
	missing := map[string]bool{}
	for _, f := range calicoFeatures {
		missing[f] = true
	}
	for seed := uint64(0); seed < 1000 && len(missing) > 0; seed++ {
		s, err := space.Draw(managers.All(), "calico", seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		text := string(shape(t, s))
		for f := range missing {
			if strings.Contains(text, f) {
				delete(missing, f)
			}
		}
	}
	for f := range missing {
		t.Errorf("no world of 1000 has %s", f)
	}
}

// No two machines have the same address. The cluster gives machines that replace others the next
// free address (with seed 4626 a new node had it).
func TestNewcomersLeaveRoom(t *testing.T) {
	found := 0
	for seed := range uint64(600) {
		s, err := space.Draw(managers.All(), "calico", seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		text, replaced := string(shape(t, s)), s.Doc.Spec.Hazards.Max
		for _, e := range s.Doc.Spec.Timeline {
			if _, ok := e.Action.(*action.ReplaceNode); ok {
				replaced++
			}
		}
		last := 0
		var taken []int
		for _, m := range nodeAddress.FindAllStringSubmatch(text, -1) {
			n, _ := strconv.Atoi(m[1])
			taken = append(taken, n)
		}
		slices.Sort(taken)
		for _, n := range slices.Compact(taken) {
			if n >= 20 { // a new node's
				if found++; n-last <= replaced {
					t.Errorf("seed %d: a newcomer at .%d, %d machines are replaced behind .%d", seed, n, replaced, last)
				}
			}
			last = n
		}
	}
	if found == 0 {
		t.Error("no world has a newcomer")
	}
}

var nodeAddress = regexp.MustCompile(`10\.0\.[01]\.(\d+)/24`)
