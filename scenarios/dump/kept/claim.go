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
	// Attached: it is of a network that the pod asks for, of which Network is the key, or
	// "" where nothing says which, and Interface the pod's. Else of the default network.
	Attached           bool
	Network, Interface string
	// Unused: the manager's own tool has looked at the cluster, and no pod has the address.
	Unused bool
}

// Network is one that pods ask for by name.
type Network struct {
	Key     string // namespace/name of the NetworkAttachmentDefinition
	Invoked string // the CNI configuration's own name
	Ranges  []netip.Prefix
}

// Contains reports whether an address is of the network.
func (n *Network) Contains(a netip.Addr) bool {
	return slices.ContainsFunc(n.Ranges, func(p netip.Prefix) bool { return p.Contains(a) })
}

// ImageTag tells a version by the tag of an image: Name is that of an image as upstream and
// rebuilders call it, Tag what the tag of a version looks like.
type ImageTag struct{ Name, Tag *regexp.Regexp }

// Difference is something that an older version of an address manager does otherwise
// than the one that is simulated.
type Difference struct {
	Since  string // the release from which on it is as simulated; older lines may have it in a later patch
	Before string // how it was, or what there was not
	Source string // the change
}
