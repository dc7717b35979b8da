package kube

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"ipamsim/sim"
)

// frames moves a watch's events from the server to the client, in the order of the stream. The
// schedule delivers each.
type frames struct {
	g        *sim.Gate
	call     *call
	from, to *pipe
	conn     *conn
	protobuf bool // the events are protobuf; false: JSON
}

// move ends when the server ends the stream, when the client hangs up or dies,
// or when the schedule breaks the watch.
func (f *frames) move(ctx context.Context, r *bufio.Reader) {
	defer f.conn.carry(func(err error) { f.to.fail(err); f.from.Close() })()
	defer f.from.Close()
	defer f.to.Close()
	for {
		event, err := f.read(r)
		if len(event) > 0 {
			if !f.pass(ctx, event) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// read returns the next event of the server's stream.
func (f *frames) read(r *bufio.Reader) ([]byte, error) {
	if !f.protobuf {
		return r.ReadBytes('\n') // one event a line: JSON escapes line ends
	}
	head, err := r.Peek(frameHead)
	if err != nil {
		return nil, err
	}
	b := make([]byte, frameHead+int(binary.BigEndian.Uint32(head)))
	_, err = io.ReadFull(r, b)
	return b, err
}

func (f *frames) pass(ctx context.Context, event []byte) bool {
	x := Exchange{Method: "EVENT", Verb: "event", Path: f.call.info.Path, Resource: f.call.info.Resource, Response: event, Status: 200}
	kind := textAt(event, "type")
	x.Namespace, x.Name = textAt(event, "object.metadata.namespace"), textAt(event, "object.metadata.name")
	if kind == "BOOKMARK" {
		return f.bookmark(event)
	}
	r := About("EVENT", x.Resource, x.Namespace, x.Name)
	op := sim.Op{Kind: sim.Event, Class: "watch", Key: "EVENT " + kind + " " + r.Path, Faults: sim.Of(sim.Drop, sim.Gone), Link: f.conn.link, Request: r}
	if rv := textAt(event, "object.metadata.resourceVersion"); rv != "" {
		op.Key += " rv=" + rv
	}
	err := f.g.Pass(ctx, op, func(ctx context.Context) error {
		sim.Report(ctx, "delivered", x)
		_, err := f.to.Write(event)
		return err
	})
	if fault := (*sim.Fault)(nil); errors.As(err, &fault) && fault.Outcome == sim.Gone {
		_, _ = f.to.Write(f.expired())
	}
	return err == nil
}

// bookmark delivers a bookmark. It concerns no object, only the completeness of earlier
// events, so the schedule has no choice. A partitioned or paused client does not get it.
func (f *frames) bookmark(event []byte) bool {
	if f.g.Reached() {
		_, err := f.to.Write(event)
		return err == nil
	}
	return true
}

// expired delivers the last event of a watch whose history is compacted.
func (f *frames) expired() []byte {
	e, status := metav1.WatchEvent{Type: "ERROR"}, statusOf(&gone)
	if !f.protobuf {
		e.Object.Raw = marshal(status)
		b, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		return append(b, '\n')
	}
	var err error
	if e.Object.Raw, err = runtime.Encode(inProtobuf, status); err != nil {
		panic(err)
	}
	b, err := e.Marshal()
	if err != nil {
		panic(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

var inProtobuf = stored(schema.GroupVersion{Version: "v1"})
