package record

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	libipam "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"

	"ipamsim/model"
)

// FieldError is an error of our own about one field.
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }
func (e *FieldError) Unwrap() error { return e.Err }

// block is an allocation block in the form of the record.
type block struct {
	model.Pool
	claims   []model.Claim // sorted by address
	revision string
}

// without are the claims of b that c no longer has.
func (b block) without(c block) []model.Claim {
	if len(c.claims) >= len(b.claims) {
		return nil // a write either takes or releases
	}
	var out []model.Claim
	for _, x := range b.claims {
		if _, kept := slices.BinarySearchFunc(c.claims, x.Addr, func(y model.Claim, a netip.Addr) int { return y.Addr.Compare(a) }); !kept {
			out = append(out, x)
		}
	}
	return out
}

// readBlock reads a block and its allocations: an ordinal's entry is the index of its attributes.
// An ordinal whose attributes are missing counts as claimed, with an unknown owner, because
// upstream does not assign it again.
//
// Source: libcalico-go/lib/backend/model, AllocationBlock (v3.31).
func readBlock(kv *bmodel.KVPair) (block, error) {
	v := kv.Value.(*bmodel.AllocationBlock)
	p, ok := Prefix(v.CIDR)
	if k, isBlock := kv.Key.(bmodel.BlockKey); isBlock {
		if of, okKey := Prefix(k.CIDR); !ok || !okKey || of != p {
			return block{}, fmt.Errorf("block of %s says that it is %s", k.CIDR, v.CIDR)
		}
	}
	size := p.Addr().BitLen() - p.Bits()
	if size < 63 && len(v.Allocations) > 1<<size {
		return block{}, &FieldError{"spec.allocations", fmt.Errorf("block %s has room for %d addresses, but lists %d", p, 1<<size, len(v.Allocations))}
	}
	b := block{Pool: model.Pool{Name: blockName(p), Range: p, Node: nodeOf(v.Affinity)}, revision: kv.Revision}
	rev, _ := strconv.ParseInt(kv.Revision, 10, 64) // 0 if there is none
	for ordinal, index := range v.Allocations {
		if index != nil {
			c := claimOf(v, p, ordinal, *index)
			c.Revision = rev
			b.claims = append(b.claims, c)
		}
	}
	balance(&b.Pool, v)
	return b, nil
}

// balance counts the errors in a block's lists.
func balance(p *model.Pool, v *bmodel.AllocationBlock) {
	listed, owns := make([]bool, len(v.Allocations)), make([]bool, len(v.Attributes))
	for ordinal, index := range v.Allocations {
		if index == nil {
			continue
		}
		listed[ordinal] = true
		if *index >= 0 && *index < len(owns) {
			owns[*index] = true
		}
	}
	for _, ordinal := range v.Unallocated {
		if ordinal < 0 || ordinal >= len(listed) || listed[ordinal] {
			p.Twice++
			continue
		}
		listed[ordinal] = true
	}
	count := func(marks []bool) (missing int) {
		for _, there := range marks {
			if !there {
				missing++
			}
		}
		return missing
	}
	p.Lost, p.Ownerless = count(listed), count(owns)
}

// claimOf is one allocation of a block.
func claimOf(b *bmodel.AllocationBlock, p netip.Prefix, ordinal, index int) model.Claim {
	c := model.Claim{Pool: blockName(p), Addr: Nth(p, ordinal)}
	if index >= 0 && index < len(b.Attributes) {
		ownerOf(&c, b.Attributes[index])
	}
	return c
}

// ownerOf reads the owner of a claim. In a CNI handle the container id follows the name of the
// network. An address that a Windows node reserves for HNS has no owner, and its handle has no
// object. The address of a Service belongs to no pod, although it names a namespace. A virtual
// machine's handle names no container.
//
// Source: cni-plugin/pkg/ipamplugin, cmdAdd; cni-plugin/internal/pkg/utils,
// GetHandleID; kube-controllers/pkg/controllers/node, isTunnelAddress (v3.31);
// libcalico-go/lib/ipam/vmipam, CreateVMHandleID (v3.32).
func ownerOf(c *model.Claim, a bmodel.AllocationAttribute) {
	if h := handleOf(a); h != nil && !strings.EqualFold(*h, libipam.WindowsReservedHandle) {
		c.Handle = *h
	}
	attributes := attributesOf(a)
	c.Node = attributes[bmodel.IPAMBlockAttributeNode]
	c.Pod, c.Alternate = podOf(attributes), podOf(alternateOf(a))
	if machine, ok := strings.CutPrefix(c.Handle, machineHandle); ok {
		c.Machine = strings.Replace(machine, ".", "/", 1) // no namespace has a dot
	}
	if service := attributes[libipam.AttributeService]; service != "" {
		c.Service = attributes[bmodel.IPAMBlockAttributeNamespace] + "/" + service
	}
	switch attributes[bmodel.IPAMBlockAttributeType] {
	case bmodel.IPAMBlockAttributeTypeIPIP, bmodel.IPAMBlockAttributeTypeVXLAN, bmodel.IPAMBlockAttributeTypeVXLANV6,
		bmodel.IPAMBlockAttributeTypeWireguard, bmodel.IPAMBlockAttributeTypeWireguardV6:
		c.Tunnel = true
	default:
		if dot := strings.LastIndexByte(c.Handle, '.'); dot >= 0 && c.Pod.Name != "" && c.Machine == "" {
			c.Container = c.Handle[dot+1:]
		}
	}
}

