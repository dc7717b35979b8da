package invariant

import "ipamsim/model"

// tunnelInBlock begins the codes of StrictAffinity of a node's own tunnel address. They
// go on with blockOfAnother or blockWithoutOwner, as those of a pod's do.
const tunnelInBlock = "tunnel-in-"

// borrowedCode is the code for the owner of the block of a claim, and its use.
func borrowedCode(b *model.Pool, c *model.Claim) string {
	if c.Tunnel {
		return tunnelInBlock + ownedBy(b)
	}
	return ownedBy(b)
}

// StrictAffinity is a node that borrows although the user forbade it, because the owner of the
// block drops packets to a borrowed address.
//
// Addresses that were borrowed before StrictAffinity was switched on may stay, and so may addresses
// of an ADD that had already begun.
// what an ADD takes that had already begun.
//
// Source: libcalico-go/lib/ipam/ipam_block.go, autoAssign and assign (v3.31).
var StrictAffinity = define(Invariant{
	Name:     "strict-affinity",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No address is claimed in another node's block while StrictAffinity is on.",
	Kinds: []Kind{
		{blockOfAnother, "{address} was claimed at {at} for {pod} (container {claimed-for}) on {node} in block {block} of {owner}, while StrictAffinity was on"},
		{blockWithoutOwner, "{address} was claimed at {at} for {pod} (container {claimed-for}) on {node} in block {block}, which had no owner, while StrictAffinity was on"},
		{tunnelInBlock + blockOfAnother, "{address} was claimed at {at} for the tunnel of {node} on {node} in block {block} of {owner}, while StrictAffinity was on"},
		{tunnelInBlock + blockWithoutOwner, "{address} was claimed at {at} for the tunnel of {node} on {node} in block {block} of {owner}, while StrictAffinity was on"},
	},
	Cause: CauseRule{Start: FromWrite},
}, func(v View) []finding {
	if v.Past == nil {
		return nil
	}
	return v.Past.borrowed
})
