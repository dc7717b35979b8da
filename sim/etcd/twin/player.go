package twin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/metadata"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ipamsim/sim/etcd"
)

// player is the client of one store.
type player struct {
	ctx     context.Context
	store   store
	client  *clientv3.Client
	next    time.Time // of the next operation
	watches []*watch
	kept    []kept
	keepers []*keeper
	heard   strings.Builder // by the subscriber
	slept   bool            // for long
	wrong   error           // the first thing that is wrong with this store alone
}

// store is what a client of one cannot do by the client alone.
type store interface {
	revision() int64
	// stale reads as it was at a revision, with a header that says so.
	stale(rev int64, key string, opts []clientv3.OpOption) (*clientv3.GetResponse, error)
	// pump moves what is due to watches, and reports whether there may be more.
	pump() bool
	// plain is a text with the names of cluster and member that ours has.
	plain(text string) string
	scan(prefix string, f func(key string, value []byte, rev int64)) error
	end() error
}

// watch is one that was opened and what it told since it was asked last.
type watch struct {
	cancel   context.CancelFunc
	received strings.Builder
}

// keeper keeps a lease alive.
type keeper struct {
	cancel   context.CancelFunc
	received strings.Builder
}

// kept is an answer and how it read when it came: it must not change any more.
type kept struct {
	answer fmt.Stringer
	text   string
}

// stream makes the watches under the context share etcd's stream of that name.
func stream(ctx context.Context, name string) context.Context {
	return metadata.NewOutgoingContext(ctx, metadata.Pairs("stream", name))
}

// say is an answer as text. It is read again at the end.
func (p *player) say(answer fmt.Stringer, err error) string {
	if err != nil {
		return fmt.Sprintf("%T %v", err, err)
	}
	text := answer.String()
	p.kept = append(p.kept, kept{answer, text})
	return text
}

func (p *player) hear(e etcd.Event) {
	fmt.Fprintf(&p.heard, " heard %q=%q(%t) was %q(%t)@%d at %d deleted %t", e.Key, e.Value, e.Value == nil, e.Prev, e.Prev == nil, e.PrevRevision, e.Revision, e.Deleted)
}

// The first operation is a quarter of a second off the half seconds at which etcd looks for
// leases that are over. The step between two keeps them off for 50,000 operations, and
// off everything that etcd does ten times a second.
const (
	firstAt = 10250 * time.Millisecond
	step    = 501001 * time.Microsecond
)

// settle lets everything that is due happen, until the next operation.
func (p *player) settle() {
	for p.store.pump() {
		time.Sleep(time.Nanosecond) // whoever reads is read from
	}
	time.Sleep(time.Until(p.next))
	for p.store.pump() {
		time.Sleep(time.Nanosecond)
	}
	p.next = p.next.Add(step)
}

// news tells what subscriber, watches and whoever keeps leases alive heard until the
// next operation.
func (p *player) news() string {
	p.settle()
	heard := p.heard.String()
	p.heard.Reset()
	for i, w := range p.watches {
		if w.received.Len() > 0 {
			heard += fmt.Sprintf(" watch %d:%s", i, w.received.String())
			w.received.Reset()
		}
	}
	for i, l := range p.keepers {
		if l.received.Len() > 0 {
			heard += fmt.Sprintf(" keeper %d:%s", i, l.received.String())
			l.received.Reset()
		}
	}
	return p.store.plain(heard)
}

// watch opens one on a stream.
func (p *player) watch(on, key string, opts ...clientv3.OpOption) {
	ctx, cancel := context.WithCancel(stream(p.ctx, on))
	w := &watch{cancel: cancel}
	p.watches = append(p.watches, w)
	ch := p.client.Watch(ctx, key, opts...)
	go func() {
		for r := range ch {
			w.received.WriteString(" " + render(&r))
		}
		w.received.WriteString(" closed")
	}()
}

func render(r *clientv3.WatchResponse) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s created %t canceled %t compacted %d progress %t err %v", r.Header.String(), r.Created, r.Canceled, r.CompactRevision, r.IsProgressNotify(), r.Err())
	for _, e := range r.Events {
		fmt.Fprintf(&b, " [%s %s was %s]", e.Type, e.Kv, e.PrevKv)
	}
	return b.String()
}

// keepAlive keeps a lease alive.
func (p *player) keepAlive(id clientv3.LeaseID) string {
	ctx, cancel := context.WithCancel(p.ctx)
	l := &keeper{cancel: cancel}
	p.keepers = append(p.keepers, l)
	ch, err := p.client.KeepAlive(ctx, id)
	if err != nil {
		return err.Error()
	}
	go func() {
		for r := range ch {
			fmt.Fprintf(&l.received, " at %s: %s lease %d for %d s", time.Now().Format("04:05.000"), r.ResponseHeader, r.ID, r.TTL)
		}
		fmt.Fprintf(&l.received, " at %s: closed", time.Now().Format("04:05.000"))
	}()
	return ""
}

// end is what is left. Only what is being watched may still come.
func (p *player) end() string {
	var b strings.Builder
	fmt.Fprintf(&b, "revision %d, keys", p.store.revision())
	for _, prefix := range []string{"", "b", "none"} {
		if err := p.store.scan(prefix, func(key string, value []byte, rev int64) { fmt.Fprintf(&b, " %q=%q@%d", key, value, rev) }); err != nil {
			p.wrong = err
		}
	}
	for _, k := range p.kept {
		if now := k.answer.String(); now != k.text && p.wrong == nil {
			p.wrong = fmt.Errorf("%w: an answer was\n%s, and at the end it is\n%s", ErrDiffer, k.text, now)
		}
	}
	return b.String()
}
