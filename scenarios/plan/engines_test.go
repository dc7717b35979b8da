package plan_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ipamsim/cmd/managers"
	"ipamsim/model/capacity"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/longtest"
)

// TestEnginesAgree checks that the real code and the reference agree on every small plan: every
// sample is equal in every field, and so are the numbers of attempts and refusals, the peak, and
// the time of the first exhaustion.
//
// The history is sequential by construction, which is what the reference is proven for: see
// apart.go. A run of the real code that was not sequential is refused by overlap; it is reported
// here, and there may be few of those.
func TestEnginesAgree(t *testing.T) {
	longtest.Checks(t, "15")
	r := scenariotest.Runner(t)
	plans, refusals, adds, refused, samples, certain := 0, 0, 0, 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.Custom(drawPlan).Draw(rt, "plan")
		p, err := plan.Parse(managers.All(), "drawn.yaml", []byte(text), nil)
		if err != nil {
			rt.Fatalf("%v\n%s", err, text)
		}
		pt := plan.Point{Engine: plan.Reference, Seed: rapid.Uint64().Draw(rt, "seed")}
		want, err := p.Run(context.Background(), r, pt)
		if err != nil {
			rt.Fatal(err)
		}
		if want.Refused != "" {
			rt.Skip(want.Refused)
		}
		pt.Engine = plan.Real
		got, err := p.Run(context.Background(), r, pt)
		if err != nil {
			rt.Fatal(err)
		}
		if got.Refused != "" {
			t.Logf("not compared: %s", got.Refused)
			refusals++
			return
		}
		if diff := differ(want.Course, got.Course); diff != "" {
			rt.Fatalf("seed %d\n%s\nreference -, real +\n%s", pt.Seed, text, diff)
		}
		plans, adds, refused = plans+1, adds+got.Course.Adds, refused+got.Course.Refused
		samples, certain = samples+len(want.Course.Samples), certain+len(want.Course.Certain())
	})
	if refusals*10 > plans {
		t.Errorf("%d plans were not compared, and %d were", refusals, plans)
	}
	t.Logf("%d plans, %d ADDs, %d of them refused; %d of %d samples are certain and equal", plans, adds, refused, certain, samples)
}

// differ compares everything that both engines report; of a trial in which upstream left a choice
// to the Go runtime, the part before it.
func differ(reference, real *capacity.Course) string {
	if reference.Chance == 0 {
		return cmp.Diff(reference, real, onlyReal)
	}
	n := len(reference.Certain())
	return cmp.Diff(reference.Certain(), real.Samples[:n]) + cmp.Diff(reference.Owners[:min(n, len(reference.Owners))], real.Owners[:min(n, len(real.Owners))])
}

