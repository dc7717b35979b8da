package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ErrBuild is what a worker says that cannot work for anybody.
var ErrBuild = errors.New("every campaign there is of another build")

// Find looks for a campaign of this build that has work.
func (b *Bus) Find(ctx context.Context, build string) (id string, e Entry, err error) {
	ids, err := b.register.Keys(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoKeysFound) {
		return "", e, b.wrap(err)
	}
	var other error
	for _, id := range ids {
		kv, err := b.register.Get(ctx, id)
		var e Entry
		if err != nil || json.Unmarshal(kv.Value(), &e) != nil || e.Phase == Over {
			continue
		}
		if e.Build == build {
			return id, e, nil
		}
		other = fmt.Errorf("%w: %s (campaign %s) needs build %s, this is %s; use the same binary", ErrBuild, e.Name, id, e.Build, build)
	}
	return "", e, other
}

// Sibling is a bus for one campaign on the same connection.
func (b *Bus) Sibling() *Bus { return &Bus{conn: b.conn, js: b.js, register: b.register} }

// Watch the entry of a campaign. An entry that is gone or cannot be read is the end of it.
func (b *Bus) Watch(ctx context.Context, id string) (<-chan Entry, error) {
	w, err := b.register.Watch(ctx, id)
	if err != nil {
		return nil, b.wrap(err)
	}
	out := make(chan Entry)
	go func() {
		defer func() { _ = w.Stop() }()
		for {
			select {
			case <-ctx.Done():
				return
			case kv := <-w.Updates():
				if kv == nil {
					continue // that is all there was
				}
				var e Entry
				if kv.Operation() != jetstream.KeyValuePut || json.Unmarshal(kv.Value(), &e) != nil {
					e = Entry{Phase: Over}
				}
				select {
				case out <- e:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out, nil
}

// Shards is where workers take their work from.
func (b *Bus) Shards(ctx context.Context) (jetstream.Consumer, error) {
	c, err := b.queue.Consumer(ctx, "workers")
	return c, b.wrap(err)
}

// Pause until d is over, or ctx.
func Pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
