package calico

import (
	"net/netip"
	"strconv"
	"strings"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/strict"
)

// tables are what calicoctl ipam show printed: all that people without access to
// etcd have of it.
type tables struct {
	pools, blocks []usage
	borrowed      []borrowed
	shownBorrowed bool              // the table of borrowed addresses is there, maybe empty
	config        map[string]string // of --show-configuration
	checked       map[netip.Addr]checked
	leaked        []string // handles that no block names, by calicoctl ipam check
}

func newTables() tables {
	return tables{config: map[string]string{}, checked: map[netip.Addr]checked{}}
}

// usage is a line of --show-blocks.
type usage struct {
	cidr  netip.Prefix
	inUse int
	from  dump.Origin
}

// borrowed is a line of --show-borrowed.
type borrowed struct {
	addr             netip.Addr
	node             string
	block            netip.Prefix
	owner, typ, user string
	from             dump.Origin
}

// row takes a line of a table.
func (c *objects) row(from dump.Origin, head string, row []string) error {
	t := &c.tables
	if row == nil {
		t.shownBorrowed = t.shownBorrowed || strings.HasPrefix(head, "IP|BORROWING-NODE")
		return nil
	}
	switch head {
	case "GROUPING|CIDR|IPS TOTAL|IPS IN USE|IPS FREE":
		u := usage{from: from}
		var err error
		if u.cidr, err = netip.ParsePrefix(row[1]); err != nil {
			return from.Fail("", "", "%s is no CIDR", strict.Quote(row[1]))
		}
		inUse, _, _ := strings.Cut(row[3], " ")
		total, err1 := strconv.ParseFloat(row[2], 64)
		used, err2 := strconv.ParseFloat(inUse, 64)
		if err1 != nil || err2 != nil || total < 0 || used < 0 || used > total {
			return from.Fail("", "", "%s and %s are no numbers of addresses", strict.Quote(row[2]), strict.Quote(row[3]))
		}
		if u.inUse = int(used); row[0] == "Block" {
			t.blocks = append(t.blocks, u)
		} else {
			t.pools = append(t.pools, u)
		}
		c.Count("lines of calicoctl ipam show --show-blocks", 1)
	case "IP|BORROWING-NODE|BLOCK|BLOCK OWNER|TYPE|ALLOCATED-TO":
		b := borrowed{node: row[1], owner: row[3], typ: row[4], user: row[5], from: from}
		var err1, err2 error
		b.addr, err1 = netip.ParseAddr(row[0])
		b.block, err2 = netip.ParsePrefix(row[2])
		if err1 != nil || err2 != nil || !b.block.Contains(b.addr) {
			return from.Fail("", "", "%s is no address of a block %s", strict.Quote(row[0]), strict.Quote(row[2]))
		}
		t.borrowed = append(t.borrowed, b)
		c.Count("lines of calicoctl ipam show --show-borrowed", 1)
	case "PROPERTY|VALUE":
		t.config[row[0]] = row[1]
		c.Count("lines of calicoctl ipam show --show-configuration", 1)
	default:
		c.Ignore("lines of other tables")
	}
	return nil
}
