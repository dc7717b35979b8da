package plan_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ipamsim/cmd/managers"
	"ipamsim/model/capacity"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/scenariotest"
)

// kubeadmConfig has configured, unless a setting says otherwise.
const kubeadmConfig = `---
apiVersion: v1
kind: ConfigMap
metadata: {name: kubeadm-config, namespace: kube-system}
data: {ClusterConfiguration: 'networking: {serviceSubnet: 10.96.0.0/24}'}
`

// servicesPlan is a plan that the real code simulates as well: an hour of Services that would exhaust
// a /24.
func servicesPlan(t *testing.T, settings string) *plan.Plan {
	t.Helper()
	p, err := plan.Parse(managers.All(), "small.yaml", fmt.Appendf(nil, `
apiVersion: ipamsim.dev/v1alpha1
kind: Plan
metadata: {name: small}
spec: {ipam: services, horizon: 3h, samples: 13, engine: both, repeats: 2, settings: {%s}}
%s---
apiVersion: v1
kind: Service
metadata: {name: kubernetes, namespace: default}
spec: {clusterIP: 10.96.0.1, clusterIPs: [10.96.0.1], ipFamilies: [IPv4], ipFamilyPolicy: SingleStack, ports: [{port: 443}]}
`, settings, kubeadmConfig), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestServicesEnginesAgree: kube-apiserver's own allocators refuse the same Services at the same
// times as the reference, and have as many addresses, node ports and addresses of the static
// band in use at every sample, up to where upstream leaves something to chance: a Service of both
// families that one of them has no address for leaks the other's, until the repair finds it
// (the reference does not leak). The peak is left out: for a moment a Service that is refused
// its node port has a cluster IP.
func TestServicesEnginesAgree(t *testing.T) {
	for name, x := range map[string]struct {
		settings                       string
		refused, inBand, ports, leaked bool
	}{
		"addresses run out": {"serviceSubnet: 10.96.0.0/28, services: 11, growServices: 5, lifetime: 40m", true, false, false, false},
		"static band":       {"serviceSubnet: 10.96.0.0/27, services: 18, lifetime: 1h, arrivals: 10, arrivalsLifetime: 15m", false, true, false, false},
		"ports run out":     {"serviceSubnet: 10.96.0.0/24, nodePortRange: 30000-30019, services: 24, lifetime: 1h, servicePorts: 2, nodePortShare: 0.3, loadBalancerShare: 0.3, localShare: 0.5", true, false, true, false},
		"one family is out": {`serviceSubnet: [10.96.0.0/24, "fd00:10:96::/125"], services: 18, lifetime: 1h, dualStackShare: 0.5`, true, false, false, true},
		"IPv6 first":        {`serviceSubnet: ["fd00:10:96::/125", 10.96.0.0/24], services: 6, growServices: 4`, true, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, r := servicesPlan(t, x.settings), scenariotest.Runner(t)
			seen := capacity.Sample{}
			refused, compared := 0, 0
			for _, pt := range p.Points() {
				if pt.Engine != plan.Real {
					continue
				}
				got := courseOf(t, p, r, pt)
				pt.Engine = plan.Reference
				want := courseOf(t, p, r, pt)
				seen.Leaked = max(seen.Leaked, leaked(got))
				if want.Chance > 0 { // after it, the trials differ
					n := len(want.Certain())
					want, got = &capacity.Course{Samples: want.Samples[:n], Refused: want.Refused}, &capacity.Course{Samples: got.Samples[:n], Refused: want.Refused}
				}
				if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(capacity.Course{}, "Calls", "Digest", "Peak", "Violations")); diff != "" {
					t.Errorf("repeat %d, reference -, real +:\n%s", pt.Repeat, diff)
				}
				if len(got.Violations) > 0 {
					t.Errorf("repeat %d: %v", pt.Repeat, got.Violations)
				}
				for _, s := range got.Samples {
					seen.InBand, seen.NodePorts, seen.Waiting = max(seen.InBand, s.InBand), max(seen.NodePorts, s.NodePorts), max(seen.Waiting, s.Waiting)
				}
				refused += got.Refused
				compared++
			}
			if compared == 0 || refused > 0 != x.refused || seen.InBand > 0 != x.inBand || seen.NodePorts > 0 != x.ports || seen.Leaked > 0 != x.leaked {
				t.Errorf("%d trials were compared, %d requests refused, at most %+v", compared, refused, seen)
			}
		})
	}
}

// leaked is how many IPAddresses were there for no Service, at the most.
func leaked(c *capacity.Course) (n int) {
	for _, s := range c.Samples {
		n = max(n, s.Leaked)
	}
	return n
}

func courseOf(t *testing.T, p *plan.Plan, r *scenarios.Runner, pt plan.Point) *capacity.Course {
	t.Helper()
	d, err := p.Run(context.Background(), r, pt)
	if err != nil || d.Refused != "" {
		t.Fatalf("%s: %v %s", pt.Engine, err, d.Refused)
	}
	return d.Course
}

// What a plan for Services cannot mean is refused with the setting.
func TestServicesRefused(t *testing.T) {
	for settings, want := range map[string]string{
		"pods: 3":                         "pods is a setting of pods or nodes, and this is a plan for services",
		"services: 3, drainEvery: 1h":     "drainEvery is a setting of pods or nodes, and this is a plan for services",
		"lifetime: 1h":                    "missing, want how many services there are",
		"services: 3, localShare: 1":      "has no effect without loadBalancerShare",
		"services: 3, dualStackShare: 1":  "the cluster has one range of cluster IPs: want one of each family",
		"services: 3, nodePortRange: 1-0": "want a range of ports, e.g. 30000-32767",
		"services: 3, nodePortShare: 0.7, loadBalancerShare: 0.5": "the sum with nodePortShare is above 1",
		"services: 3, serviceSubnet: 10.96.0.0/31":                "10.96.0.0/31 is too small, want /30 or wider",
	} {
		_, err := plan.Parse(managers.All(), "bad.yaml", fmt.Appendf(nil, `
apiVersion: ipamsim.dev/v1alpha1
kind: Plan
metadata: {name: bad}
spec: {ipam: services, horizon: 3h, settings: {%s}}
%s`, settings, kubeadmConfig), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", settings, err, want)
		}
	}
}
