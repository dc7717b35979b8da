package whereabouts

import "ipamsim/scenarios/dump"

// differences are what matters to addresses of upstream's changes, oldest first.
//
// Source: whereabouts, git log between v0.5.4 and v0.9.4.
var differences = []dump.Difference{
	{"v0.6.0", "a network had one range only", "k8snetworkplumbingwg/whereabouts@486c0171"},
	{"v0.6.2", "there was no network_name", "k8snetworkplumbingwg/whereabouts@ce0c911d"},
	{"v0.8.0", "allocations did not name the pod's interface", "k8snetworkplumbingwg/whereabouts@420dc524"},
	{"v0.8.0", "a repeated ADD did not return the address that it had given before", "k8snetworkplumbingwg/whereabouts@b3a00250"},
	{"v0.9.0", "there were no node slices", "k8snetworkplumbingwg/whereabouts@9a9a3a01"},
	{"v0.9.2", "addresses of a StatefulSet's pods could be released while in use", "k8snetworkplumbingwg/whereabouts@313ddf01"},
	{"v0.9.4", "the reconciler ran on every node, not in a Deployment of its own", "k8snetworkplumbingwg/whereabouts@5f17aebc"},
}
