package metallb

import (
	"testing"

	metallbapi "go.universe.tf/metallb/api/v1beta1"

	"ipamsim/sim/ipam/fieldtest"
)

func TestEveryFieldIsJudged(t *testing.T) {
	fieldtest.Check(t,
		fieldtest.API{Value: metallbapi.IPAddressPoolSpec{}, Fields: []fieldtest.Field{
			fieldtest.Judged("Addresses", "disallowed-load-balancer-ip"), fieldtest.Judged("AutoAssign", "disallowed-load-balancer-ip"),
			fieldtest.Judged("AvoidBuggyIPs", "disallowed-load-balancer-ip"), fieldtest.Judged("AllocateTo", "disallowed-load-balancer-ip"),
		}},
		fieldtest.API{Value: metallbapi.ServiceAllocation{}, Fields: []fieldtest.Field{
			fieldtest.Judged("Namespaces", "disallowed-load-balancer-ip"), fieldtest.Judged("NamespaceSelectors", "disallowed-load-balancer-ip"),
			fieldtest.Judged("ServiceSelectors", "disallowed-load-balancer-ip"),
			fieldtest.Unjudged("Priority", "a Service keeps its address when a pool of a higher priority has one again, so that the record does not show which was the first choice"),
		}},
	)
}
