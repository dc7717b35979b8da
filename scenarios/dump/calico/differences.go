package calico

import "ipamsim/scenarios/dump"

// differences are what matters to addresses of upstream's changes, oldest first.
//
// Source: projectcalico/calico, release-notes/v3.27.0 to v3.31.0.
var differences = []dump.Difference{
	{"v3.27.0", "the garbage collection of addresses could freeze under high load", "projectcalico/calico#8154"},
	{"v3.28.0", "empty blocks of pools with small blocks were collected otherwise", "projectcalico/calico#8454"},
	{"v3.29.0", "addresses of evicted pods were not cleaned up", "projectcalico/calico#7713"},
	{"v3.29.0", "with etcd, nodes could stay if calico-kube-controllers ran on the one that was lost", "projectcalico/calico#9190"},
	{"v3.30.0", "nodes whose VXLAN tunnel address is borrowed could not be reached by pods", "projectcalico/calico#9662"},
	{"v3.31.0", "pods that start on one node at the same time could leave handles behind", "projectcalico/calico#10658"},
	{"v3.31.0", "pools had no namespaceSelector", "projectcalico/calico#10888"},
	{"v3.31.0", "releasing addresses of disabled or deleted pools was slow", "projectcalico/calico#11094"},
}
