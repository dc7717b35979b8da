package twin

import (
	"fmt"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// choices is the source of a program: each call returns a number in [0, n).
type choices func(n int) int

// Draw creates one operation from choices. The first choice of each kind is the simplest.
func Draw(choose func(n int) int) operation {
	c := choices(choose)
	switch c(16) {
	case 0, 1, 2:
		return c.put()
	case 3, 4, 5:
		return c.get()
	case 6, 7:
		return c.delete()
	case 8, 9, 10:
		return c.txn()
	case 11:
		return c.compact()
	case 12, 13:
		return c.watch()
	case 14:
		return c.grant()
	}
	return c.lease()
}

var (
	keys   = []string{"a", "b", "b/1", "b/2", "c", "ab", "\x00", "\xff", ""}
	values = []string{"", "x", "y", "longer"}
)

func (c choices) key() string   { return keys[c(len(keys))] }
func (c choices) value() string { return values[c(len(values))] }
func (c choices) yes() bool     { return c(4) == 3 }

// span draws the range of a request: one key by default.
func (c choices) span() (string, []clientv3.OpOption) {
	switch c(5) {
	case 1:
		return " prefix", []clientv3.OpOption{clientv3.WithPrefix()}
	case 2:
		return " from key", []clientv3.OpOption{clientv3.WithFromKey()}
	case 3:
		end := c.key()
		return fmt.Sprintf(" to %q", end), []clientv3.OpOption{clientv3.WithRange(end)}
	}
	return "", nil
}

// revision is relative to the current revision when the operation is played.
type revision struct {
	text     string
	relative bool
	by       int64
}

func (c choices) revision() revision {
	switch n := int64(c(12)); n {
	case 0, 1, 2:
		return revision{"0", false, 0}
	case 3:
		return revision{"-1", false, -1}
	case 4:
		return revision{"next", true, 1}
	case 5:
		return revision{"1", false, 1}
	default:
		return revision{fmt.Sprintf("now-%d", n-6), true, 6 - n}
	}
}

func (r revision) of(p *player) int64 {
	if r.relative {
		return p.store.revision() + r.by
	}
	return r.by
}

// optional is a switch of an operation.
type optional struct {
	text string
	opt  clientv3.OpOption
}

func (c choices) some(all ...optional) (text string, out []clientv3.OpOption) {
	for _, o := range all {
		if c.yes() {
			text, out = text+" "+o.text, append(out, o.opt)
		}
	}
	return text, out
}

// puts draws a put's key, value and options.
func (c choices) puts() (text, key, value string, opts []clientv3.OpOption) {
	key, value = c.key(), c.value()
	text, opts = c.some(optional{"prev", clientv3.WithPrevKV()}, optional{"ignoring the value", clientv3.WithIgnoreValue()}, optional{"ignoring the lease", clientv3.WithIgnoreLease()})
	if strings.Contains(text, "value") && c(4) > 0 {
		value = ""
	}
	if id := c(8); id > 3 {
		text, opts = fmt.Sprintf("%s lease %d", text, id-3), append(opts, clientv3.WithLease(clientv3.LeaseID(id-3)))
	}
	return fmt.Sprintf("put %q=%q%s", key, value, text), key, value, opts
}

func (c choices) put() operation {
	text, key, value, opts := c.puts()
	return operation{text, func(p *player) string {
		a, err := p.client.Put(p.ctx, key, value, opts...)
		return p.say((*pb.PutResponse)(a), err)
	}}
}

// gets draws a get's key and options, without its revision.
func (c choices) gets() (text, key string, opts []clientv3.OpOption) {
	key = c.key()
	text, opts = c.span()
	more, some := c.some(
		optional{"limit 1", clientv3.WithLimit(1)}, optional{"limit 2", clientv3.WithLimit(2)}, optional{"keys only", clientv3.WithKeysOnly()},
		optional{"count only", clientv3.WithCountOnly()}, optional{"serializable", clientv3.WithSerializable()},
	)
	text, opts = text+more, append(opts, some...)
	if c.yes() {
		by, order := clientv3.SortTarget(c(5)), clientv3.SortOrder(c(3))
		text, opts = fmt.Sprintf("%s sorted by %d in order %d", text, by, order), append(opts, clientv3.WithSort(by, order))
	}
	if c.yes() {
		with := []func(int64) clientv3.OpOption{clientv3.WithMinModRev, clientv3.WithMaxModRev, clientv3.WithMinCreateRev, clientv3.WithMaxCreateRev}
		n, rev := c(len(with)), int64(2+c(8))
		text, opts = fmt.Sprintf("%s bound %d at %d", text, n, rev), append(opts, with[n](rev))
	}
	return fmt.Sprintf("get %q%s", key, text), key, opts
}

// get draws a get, which may read through a cache that lags.
func (c choices) get() operation {
	text, key, opts := c.gets()
	rev, lags := c.revision(), c.yes()
	return operation{fmt.Sprintf("%s at %s, by a cache that lags: %t", text, rev.text, lags), func(p *player) string {
		n := rev.of(p)
		if lags && n > 0 {
			a, err := p.store.stale(n, key, opts)
			return p.say((*pb.RangeResponse)(a), err)
		}
		opts := append(opts[:len(opts):len(opts)], clientv3.WithRev(n))
		a, err := p.client.Get(p.ctx, key, opts...)
		text := p.say((*pb.RangeResponse)(a), err)
		p.askBeneath(text, key, opts)
		return text
	}}
}

// askBeneath reads the store below the bridge, because the bridge's own answer must equal it.
func (p *player) askBeneath(text, key string, opts []clientv3.OpOption) {
	ctx, ours := p.beneath()
	if !ours {
		return
	}
	b, err := p.client.Get(ctx, key, opts...)
	if there := p.say((*pb.RangeResponse)(b), err); there != text && p.wrong == nil {
		p.wrong = fmt.Errorf("%w: the bridge answered\n%s, and the store beneath\n%s", ErrDiffer, text, there)
	}
}

// deletes draws a deletion's key and options.
func (c choices) deletes() (text, key string, opts []clientv3.OpOption) {
	key = c.key()
	text, opts = c.span()
	more, some := c.some(optional{"prev", clientv3.WithPrevKV()})
	return fmt.Sprintf("delete %q%s%s", key, text, more), key, append(opts, some...)
}

func (c choices) delete() operation {
	text, key, opts := c.deletes()
	return operation{text, func(p *player) string {
		a, err := p.client.Delete(p.ctx, key, opts...)
		return p.say((*pb.DeleteRangeResponse)(a), err)
	}}
}

func (c choices) compact() operation {
	rev, physical := c.revision(), c.yes()
	return operation{fmt.Sprintf("compact %s, physical %t", rev.text, physical), func(p *player) string {
		var opts []clientv3.CompactOption
		if physical {
			opts = append(opts, clientv3.WithCompactPhysical())
		}
		a, err := p.client.Compact(p.ctx, rev.of(p), opts...)
		return p.say((*pb.CompactionResponse)(a), err)
	}}
}
