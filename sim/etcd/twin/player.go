package twin

import (
	"context"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ipamsim/sim/etcd"
)

// player is the client of one store.
type player struct {
	ctx     context.Context
	run     *etcd.Run
	client  *clientv3.Client
	watches []*watch
	heard   strings.Builder // by the subscriber
	kept    []kept
	wrong   error // the first thing that is wrong with this store alone
}

type watch struct {
	ch     clientv3.WatchChan
	cancel context.CancelFunc
}

// kept is an answer and how it read when it came: it must not change any more.
type kept struct {
	answer fmt.Stringer
	text   string
}

func newPlayer(ctx context.Context, run *etcd.Run) *player {
	p := &player{ctx: ctx, run: run, client: run.Client()}
	run.OnEvent(func(e etcd.Event) {
		fmt.Fprintf(&p.heard, " heard %q=%q(%t) was %q(%t)@%d at %d deleted %t", e.Key, e.Value, e.Value == nil, e.Prev, e.Prev == nil, e.PrevRevision, e.Revision, e.Deleted)
	})
	return p
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

// news pumps and tells what subscriber and watches heard.
func (p *player) news() string {
	p.run.Pump()
	heard := p.heard.String()
	p.heard.Reset()
	for i, w := range p.watches {
		for open := true; open; {
			select {
			case r, ok := <-w.ch:
				if open = ok; ok {
					heard += fmt.Sprintf(" watch %d: %s", i, told(&r))
				} else {
					heard += fmt.Sprintf(" watch %d closed", i)
					w.ch = nil
				}
			default:
				open = false
			}
		}
	}
	return heard
}

func told(r *clientv3.WatchResponse) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s created %t canceled %t compacted %d err %v", r.Header.String(), r.Created, r.Canceled, r.CompactRevision, r.Err())
	for _, e := range r.Events {
		fmt.Fprintf(&b, " [%s %s was %s]", e.Type, e.Kv, e.PrevKv)
	}
	return b.String()
}

// end is what is left.
func (p *player) end() string {
	digest, err := p.run.Digest()
	if err != nil {
		p.wrong = err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "revision %d, %d calls, digest %s, keys", p.run.Revision(), p.run.Calls(), digest)
	for _, prefix := range []string{"", "b", "none"} {
		p.run.Scan(prefix, func(key string, value []byte, rev int64) { fmt.Fprintf(&b, " %q=%q@%d", key, value, rev) })
	}
	for _, k := range p.kept {
		if now := k.answer.String(); now != k.text && p.wrong == nil {
			p.wrong = fmt.Errorf("%w: an answer was\n%s, and at the end it is\n%s", ErrDiffer, k.text, now)
		}
	}
	return b.String()
}
