package whereabouts

import "ipamsim/scenarios/dump"

// differences are what matters to addresses of upstream's changes, oldest first.
//
// Source: whereabouts, git log between v0.5.4 and v0.9.4.
var differences = []dump.Difference{
	{Since: "v0.6.0", Before: "a network had only one range", Source: "k8snetworkplumbingwg/whereabouts@486c0171"},
	{Since: "v0.6.2", Before: "there was no network_name", Source: "k8snetworkplumbingwg/whereabouts@ce0c911d"},
	{Since: "v0.8.0", Before: "allocations did not name the pod's interface", Source: "k8snetworkplumbingwg/whereabouts@420dc524"},
	{Since: "v0.8.0", Before: "a repeated ADD did not return the same address", Source: "k8snetworkplumbingwg/whereabouts@b3a00250"},
	{Since: "v0.9.0", Before: "there were no node slices", Source: "k8snetworkplumbingwg/whereabouts@9a9a3a01"},
	{Since: "v0.9.2", Before: "addresses of a StatefulSet's pods could be released while in use", Source: "k8snetworkplumbingwg/whereabouts@313ddf01"},
	{Since: "v0.9.4", Before: "the reconciler ran on every node, not in its own Deployment", Source: "k8snetworkplumbingwg/whereabouts@5f17aebc"},
}
