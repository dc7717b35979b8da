// Package queue is the shared state of a coordinator and its workers, on NATS JetStream: the
// queue of shards, the log of results, the files of findings, and the register of campaigns.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Bus is a connection to this state. A Bus has one campaign, except for the register, which
// lists all campaigns on the server.
type Bus struct {
	conn     *nats.Conn
	js       jetstream.JetStream
	register jetstream.KeyValue
	ID       string
	queue    jetstream.Stream
	log      jetstream.Stream
	objects  jetstream.ObjectStore
}

// Entry is a campaign's entry in the register.
type Entry struct {
	Build string
	Name  string // for messages
	Epoch int
	Phase Phase
}

// Phase of a campaign determines what its workers may do.
type Phase int

// The phases.
const (
	Exploring Phase = iota
	Finishing       // no more exploring, only shrinking and recording
	Over
)

const (
	registerName = "ipamsim-campaigns"
	specObject   = "spec"
	// ackWait is the time without acknowledgement after which a shard goes to another worker.
	ackWait = 5 * time.Second
	// keptFor is the time after which a shared NATS server deletes a campaign's data.
	keptFor = 30 * 24 * time.Hour
)

// AckEvery is the interval in which a worker acknowledges that it still works on a shard.
const AckEvery = time.Second

// Reach connects to the server and opens the register.
func Reach(ctx context.Context, l Link, name string) (*Bus, error) {
	conn, err := l.Dial(name)
	if err != nil {
		return nil, err
	}
	b := &Bus{conn: conn}
	if b.js, err = jetstream.New(conn); err == nil {
		b.register, err = b.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: registerName, Storage: jetstream.FileStorage})
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("campaign: JetStream: %w", err)
	}
	return b, nil
}

func (b *Bus) subject(rest string) string { return "ipamsim." + b.ID + "." + rest }

// Create opens the campaign's own streams, and creates those that do not exist.
func (b *Bus) Create(ctx context.Context, id string) (err error) {
	b.ID = id
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

// Open opens the campaign's streams for a worker. Streams that do not exist are an error.
func (b *Bus) Open(ctx context.Context, id string) (err error) {
	b.ID = id
	if b.queue, err = b.js.Stream(ctx, "ipamsim-"+id+"-shards"); err == nil {
		if b.log, err = b.js.Stream(ctx, "ipamsim-"+id+"-log"); err == nil {
			b.objects, err = b.js.ObjectStore(ctx, "ipamsim-"+id+"-files")
		}
	}
	return b.wrap(err)
}

func (b *Bus) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("campaign: JetStream: %w", err)
}

// Waiting returns the number of shards that no worker has taken yet.
func (b *Bus) Waiting(ctx context.Context) (uint64, error) {
	c, err := b.queue.Consumer(ctx, "workers")
	if err != nil {
		return 0, b.wrap(err)
	}
	return c.CachedInfo().NumPending, nil
}

// Announce publishes the campaign's state to the workers.
func (b *Bus) Announce(ctx context.Context, e Entry) error {
	body, err := json.Marshal(e)
	if err == nil {
		_, err = b.register.Put(ctx, b.ID, body)
	}
	return b.wrap(err)
}

// Put adds a shard to the queue. A shard that is already in the queue is not added again.
func (b *Bus) Put(ctx context.Context, s Shard) error {
	body, err := json.Marshal(s)
	if err == nil {
		_, err = b.js.Publish(ctx, b.subject("shard"), body, jetstream.WithMsgID(fmt.Sprintf("%d-%s", s.Epoch, s.Key())))
	}
	return b.wrap(err)
}

// Write appends an event to the log.
func (b *Bus) Write(ctx context.Context, name string, e Event, o ...jetstream.PublishOpt) error {
	body, err := json.Marshal(e)
	if err == nil {
		_, err = b.js.Publish(ctx, b.subject("log."+name), body, o...)
	}
	return b.wrap(err)
}

// Result appends the result of a shard to the log, unless the log has one.
func (b *Bus) Result(ctx context.Context, r *Result) error {
	err := b.Write(ctx, resultSubject(r.Shard), Event{Result: r}, jetstream.WithExpectLastSequencePerSubject(0))
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return nil
	}
	return err
}

// Has reports whether the result of a shard is in the log.
func (b *Bus) Has(ctx context.Context, s Shard) bool {
	_, err := b.log.GetLastMsgForSubject(ctx, b.subject("log."+resultSubject(s)))
	return err == nil
}

func resultSubject(s Shard) string { return fmt.Sprintf("result.%d.%s", s.Epoch, s.Key()) }

// Event is an entry of a campaign's log. The log is the only state of a campaign: a coordinator
// that reads it from its beginning can continue the campaign.
type Event struct {
	Epoch  *int     `json:",omitempty"` // a coordinator took over
	Result *Result  `json:",omitempty"`
	Cover  []Sights `json:",omitempty"`
	End    string   `json:",omitempty"` // the reason why the coordinator ended the campaign
}

// Logged is an entry of the log, with the time at which the server stored it.
type Logged struct {
	Event
	At  time.Time
	Seq uint64
}

// Searched returns what the campaign searches.
func (b *Bus) Searched(ctx context.Context) (s Spec, err error) {
	text, err := b.objects.GetBytes(ctx, specObject)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, b.wrap(err)
}

// Begin stores what the campaign searches, and empties the queue: all open shards are planned
// again.
func (b *Bus) Begin(ctx context.Context, s Spec) error {
	text, err := json.Marshal(s)
	if err == nil {
		_, err = b.objects.PutBytes(ctx, specObject, text)
	}
	if err == nil {
		err = b.queue.Purge(ctx)
	}
	return b.wrap(err)
}

// Store saves a file in the object store, and returns the name of the object.
func (b *Bus) Store(ctx context.Context, name string, body []byte) (object string, err error) {
	object = name + "-" + digest(body)
	_, err = b.objects.PutBytes(ctx, object, body)
	return object, b.wrap(err)
}

// Load returns a file that Store saved.
func (b *Bus) Load(ctx context.Context, object string) ([]byte, error) {
	body, err := b.objects.GetBytes(ctx, object)
	return body, b.wrap(err)
}

// Server returns the server's address, without secrets.
func (b *Bus) Server() string { return b.conn.ConnectedUrlRedacted() }

// Close closes the connection, also for siblings.
func (b *Bus) Close() { b.conn.Close() }

// Read sends the log from its beginning, and new entries as they come. It closes the channel
// when ctx ends.
func (b *Bus) Read(ctx context.Context) (<-chan Logged, error) {
	c, err := b.js.OrderedConsumer(ctx, "ipamsim-"+b.ID+"-log", jetstream.OrderedConsumerConfig{})
	if err != nil {
		return nil, b.wrap(err)
	}
	out := make(chan Logged, 256)
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
				continue // a missed heartbeat: the ordered consumer recreates itself
			}
			var l Logged
			meta, err := m.Metadata()
			if err != nil || json.Unmarshal(m.Data(), &l.Event) != nil {
				continue
			}
			l.At, l.Seq = meta.Timestamp, meta.Sequence.Stream
			select {
			case out <- l:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}

// Last returns the number of the log's last entry.
func (b *Bus) Last(ctx context.Context) (uint64, error) {
	info, err := b.log.Info(ctx)
	if err != nil {
		return 0, b.wrap(err)
	}
	return info.State.LastSeq, nil
}
