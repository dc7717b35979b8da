package twin

import (
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// watchesMax is how many watches may be opened.
const watchesMax = 6

// watch opens a watch, ends one, or requests progress for a stream.
func (c choices) watch() operation {
	on := []string{"one", "two"}[c(2)]
	switch c(6) {
	case 4:
		n := c(watchesMax)
		return operation{fmt.Sprintf("end watch %d", n), func(p *player) string {
			if n < len(p.watches) {
				p.watches[n].cancel()
			}
			return ""
		}}
	case 5:
		return operation{"ask for the progress of stream " + on, func(p *player) string {
			return fmt.Sprint(p.client.RequestProgress(stream(p.ctx, on)))
		}}
	}
	key, rev := c.key(), c.revision()
	if rev.by < 0 && !rev.relative {
		rev = revision{"0", false, 0} // etcd's answer to a revision below zero depends on an unsigned conversion
	}
	text, opts := c.span()
	more, some := c.some(
		optional{"prev", clientv3.WithPrevKV()}, optional{"no puts", clientv3.WithFilterPut()},
		optional{"no deletes", clientv3.WithFilterDelete()}, optional{"created", clientv3.WithCreatedNotify()},
		optional{"in fragments", clientv3.WithFragment()}, optional{"progress", clientv3.WithProgressNotify()},
	)
	return operation{fmt.Sprintf("watch %q%s%s from %s on stream %s", key, text, more, rev.text, on), func(p *player) string {
		if len(p.watches) < watchesMax {
			p.watch(on, key, append(append(opts[:len(opts):len(opts)], some...), clientv3.WithRev(max(0, rev.of(p))))...)
		}
		return ""
	}}
}
