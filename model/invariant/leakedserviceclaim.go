package invariant

import (
	"time"

	"ipamsim/model"
)

// LeakedServiceClaim is an address or a node port that no Service can use, although the repair
// loops had their time: the one of addresses waits for 60 seconds, and looks again at all
// of them every 3 minutes; the one of node ports takes one for leaked that it finds so four
// times. The time runs from when something last kept the API servers from their work.
//
// Source: pkg/registry/core/service, ipallocator/controller/repairip.go and
// portallocator/controller/repair.go (v1.37.2).
var LeakedServiceClaim = define(Invariant{
	Name:     "leaked-service-claim",
	Severity: model.Minor,
	Phase:    Always,
	Doc:      "No address and no node port stays allocated without a Service for longer than the repair loops need.",
	Kinds: []Kind{
		{ipAddressLeft, "{address} has had an IPAddress of {by}[ since {since}], which does not have that cluster IP"},
		{nodePortLeft, "{nodeport} has been marked as allocated[ since {since}], and no Service has that node port"},
	},
	Cause:    CauseRule{Start: FromWrite, Delayed: true},
	Effect:   "the address is not given to another Service",
	Decision: "nothing yet: kube-apiserver deletes leaked IPAddresses every 3 minutes. If a later dump has it as well, check the log of kube-apiserver",
}, func(v View) []finding {
	if v.Past == nil || len(v.Past.gaps) == 0 {
		return nil
	}
	calm, wait := disturbed(&v), time.Duration(0)
	if v.Truth.At-v.Late < slow {
		wait = slow
	}
	return longGaps(&v, func(g gap) time.Duration {
		since := v.Past.gaps[g]
		switch g.code {
		case ipAddressLeft:
			return max(0, calm-since) + wait + addressLeakAfter
		case nodePortLeft:
			return max(0, calm-since) + wait + portLeakAfter
		}
		return 0
	})
})

// One interval more than upstream needs.
const (
	addressLeakAfter = 8 * time.Minute
	portLeakAfter    = 18 * time.Minute
)
