// Package printed reads what calicoctl ipam prints for people: the tables of show, the text
// and the report of check. With etcd that is all that is seen of Calico's record.
package printed

import (
	"net/netip"
	"strconv"
	"strings"

	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/strict"
)

// All is what calicoctl ipam show and check printed.
type All struct {
	Pools, Blocks []Usage
	Borrowed      []Borrowed
	ShownBorrowed bool              // the table of borrowed addresses is there, maybe empty
	Config        map[string]string // of --show-configuration
	// Checked are the allocations of each address, by a report or the text of check.
	Checked map[netip.Addr][]Allocation
	// Every: Checked has all that are allocated, as a report and --show-all-ips have them.
	Every  bool
	Leaked []string // handles that no block names
	// InUse are the workloads that have addresses, by a report: all that have a claimed one.
	InUse []Workload
	Named []string // pods, as NAMESPACE/NAME, whose addresses a report calls in use

	text bool // the lines of check's text follow
	// Affinities: the text of check names the affinity of each block.
	Affinities bool
}

// Usage is a line of --show-blocks, or of a block in the text of check.
type Usage struct {
	CIDR  netip.Prefix
	InUse int // -1: not known
	// Affinity is what the text of check says: host:NODE; "": not known, or none.
	Affinity string
	From     decode.Origin
}

// Borrowed is a line of --show-borrowed.
type Borrowed struct {
	Addr             netip.Addr
	Node             string
	Block            netip.Prefix
	Owner, Type, For string
	From             decode.Origin
}

// Row takes a line of a table. what is what it is a line of; "" if it is of another table,
// or of none.
func (t *All) Row(from decode.Origin, head string, row []string) (what string, err error) {
	if row == nil {
		t.ShownBorrowed = t.ShownBorrowed || strings.HasPrefix(head, "IP|BORROWING-NODE")
		return "", nil
	}
	switch head {
	case "GROUPING|CIDR|IPS TOTAL|IPS IN USE|IPS FREE":
		return "lines of calicoctl ipam show --show-blocks", t.usage(from, row)
	case "IP|BORROWING-NODE|BLOCK|BLOCK OWNER|TYPE|ALLOCATED-TO":
		b := Borrowed{Node: row[1], Owner: row[3], Type: row[4], For: row[5], From: from}
		var err1, err2 error
		b.Addr, err1 = netip.ParseAddr(row[0])
		b.Block, err2 = netip.ParsePrefix(row[2])
		if err1 != nil || err2 != nil || !b.Block.Contains(b.Addr) {
			return "", from.Fail("", "", "%s is not an address of a block %s", strict.Quote(row[0]), strict.Quote(row[2]))
		}
		t.Borrowed = append(t.Borrowed, b)
		return "lines of calicoctl ipam show --show-borrowed", nil
	case "PROPERTY|VALUE":
		t.Config[row[0]] = row[1]
		return "lines of calicoctl ipam show --show-configuration", nil
	}
	return "", nil
}

func (t *All) usage(from decode.Origin, row []string) error {
	u := Usage{From: from}
	var err error
	if u.CIDR, err = netip.ParsePrefix(row[1]); err != nil {
		return from.Fail("", "", "%s is no CIDR", strict.Quote(row[1]))
	}
	inUse, _, _ := strings.Cut(row[3], " ")
	total, err1 := strconv.ParseFloat(row[2], 64)
	used, err2 := strconv.ParseFloat(inUse, 64)
	if err1 != nil || err2 != nil || total < 0 || used < 0 || used > total {
		return from.Fail("", "", "%s and %s are not numbers of addresses", strict.Quote(row[2]), strict.Quote(row[3]))
	}
	if u.InUse = int(used); row[0] == "Block" {
		t.Blocks = append(t.Blocks, u)
	} else {
		t.Pools = append(t.Pools, u)
	}
	return nil
}
