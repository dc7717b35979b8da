package twin

import (
	"fmt"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// transaction is a transaction that may have nested ones. Its revisions are chosen when it is
// played.
type transaction struct {
	text     string
	ifs      []func(*player) clientv3.Cmp
	then, or []func(*player) clientv3.Op

	endless bool // deletes everything from a key on
	puts    bool
}

// txn draws a transaction. Some cannot be played because etcd does not survive them: it treats
// the end of a deletion "from key", a zero byte, as less than any key, so it accepts a put of
// a deleted key in the same transaction. If the put keeps the value or lease, which no longer
// exists, etcd panics ("unexpected error during txn with writes"), and otherwise a compaction
// may lose the key (etcd-io/etcd issues 22445, 22376).
func (c choices) txn() operation {
	t := c.transaction(2)
	if t.endless && t.puts {
		return operation{"not sent: " + t.text, func(*player) string { return "" }}
	}
	return operation{t.text, func(p *player) string {
		a, err := p.client.Txn(p.ctx).If(each(p, t.ifs)...).Then(each(p, t.then)...).Else(each(p, t.or)...).Commit()
		return p.say((*pb.TxnResponse)(a), err)
	}}
}

func each[T any](p *player, all []func(*player) T) []T {
	out := make([]T, len(all))
	for i, f := range all {
		out[i] = f(p)
	}
	return out
}

// transaction draws a transaction with nested ones up to a depth.
func (c choices) transaction(depth int) transaction {
	var t transaction
	var ifs, then, or []string
	for range c(3) {
		text, f := c.comparison()
		ifs, t.ifs = append(ifs, text), append(t.ifs, f)
	}
	for range 1 + c(3) {
		text, f := c.within(depth, &t)
		then, t.then = append(then, text), append(t.then, f)
	}
	for range c(3) {
		text, f := c.within(depth, &t)
		or, t.or = append(or, text), append(t.or, f)
	}
	t.text = fmt.Sprintf("if {%s} then {%s} else {%s}", strings.Join(ifs, "; "), strings.Join(then, "; "), strings.Join(or, "; "))
	return t
}

func (c choices) comparison() (string, func(*player) clientv3.Cmp) {
	key, with := c.key(), []string{"=", "!=", ">", "<"}[c(4)]
	kind, rev, number, value := c(5), c.revision(), c(4), c.value()
	span, end := c(4), c.key()
	text := [...]string{"modified " + rev.text, "created " + rev.text, fmt.Sprint("version ", number), fmt.Sprintf("value %q", value), fmt.Sprint("lease ", number)}[kind]
	return fmt.Sprintf("%q %s %s, range %d to %q", key, with, text, span, end), func(p *player) clientv3.Cmp {
		out := [...]clientv3.Cmp{
			clientv3.Compare(clientv3.ModRevision(key), with, rev.of(p)),
			clientv3.Compare(clientv3.CreateRevision(key), with, rev.of(p)),
			clientv3.Compare(clientv3.Version(key), with, number),
			clientv3.Compare(clientv3.Value(key), with, value),
			clientv3.Compare(clientv3.LeaseValue(key), with, number),
		}[kind]
		switch span {
		case 2:
			return out.WithPrefix()
		case 3:
			return out.WithRange(end)
		}
		return out
	}
}

// within draws an operation of a transaction.
func (c choices) within(depth int, t *transaction) (string, func(*player) clientv3.Op) {
	switch n := c(7); {
	case n < 3:
		text, key, value, opts := c.puts()
		t.puts = true
		return text, func(*player) clientv3.Op { return clientv3.OpPut(key, value, opts...) }
	case n == 3:
		text, key, opts := c.deletes()
		t.endless = t.endless || string(clientv3.OpDelete(key, opts...).RangeBytes()) == "\x00"
		return text, func(*player) clientv3.Op { return clientv3.OpDelete(key, opts...) }
	case n == 4 && depth > 0:
		in := c.transaction(depth - 1)
		t.endless, t.puts = t.endless || in.endless, t.puts || in.puts
		return in.text, func(p *player) clientv3.Op { return clientv3.OpTxn(each(p, in.ifs), each(p, in.then), each(p, in.or)) }
	}
	text, key, opts := c.gets()
	rev := c.revision()
	return text + " at " + rev.text, func(p *player) clientv3.Op {
		// A revision below zero means now only for an etcd that was never compacted, and etcd
		// below the bridge was.
		return clientv3.OpGet(key, append(opts[:len(opts):len(opts)], clientv3.WithRev(max(0, rev.of(p))))...)
	}
}
