package kept

import (
	"net/netip"
	"regexp"
	"slices"
)

// Claim is one address that a record says is in use.
type Claim struct {
	Addr      netip.Addr
	Pod       string // namespace/name; "" for what is no pod's
	Node      string // for which it was handed out; "": the record does not say
	Container string
	// Attached: the claim is for an additional network of the pod; Network is its key, or "" if
	// unknown, and Interface the pod's interface. Otherwise it is for the default network.
	Attached           bool
	Network, Interface string
	// Unused: the manager's own tool has looked at the cluster, and no pod has the address.
	Unused bool
}

// Network is a network that pods request by name.
type Network struct {
	Key     string // namespace/name of the NetworkAttachmentDefinition
	Invoked string // the CNI configuration's own name
	Ranges  []netip.Prefix
}

// Contains reports whether an address is of the network.
func (n *Network) Contains(a netip.Addr) bool {
	return slices.ContainsFunc(n.Ranges, func(p netip.Prefix) bool { return p.Contains(a) })
}

// ImageTag recognizes a version by the tag of an image: Name matches the image name of upstream and
// rebuilders, Tag the tag of a version.
type ImageTag struct{ Name, Tag *regexp.Regexp }

// Difference is a difference between an older version of an address manager and the simulated one.
type Difference struct {
	Since  string // the release from which on it is as simulated; older lines may have it in a later patch
	Before string // how it was, or what there was not
	Source string // the change
}