// machineHandle begins the handle of a virtual machine's addresses.
const machineHandle = NetworkKey + ".vmi."

// podOf is the pod that the attributes of an owner name.
func podOf(attributes map[string]string) (p model.PodRef) {
	if name := attributes[bmodel.IPAMBlockAttributePod]; name != "" {
		p = model.PodRef{Namespace: attributes[bmodel.IPAMBlockAttributeNamespace], Name: name}
	}
	return p
}

// readAffinity reads a claim of a node to a block. A state left empty is
// confirmed, as data from before there were states.
//
// Source: libcalico-go/lib/ipam, getBlockFromAffinity (v3.31).
func readAffinity(kv *bmodel.KVPair) (model.Affinity, error) {
	k := kv.Key.(bmodel.BlockAffinityKey)
	p, ok := Prefix(k.CIDR)
	if !ok {
		return model.Affinity{}, fmt.Errorf("affinity of %q to no block", k.Host)
	}
	a := model.Affinity{Block: p, Node: k.Host, State: string(kv.Value.(*bmodel.BlockAffinity).State)}
	if k.AffinityType == bmodel.IPAMAffinityTypeVirtual {
		a.Node = bmodel.IPAMAffinityTypeVirtual + ":" + k.Host
	}
	switch a.State {
	case "":
		a.State = model.Confirmed
	case model.Pending, model.Confirmed, model.PendingDeletion:
	default:
		return a, &FieldError{"spec.state", fmt.Errorf("%q of the affinity of %s to %s is unknown", a.State, a.Node, p)}
	}
	return a, nil
}

func readHandle(kv *bmodel.KVPair) (model.Handle, error) {
	h := model.Handle{ID: kv.Key.(bmodel.IPAMHandleKey).HandleID}
	for cidr, n := range kv.Value.(*bmodel.IPAMHandle).Block {
		p, err := netip.ParsePrefix(cidr)
		if err != nil {
			return h, &FieldError{"spec.block", fmt.Errorf("handle %s counts in a block %q: %w", h.ID, cidr, err)}
		}
		h.Counts = append(h.Counts, model.HandleCount{Block: p, Count: n})
	}
	slices.SortFunc(h.Counts, func(a, b model.HandleCount) int {
		return cmp.Or(a.Block.Compare(b.Block), cmp.Compare(a.Count, b.Count))
	})
	return h, nil
}

// nodeOf is the owner in a block's affinity: NAME for "host:NAME", and the whole string for other
// owners.
func nodeOf(affinity *string) string {
	if affinity == nil {
		return ""
	}
	return strings.TrimPrefix(*affinity, bmodel.IPAMAffinityTypeHost+":")
}

// blockName is a block's name in etcd: 10.64.75.0-26.
func blockName(p netip.Prefix) string { return strings.Replace(p.String(), "/", "-", 1) }

// Prefix is upstream's network as a netip.Prefix, its address unmapped and
// masked.
func Prefix(n cnet.IPNet) (netip.Prefix, bool) {
	a, ok := netip.AddrFromSlice(n.IP)
	ones, size := n.Mask.Size()
	if !ok || size == 0 {
		return netip.Prefix{}, false
	}
	if a = a.Unmap(); a.Is4() && size == 8*net.IPv6len {
		ones -= 8 * (net.IPv6len - net.IPv4len)
	}
	p := netip.PrefixFrom(a, ones).Masked()
	return p, p.IsValid()
}

// Nth is the address at an ordinal of a block.
func Nth(p netip.Prefix, ordinal int) netip.Addr {
	a := p.Addr().As16()
	binary.BigEndian.PutUint64(a[8:], binary.BigEndian.Uint64(a[8:])+uint64(ordinal))
	if p.Addr().Is4() {
		return netip.AddrFrom16(a).Unmap()
	}
	return netip.AddrFrom16(a)
}
