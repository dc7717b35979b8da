package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ErrBuild: a worker cannot work for any campaign, because all have another build.
var ErrBuild = errors.New("all campaigns have another build")

// Find returns a campaign of this build that is not over.
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

// Sibling returns a bus for another campaign on the same connection.
func (b *Bus) Sibling() *Bus { return &Bus{conn: b.conn, js: b.js, register: b.register} }

// Watch sends the changes of a campaign's entry. An entry that was deleted or cannot be decoded
// means that the campaign is over.
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
					continue // end of the initial values
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

// Shards returns the queue from which workers take shards.
func (b *Bus) Shards(ctx context.Context) (jetstream.Consumer, error) {
	c, err := b.queue.Consumer(ctx, "workers")
	return c, b.wrap(err)
}

// Pause waits for d, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
