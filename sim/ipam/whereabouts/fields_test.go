package whereabouts_test

import (
	"testing"

	wbtypes "github.com/k8snetworkplumbingwg/whereabouts/pkg/types"

	"ipamsim/sim/ipam/fieldtest"
)

func TestEveryFieldIsJudged(t *testing.T) {
	fieldtest.Check(t,
		fieldtest.API{Value: wbtypes.IPAMConfig{}, Fields: []fieldtest.Field{
			fieldtest.Judged("Range", "out-of-pool"), fieldtest.Judged("RangeStart", "out-of-pool"), fieldtest.Judged("RangeEnd", "out-of-pool"), fieldtest.Judged("IPRanges", "out-of-pool"),
			fieldtest.Judged("OmitRanges", "excluded-address"), fieldtest.Judged("NodeSliceSize", "slice-conflict", "unassigned-node"),
			fieldtest.Judged("OverlappingRanges", "overlap-reservation", "double-claim"), fieldtest.Judged("NetworkName", "duplicate-address"),
			fieldtest.Unjudged("Addresses", "addresses of the user's own, which no allocator gives"), fieldtest.Unjudged("Gateway", fieldtest.Restricts), fieldtest.Unjudged("GatewayStr", fieldtest.Restricts),
			fieldtest.Unjudged("Name", fieldtest.Restricts), fieldtest.Unjudged("Type", fieldtest.Restricts), fieldtest.Unjudged("Routes", fieldtest.Datapath), fieldtest.Unjudged("DNS", fieldtest.Datapath),
			fieldtest.Unjudged("LeaderLeaseDuration", fieldtest.Restricts), fieldtest.Unjudged("LeaderRenewDeadline", fieldtest.Restricts), fieldtest.Unjudged("LeaderRetryPeriod", fieldtest.Restricts),
			fieldtest.Unjudged("LogFile", fieldtest.Restricts), fieldtest.Unjudged("LogLevel", fieldtest.Restricts), fieldtest.Unjudged("ReconcilerCronExpression", fieldtest.Restricts), fieldtest.Unjudged("SleepForRace", fieldtest.Restricts),
			fieldtest.Unjudged("Kubernetes", fieldtest.Restricts), fieldtest.Unjudged("ConfigurationPath", fieldtest.Restricts), fieldtest.Unjudged("PodName", fieldtest.Restricts), fieldtest.Unjudged("PodNamespace", fieldtest.Restricts),
		}},
		fieldtest.API{Value: wbtypes.RangeConfiguration{}, Fields: []fieldtest.Field{
			fieldtest.Judged("Range", "out-of-pool"), fieldtest.Judged("RangeStart", "out-of-pool"), fieldtest.Judged("RangeEnd", "out-of-pool"), fieldtest.Judged("OmitRanges", "excluded-address"),
		}},
	)
}
