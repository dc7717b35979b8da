package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// bus is what a coordinator and its workers share: a queue of shards, the log,
// the files of findings, and the register, in which campaigns say that they are.
type bus struct {
	conn     *nats.Conn
	js       jetstream.JetStream
	register jetstream.KeyValue
	id       string
	queue    jetstream.Stream
	log      jetstream.Stream
	objects  jetstream.ObjectStore
}

// entry of the register.
type entry struct {
	Build string
	Name  string // for people
	Epoch int
	Phase phase
}

// phase of a campaign: what its workers may do.
type phase int

const (
	exploring phase = iota
	finishing       // no more exploring, only making small and keeping
	over
)

const (
	registerName = "ipamsim-campaigns"
	specObject   = "spec"
	// ackWait after which a shard of which nothing was heard goes to another worker,
	// and how often workers are heard of.
	ackWait  = 5 * time.Second
	ackEvery = time.Second
	// keptFor: a cluster that others use forgets a campaign after so long.
	keptFor = 30 * 24 * time.Hour
)

// reach dials and opens the register.
func reach(ctx context.Context, l Link, name string) (*bus, error) {
	conn, err := l.dial(name)
	if err != nil {
		return nil, err
	}
	b := &bus{conn: conn}
	if b.js, err = jetstream.New(conn); err == nil {
		b.register, err = b.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: registerName, Storage: jetstream.FileStorage})
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("campaign: JetStream: %w", err)
	}
	return b, nil
}

func (b *bus) subject(rest string) string { return "ipamsim." + b.id + "." + rest }

// create opens the campaign's own streams, making what is not there yet.
func (b *bus) create(ctx context.Context, id string) (err error) {
	b.id = id
	b.queue, err = b.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: "ipamsim-" + id + "-shards", Subjects: []string{b.subject("shard")},
		Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, MaxAge: keptFor,
	})
	if err == nil {
		_, err = b.queue.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: -1,
		})
	}
	if err == nil {
		b.log, err = b.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: "ipamsim-" + id + "-log", Subjects: []string{b.subject("log.>")},
			Storage: jetstream.FileStorage, MaxAge: keptFor, AllowDirect: true,
		})
	}
	if err == nil {
		b.objects, err = b.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: "ipamsim-" + id + "-files", Storage: jetstream.FileStorage, TTL: keptFor,
		})
	}
	return b.wrap(err)
}

// open is create for a worker: what is not there is not made.
func (b *bus) open(ctx context.Context, id string) (err error) {
	b.id = id
	if b.queue, err = b.js.Stream(ctx, "ipamsim-"+id+"-shards"); err == nil {
		if b.log, err = b.js.Stream(ctx, "ipamsim-"+id+"-log"); err == nil {
			b.objects, err = b.js.ObjectStore(ctx, "ipamsim-"+id+"-files")
		}
	}
	return b.wrap(err)
}

func (b *bus) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("campaign: JetStream: %w", err)
}

// waiting is how many shards nobody has taken yet.
func (b *bus) waiting(ctx context.Context) (uint64, error) {
	c, err := b.queue.Consumer(ctx, "workers")
	if err != nil {
		return 0, b.wrap(err)
	}
	return c.CachedInfo().NumPending, nil
}

// tell the workers what the campaign is at.
func (b *bus) tell(ctx context.Context, e entry) error {
	body, err := json.Marshal(e)
	if err == nil {
		_, err = b.register.Put(ctx, b.id, body)
	}
	return b.wrap(err)
}

// put a shard into the queue, once.
func (b *bus) put(ctx context.Context, s Shard) error {
	body, err := json.Marshal(s)
	if err == nil {
		_, err = b.js.Publish(ctx, b.subject("shard"), body, jetstream.WithMsgID(fmt.Sprintf("%d-%s", s.Epoch, s.key())))
	}
	return b.wrap(err)
}

// write an event into the log.
func (b *bus) write(ctx context.Context, name string, e event, o ...jetstream.PublishOpt) error {
	body, err := json.Marshal(e)
	if err == nil {
		_, err = b.js.Publish(ctx, b.subject("log."+name), body, o...)
	}
	return b.wrap(err)
}

// result writes the result of a shard, unless there is one.
func (b *bus) result(ctx context.Context, r *Result) error {
	err := b.write(ctx, resultSubject(r.Shard), event{Result: r}, jetstream.WithExpectLastSequencePerSubject(0))
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return nil
	}
	return err
}

// has reports whether the result of a shard is in the log.
func (b *bus) has(ctx context.Context, s Shard) bool {
	_, err := b.log.GetLastMsgForSubject(ctx, b.subject("log."+resultSubject(s)))
	return err == nil
}

func resultSubject(s Shard) string { return fmt.Sprintf("result.%d.%s", s.Epoch, s.key()) }

// entry of the log, with when the server took it.
type logged struct {
	event
	at  time.Time
	seq uint64
}

// read hands over the log from its beginning, and goes on as it grows. The
// channel is closed when ctx ends.
func (b *bus) read(ctx context.Context) (<-chan logged, error) {
	c, err := b.js.OrderedConsumer(ctx, "ipamsim-"+b.id+"-log", jetstream.OrderedConsumerConfig{})
	if err != nil {
		return nil, b.wrap(err)
	}
	out := make(chan logged, 256)
	it, err := c.Messages()
	if err != nil {
		return nil, b.wrap(err)
	}
	stop := context.AfterFunc(ctx, it.Stop)
	go func() {
		defer close(out)
		defer stop()
		for {
			m, err := it.Next()
			if errors.Is(err, jetstream.ErrMsgIteratorClosed) {
				return
			}
			if err != nil {
				continue // a heartbeat that was missed: the consumer is made anew
			}
			var l logged
			meta, err := m.Metadata()
			if err != nil || json.Unmarshal(m.Data(), &l.event) != nil {
				continue
			}
			l.at, l.seq = meta.Timestamp, meta.Sequence.Stream
			select {
			case out <- l:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}

// last is the number of the log's last entry.
func (b *bus) last(ctx context.Context) (uint64, error) {
	info, err := b.log.Info(ctx)
	if err != nil {
		return 0, b.wrap(err)
	}
	return info.State.LastSeq, nil
}
