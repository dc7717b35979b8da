package space_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/space"
	"ipamsim/sim/cluster/action"
)

// features are texts of scenario files that must occur in a thousand worlds of Whereabouts: every
// field of its configuration that affects its behavior, every kind of workload, every action, and
// so on.
var features = strings.Fields(`
	"range":"10.10.0.0/28" 10.10.0.2/28 10.10.0.1-10.10.0.5/28 fd00:10::/124 fd00:10::/64 "range_start": "range_end": "ipRanges":
	"exclude":["10.10.0.1/32"] "exclude":["10.10.0.2"] "exclude":["10.10.0.0/31"] "gateway":"10.10.0.1" "addresses":[{"address":"192.168.7.10/24"
	"network_name":"blue" "network_name":"green" "enable_overlapping_ranges":false "enable_overlapping_ranges":true
	"node_slice_size":"/28" "node_slice_size":"28" "node_slice_size":"/30" "leader_lease_duration": "leader_renew_deadline": "leader_retry_period":
	"reconciler_cron_expression": "routes": "plugins":
	net2 net3 kube-system/net1 "interface":
	StatefulSet Deployment DaemonSet Job "kind":"Pod" OrderedReady Parallel ipamsim.dev/run-for "tolerations": "terminationGracePeriodSeconds":
	OverlappingRangeIPReservation "kind":"IPPool"
	node-slice-controller pod-control-loop ip-reconciler "allNodes":true "count":2 "overlap":"Forbid" "overlap":"Replace"
	"churn": "workload": "force":10
	"apply": "cordon": "crash": "delete": "drain": "kill": "partition": "patch": "pause": "powerOn": "reboot": "reconcile": "replace": "scale":
	"forget":true "keepObject":true "as":"worker- ippools.whereabouts overlappingrangeipreservations.whereabouts
	"annotate":{ "api":{ "sandbox":{ "start":{ "status":{ "stop":{ "watch":{ "min": "tail":
	fail-before lose-reply stale drop gone "allowed":["crash"] "only":["cni-del/"]
	"hazards": pauseNode
	"timed" "stall" "random" "pct" "pos"
	"settle": "leakAfter": "nodeMonitorGrace": "sandboxRetry": "type":"ipvlan" "type":"host-device" "noSpace":
`)

func TestFeatures(t *testing.T) {
	missing := map[string]bool{}
	for _, f := range features {
		missing[f] = true
	}
	for seed := uint64(0); seed < 1000 && len(missing) > 0; seed++ {
		s, err := space.Draw(managers.All(), "whereabouts", seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		text := strings.ReplaceAll(string(shape(t, s)), `\"`, `"`)
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

// Invariants about leaks are checked only if a reconciler releases leaks or nothing can leak. In
// the world with seed 217 they were checked although its node loses power and no reconciler runs.
func TestLossesHaveACollector(t *testing.T) {
	judged := 0
	for seed := range uint64(1000) {
		s, err := space.Draw(managers.All(), "whereabouts", seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		spec := &s.Doc.Spec
		if len(spec.Reconcilers) > 0 || spec.Settle.Duration == 0 && spec.Judge.LeakAfter.Duration == 0 {
			continue
		}
		judged++
		if spec.Faults.Max > 0 || spec.Hazards.Max > 0 {
			t.Errorf("seed %d: faults, and no reconciler", seed)
		}
		for _, e := range spec.Timeline {
			switch e.Action.(type) {
			case *action.Crash, *action.Reboot, *action.ReplaceNode:
				t.Errorf("seed %d: %s, and no reconciler", seed, e.Kind())
			}
		}
	}
	if judged == 0 {
		t.Error("no world without a reconciler is judged: nothing looks for addresses that are never handed out")
	}
}

// Any bytes of a fuzzer are a world of every space; after their end the choices are the plainest.
func FuzzDraw(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		data := make([]byte, rng.IntN(2*n+1))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range space.Names(managers.All()) {
			if _, err := space.DrawFrom(managers.All(), name, space.FromBytes(data), 1); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}
