package dump

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"strconv"
	"strings"

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

func (t *tables) rows() int {
	return len(t.pools) + len(t.blocks) + len(t.borrowed) + len(t.config) + len(t.checked)
}

// usage is a line of --show-blocks.
type usage struct {
	cidr  netip.Prefix
	inUse int
	from  Origin
}

// borrowed is a line of --show-borrowed.
type borrowed struct {
	addr             netip.Addr
	node             string
	block            netip.Prefix
	owner, typ, user string
	from             Origin
}

func tableLine(line []byte) bool {
	return bytes.HasPrefix(line, []byte("+-")) || bytes.HasPrefix(line, []byte("| "))
}

// table reads one table, or what there is of it.
func (in *input) table() error {
	var head []string
	rules := 0
	for {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if !tableLine(line) {
			in.back(line)
			break
		}
		if line[0] == '+' {
			if rules++; rules == 3 {
				break
			}
			continue
		}
		row := cells(string(line))
		if head == nil {
			head = row
			continue
		}
		if len(row) != len(head) {
			return in.fail(in.line, "%d columns, the table's first line has %d", len(row), len(head))
		}
		in.objects++
		if err := in.row(strings.Join(head, "|"), row); err != nil {
			return err
		}
	}
	if head != nil && rules < 3 {
		return in.fail(in.line, "a table without its last line: the file is cut off, dump it again")
	}
	if strings.HasPrefix(strings.Join(head, "|"), "IP|BORROWING-NODE") {
		in.c.tables.shownBorrowed = true
	}
	return nil
}

func cells(line string) []string {
	row := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|"), "|")
	for i := range row {
		row[i] = strings.TrimSpace(row[i])
	}
	return row
}

func (in *input) row(head string, row []string) error {
	t, from := &in.c.tables, Origin{in.name, in.line}
	switch head {
	case "GROUPING|CIDR|IPS TOTAL|IPS IN USE|IPS FREE":
		u := usage{from: from}
		var err error
		if u.cidr, err = netip.ParsePrefix(row[1]); err != nil {
			return in.fail(in.line, "%s is no CIDR", strict.Quote(row[1]))
		}
		inUse, _, _ := strings.Cut(row[3], " ")
		total, err1 := strconv.ParseFloat(row[2], 64)
		used, err2 := strconv.ParseFloat(inUse, 64)
		if err1 != nil || err2 != nil || total < 0 || used < 0 || used > total {
			return in.fail(in.line, "%s and %s are no numbers of addresses", strict.Quote(row[2]), strict.Quote(row[3]))
		}
		if u.inUse = int(used); row[0] == "Block" {
			t.blocks = append(t.blocks, u)
		} else {
			t.pools = append(t.pools, u)
		}
		in.c.read["lines of calicoctl ipam show --show-blocks"]++
	case "IP|BORROWING-NODE|BLOCK|BLOCK OWNER|TYPE|ALLOCATED-TO":
		b := borrowed{node: row[1], owner: row[3], typ: row[4], user: row[5], from: from}
		var err1, err2 error
		b.addr, err1 = netip.ParseAddr(row[0])
		b.block, err2 = netip.ParsePrefix(row[2])
		if err1 != nil || err2 != nil || !b.block.Contains(b.addr) {
			return in.fail(in.line, "%s is no address of a block %s", strict.Quote(row[0]), strict.Quote(row[2]))
		}
		t.borrowed = append(t.borrowed, b)
		in.c.read["lines of calicoctl ipam show --show-borrowed"]++
	case "PROPERTY|VALUE":
		t.config[row[0]] = row[1]
		in.c.read["lines of calicoctl ipam show --show-configuration"]++
	default:
		in.c.ignored["lines of other tables"]++
	}
	return nil
}
