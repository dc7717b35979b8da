package invariant

import (
	"time"

	"ipamsim/model"
)

// UnbackedService is the state before a duplicate: the next Service may get the address or the node
// port of another one. A repair that deletes an IPAddress and creates it again needs two requests.
var UnbackedService = define(Invariant{
	Name:     "unbacked-service",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "An IPAddress guards every cluster IP of a ServiceCIDR for its Service, and every node port is marked as allocated.",
	Kinds: []Kind{
		{NoIPAddress, "{address}, the cluster IP of {by}, has had no IPAddress[ since {since}]"},
		{ipAddressOfAnother, "{address}, the cluster IP of {by}, has had an IPAddress of {other}[ since {since}], which does not have that cluster IP"},
		{nodePortFree, "{nodeport}, a node port of {by}, has been marked as free[ since {since}]"},
	},
	Cause:    CauseRule{Start: FromWrite, Delayed: true},
	Effect:   "the address can be given to a second Service",
	Decision: "nothing yet: kube-apiserver creates missing IPAddresses every 3 minutes. If a later dump lacks it as well, check the log of kube-apiserver",
}, func(v View) []finding {
	return longGaps(&v, func(g gap) time.Duration {
		switch g.code {
		case NoIPAddress, ipAddressOfAnother, nodePortFree:
			return unbackedAfter
		}
		return 0
	})
})

// unbackedAfter is for how long one of two requests may take.
const unbackedAfter = time.Minute
