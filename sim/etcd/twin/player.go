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
	wrong   error           // the first error of this store alone
}

// store is what a test needs of a store in addition to its client.
type store interface {
	revision() int64
	// stale reads at an older revision, with a header of that revision.
	stale(rev int64, key string, opts []clientv3.OpOption) (*clientv3.GetResponse, error)
	// pump moves due events to watches, and reports whether there may be more.
	pump() bool
	// plain replaces the names of cluster and member in a text by ours.
	plain(text string) string
	scan(prefix string, f func(key string, value []byte, rev int64)) error
	end() error
}

// watch is an open watch and what it received since it was last read.
type watch struct {
	cancel   context.CancelFunc
	received strings.Builder
}

// keeper keeps a lease alive.
type keeper struct {
	cancel   context.CancelFunc
	received strings.Builder
}

// kept is an answer and its text at its arrival: it must not change later.
type kept struct {
	answer fmt.Stringer
	text   string
}

// stream makes the watches under the context share the stream of that name.
func stream(ctx context.Context, name string) context.Context {
	return metadata.NewOutgoingContext(ctx, metadata.Pairs("stream", name))
}

// say returns an answer as text. The answer is rendered again at the end.
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

// The first operation is a quarter of a second off the half seconds at which etcd checks for
// expired leases. The step between operations keeps them off for 50,000 operations, and off
// everything that etcd does ten times a second.
const (
	firstAt = 10250 * time.Millisecond
	step    = 501001 * time.Microsecond
)

// settle processes everything that is due before the next operation.
func (p *player) settle() {
	for p.store.pump() {
		time.Sleep(time.Nanosecond) // readers take their events
	}
	time.Sleep(time.Until(p.next))
	for p.store.pump() {
		time.Sleep(time.Nanosecond)
	}
	p.next = p.next.Add(step)
}

// news returns what the subscriber, watches and keepers of leases received until the next
// operation.
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

// watch opens a watch on a stream.
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

// end returns the final state. Only events of open watches may still arrive.
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
