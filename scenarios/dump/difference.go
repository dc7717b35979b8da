package dump

import (
	semver "k8s.io/apimachinery/pkg/util/version"

	"ipamsim/scenarios"
)

// Difference is something that an older version of an address manager does otherwise
// than the one that is simulated.
type Difference struct {
	Program string // calico, whereabouts
	Since   string // the release from which on it is as simulated; older lines may have it in a later patch
	Before  string // how it was, or what there was not
	Source  string // the change
}

// differences are what matters to addresses of upstream's changes, oldest first.
//
// Sources: projectcalico/calico, release-notes/v3.27.0 to v3.31.0; whereabouts, git log
// between v0.5.4 and v0.9.4.
var differences = []Difference{
	{"calico", "v3.27.0", "the garbage collection of addresses could freeze under high load", "projectcalico/calico#8154"},
	{"calico", "v3.28.0", "empty blocks of pools with small blocks were collected otherwise", "projectcalico/calico#8454"},
	{"calico", "v3.29.0", "addresses of evicted pods were not cleaned up", "projectcalico/calico#7713"},
	{"calico", "v3.29.0", "with etcd, nodes could stay if calico-kube-controllers ran on the one that was lost", "projectcalico/calico#9190"},
	{"calico", "v3.30.0", "nodes whose VXLAN tunnel address is borrowed could not be reached by pods", "projectcalico/calico#9662"},
	{"calico", "v3.31.0", "pods that start on one node at the same time could leave handles behind", "projectcalico/calico#10658"},
	{"calico", "v3.31.0", "pools had no namespaceSelector", "projectcalico/calico#10888"},
	{"calico", "v3.31.0", "releasing addresses of disabled or deleted pools was slow", "projectcalico/calico#11094"},
	{"whereabouts", "v0.6.0", "a network had one range only", "k8snetworkplumbingwg/whereabouts@486c0171"},
	{"whereabouts", "v0.6.2", "there was no network_name", "k8snetworkplumbingwg/whereabouts@ce0c911d"},
	{"whereabouts", "v0.8.0", "allocations did not name the pod's interface", "k8snetworkplumbingwg/whereabouts@420dc524"},
	{"whereabouts", "v0.8.0", "a repeated ADD did not return the address that it had given before", "k8snetworkplumbingwg/whereabouts@b3a00250"},
	{"whereabouts", "v0.9.0", "there were no node slices", "k8snetworkplumbingwg/whereabouts@9a9a3a01"},
	{"whereabouts", "v0.9.2", "addresses of a StatefulSet's pods could be released while in use", "k8snetworkplumbingwg/whereabouts@313ddf01"},
	{"whereabouts", "v0.9.4", "the reconciler ran on every node, not in a Deployment of its own", "k8snetworkplumbingwg/whereabouts@5f17aebc"},
}

// Differences are what a version that was found does otherwise than the one that is
// simulated. newer: it is the later one, and what has changed since is not listed.
func Differences(v scenarios.Version) (all []Difference, newer bool) {
	found, err := semver.ParseGeneric(v.Found)
	if err != nil {
		return nil, false
	}
	if here, err := semver.ParseGeneric(scenarios.Used().Simulated(v.Program)); err == nil && here.LessThan(found) {
		return nil, true
	}
	for _, d := range differences {
		if since, err := semver.ParseGeneric(d.Since); err == nil && d.Program == v.Program && found.LessThan(since) {
			all = append(all, d)
		}
	}
	return all, false
}
