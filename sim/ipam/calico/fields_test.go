package calico

import (
	"testing"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"

	"ipamsim/sim/ipam/fieldtest"
)

func TestEveryFieldIsJudged(t *testing.T) {
	fieldtest.Check(t,
		fieldtest.API{Value: apiv3.IPPoolSpec{}, Fields: []fieldtest.Field{
			fieldtest.Judged("CIDR", "out-of-pool"), fieldtest.Judged("Disabled", "out-of-pool"), fieldtest.Judged("NodeSelector", "out-of-pool", "starved-node"),
			fieldtest.Judged("AllowedUses", "out-of-pool"), fieldtest.Judged("AssignmentMode", "out-of-pool"), fieldtest.Judged("BlockSize", "overlapping-blocks"),
			fieldtest.Judged("DisableBGPExport", "blackholed-address"), fieldtest.Judged("IPIPMode", "blackholed-address"), fieldtest.Judged("VXLANMode", "blackholed-address"),
			fieldtest.Unjudged("NamespaceSelector", "which namespaces a pool selects is not part of the record"),
			fieldtest.Unjudged("NATOutgoing", fieldtest.Datapath), fieldtest.Unjudged("NATOutgoingV1", fieldtest.Deprecated), fieldtest.Unjudged("IPIP", fieldtest.Deprecated),
		}},
		fieldtest.API{Value: apiv3.IPReservationSpec{}, Fields: []fieldtest.Field{fieldtest.Judged("ReservedCIDRs", "excluded-address")}},
		fieldtest.API{Value: apiv3.IPAMConfigurationSpec{}, Fields: []fieldtest.Field{fieldtest.Judged("StrictAffinity", "strict-affinity"), fieldtest.Judged("MaxBlocksPerHost", "max-blocks")}},
	)
}
