package iproute

import "ipamsim/scenarios/dump/kept"

// HostOf returns the node whose network a pod uses, namespace/name; "": it has its own, or is
// not there.
func HostOf(pods kept.Objects[kept.Pod]) func(pod string) string {
	return func(pod string) string {
		if p := pods[pod]; p != nil && p.Value.HostNetwork {
			return p.Value.Node
		}
		return ""
	}
}