// drawPlan is the text of a small plan.
func drawPlan(t *rapid.T) string {
	pick := func(name string, of ...any) any { return rapid.SampledFrom(of).Draw(t, name) }
	sometimes := func(name string) bool { return rapid.Bool().Draw(t, name) }
	manager := pick("manager", "calico", "calico", "whereabouts").(string)
	nodes := rapid.IntRange(1, 3).Draw(t, "nodes")
	s := map[string]any{"nodes": nodes}
	if sometimes("pods in all") {
		s["pods"] = rapid.IntRange(1, 3*nodes).Draw(t, "pods")
	} else {
		shape := map[string]any{"shape": pick("shape", "fixed", "uniform", "normal", "poisson"), "mean": rapid.IntRange(1, 3).Draw(t, "mean")}
		if shape["shape"] == "uniform" || shape["shape"] == "normal" {
			shape["spread"] = 1
		}
		s["podsPerNode"] = shape
	}
	if sometimes("grows") {
		s["grow"] = rapid.IntRange(1, 3).Draw(t, "grow")
		if sometimes("at once") {
			s["growAt"] = "30m"
		}
	}
	if sometimes("full nodes") {
		s["maxPods"] = rapid.IntRange(2, 6).Draw(t, "maxPods")
	}
	s["lifetime"] = pick("lifetime", 0, "40m", "2h", map[string]any{"p50": "20m", "p90": "3h"})
	if s["pods"] != nil && sometimes("grows or shrinks") {
		s["growPods"] = pick("growPods", -1, 2)
	}
	if sometimes("arrivals") {
		s["arrivals"], s["arrivalsBatch"], s["arrivalsLifetime"] = 1, pick("arrivalsBatch", 1, 2), pick("arrivalsLifetime", "30m", map[string]any{"p50": "5m", "rest": "1h"})
	}
	for _, kind := range []string{"drain", "crash", "replace"} {
		if sometimes(kind) {
			s[kind+"Every"] = pick(kind+"Every", "40m", "2h")
			s[kind+"For"] = pick(kind+"For", "1m", "10m", "30m")
		}
	}
	if s["replaceEvery"] != nil {
		s["keepNode"] = sometimes("keepNode")
	}
	s["replaceDrained"] = sometimes("replaceDrained")
	if (s["crashEvery"] != nil || s["replaceEvery"] != nil) && sometimes("evict") {
		s["evict"] = pick("evictAfter", "2m", "5m", "400s", "7m7s")
	}
	s["reconcileEvery"] = pick("reconcileEvery", 0, "5m", "17m", "30m")
	manifests := ""
	if manager == "calico" {
		manifests = drawCalico(t, s)
	} else {
		manifests = drawWhereabouts(t, s)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	horizon := pick("horizon", "1h", "2h", "4h")
	if manager == "whereabouts" {
		horizon = pick("longer horizon", "3h", "5h")
	}
	return fmt.Sprintf(`{apiVersion: ipamsim.dev/v1alpha1, kind: Plan, metadata: {name: drawn}, spec: {ipam: %s, horizon: %s, samples: %d, engine: both, repeats: 1, settings: %s}}
%s`, manager, horizon, rapid.IntRange(2, 12).Draw(t, "samples"), b, manifests)
}

func drawCalico(t *rapid.T, s map[string]any) string {
	pick := func(name string, of ...any) any { return rapid.SampledFrom(of).Draw(t, name) }
	s["datastore"] = pick("datastore", "etcdv3", "kubernetes")
	s["blockSize"] = pick("blockSize", 29, 30, 31)
	s["pool"] = pick("pool", "10.0.0.0/26", "10.0.0.0/28", "10.0.0.0/29", []string{"10.0.0.0/29", "10.1.0.0/29"})
	if rapid.Bool().Draw(t, "strict") {
		s["strictAffinity"] = true
		s["maxBlocksPerHost"] = pick("maxBlocksPerHost", 0, 1, 2)
		s["autoAllocateBlocks"] = rapid.IntRange(0, 5).Draw(t, "automatic") < 5
	}
	s["grace"] = pick("grace", "1s", "5m", "15m", "20m", "never")
	s["topology"] = pick("topology", "mesh", "tor")
	four := rapid.IntRange(0, 3).Draw(t, "IPv4 as well") > 0
	if !rapid.Bool().Draw(t, "IPv6") {
		return ""
	}
	s["blockSize"] = map[string]any{"ipv6": s["blockSize"].(int) + 96}
	s["pool"] = []string{pick("IPv6 pool", "fd00::/122", "fd00::/124", "fd00::/125").(string)}
	if four {
		s["blockSize"].(map[string]any)["ipv4"] = 30
		s["pool"] = append(s["pool"].([]string), "10.0.0.0/28")
	}
	return fmt.Sprintf(`---
apiVersion: v1
kind: ConfigMap
metadata: {name: calico-config, namespace: kube-system}
data: {cni_network_config: '{"name": "k8s-pod-network", "cniVersion": "0.3.1", "plugins": [{"type": "calico", "ipam": {"type": "calico-ipam", "assign_ipv4": "%t", "assign_ipv6": "true"}, "policy": {"type": "k8s"}}]}'}
`, four)
}

func drawWhereabouts(t *rapid.T, s map[string]any) string {
	ipam := `"type": "whereabouts"`
	add := func(format string, args ...any) { ipam += ", " + fmt.Sprintf(format, args...) }
	switch rapid.IntRange(0, 2).Draw(t, "ranges") {
	case 0:
		add(`"range": "10.0.0.0/29"`)
	case 1:
		add(`"range": "10.0.0.0/26", "range_start": "10.0.0.4", "range_end": "10.0.0.9", "exclude": ["10.0.0.6/32"]`)
	case 2:
		add(`"ipRanges": [{"range": "10.0.0.0/28"}, {"range": "fd00::/124"}]`)
	}
	s["overlap"] = rapid.Bool().Draw(t, "overlap")
	one := func(name, ipam string) string {
		return fmt.Sprintf("---\napiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: %s, namespace: default}\nspec: {config: '{\"cniVersion\": \"0.3.1\", \"type\": \"ipvlan\", \"ipam\": {%s}}'}\n", name, ipam)
	}
	out := one("pods", ipam)
	if rapid.IntRange(0, 3).Draw(t, "second network") == 0 {
		out += one("second", strings.Replace(ipam, "10.0.0.", "10.0.1.", -1))
	}
	return out
}

// onlyReal are what no reference knows.
var onlyReal = cmpopts.IgnoreFields(capacity.Course{}, "Calls", "AddMedian", "AddP99", "Violations", "Digest")

// TestGoodPlansAgree: the points of the good plans that are small enough for both.
func TestGoodPlansAgree(t *testing.T) {
	r, compared := scenariotest.Runner(t), 0
	for _, name := range goods(t) {
		p := load(t, name)
		if err := p.Set(plan.Both, 1); err != nil {
			t.Fatal(err)
		}
		for _, pt := range p.Points() {
			if pt.Engine != plan.Real {
				continue
			}
			real, err := p.Run(context.Background(), r, pt)
			if err != nil {
				t.Fatal(err)
			}
			pt.Engine = plan.Reference
			ref, err := p.Run(context.Background(), r, pt)
			if err != nil {
				t.Fatal(err)
			}
			if real.Refused != "" || ref.Refused != "" {
				t.Errorf("%s, %s: real %q, reference %q", name, p.Cells[pt.Cell].Title(), real.Refused, ref.Refused)
				continue
			}
			if diff := differ(ref.Course, real.Course); diff != "" {
				t.Errorf("%s, %s: %s", name, p.Cells[pt.Cell].Title(), diff)
			}
			c := real.Course
			if c.Calls == 0 || c.AddMedian <= 0 || c.AddP99 < c.AddMedian || c.Digest == "" {
				t.Errorf("%s: the real code reports %d calls, %s, %s, %q", name, c.Calls, c.AddMedian, c.AddP99, c.Digest)
			}
			t.Logf("%s, %s, expected %s: %d ADDs, %d calls, %s, %s, %v", name, p.Cells[pt.Cell].Title(), p.Expect(plan.Point{Cell: pt.Cell, Engine: plan.Real}), c.Adds, c.Calls, c.AddMedian, c.AddP99, c.Violations)
			compared++
		}
	}
	if compared < 6 {
		t.Errorf("%d points were compared", compared)
	}
}

// TestSmall checks that the plan determines the points that the real code simulates, equally in
// every process.
func TestSmall(t *testing.T) {
	p := load(t, "range")
	a, b := p.Points(), load(t, "range").Points()
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
	var real int
	for i, pt := range a {
		if pt.Engine == plan.Real {
			real++
			if a[i-1].Engine == plan.Real && (a[i-1].Repeat > pt.Repeat || a[i-1].Repeat == pt.Repeat && a[i-1].Cell >= pt.Cell) {
				t.Errorf("point %d: %+v behind %+v", i, pt, a[i-1])
			}
		} else if real > 0 {
			t.Errorf("point %d: the reference's come first", i)
		}
	}
	if real == 0 || len(a)-real != 4*3 {
		t.Errorf("%d of %d points are the real code's", real, len(a))
	}
}
