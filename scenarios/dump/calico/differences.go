package calico

import "ipamsim/scenarios/dump"

// differences are what matters to addresses of upstream's changes, oldest first.
//
// Source: projectcalico/calico, release-notes/v3.27.0 to v3.31.0.
var differences = []dump.Difference{
	{Since: "v3.27.0", Before: "the garbage collection of addresses could freeze under high load", Source: "projectcalico/calico#8154"},
	{Since: "v3.28.0", Before: "empty blocks of pools with small blocks were collected differently", Source: "projectcalico/calico#8454"},
	{Since: "v3.29.0", Before: "addresses of evicted pods were not cleaned up", Source: "projectcalico/calico#7713"},
	{Since: "v3.29.0", Before: "with etcd, a lost node could keep its blocks if calico-kube-controllers ran on it", Source: "projectcalico/calico#9190"},
	{Since: "v3.30.0", Before: "pods could not reach nodes with a borrowed VXLAN tunnel address", Source: "projectcalico/calico#9662"},
	{Since: "v3.31.0", Before: "pods that start on one node at the same time could leave handles behind", Source: "projectcalico/calico#10658"},
	{Since: "v3.31.0", Before: "pools had no namespaceSelector", Source: "projectcalico/calico#10888"},
	{Since: "v3.31.0", Before: "releasing addresses of disabled or deleted pools was slow", Source: "projectcalico/calico#11094"},
}
