package kube

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
)

// frames moves a watch's events from the server to the client, in the order of
// the stream, each when the schedule says so.
type frames struct {
	g        *sim.Gate
	call     *call
	from, to *pipe
}

// move ends when the server ends the stream, when the client hangs up or dies,
// or when the schedule breaks the watch.
func (f *frames) move(ctx context.Context, r *bufio.Reader) {
	defer f.from.Close()
	defer f.to.Close()
	for {
		line, err := r.ReadBytes('\n') // one event a line: JSON escapes line ends
		if len(line) > 0 {
			if !f.pass(ctx, line) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (f *frames) pass(ctx context.Context, line []byte) bool {
	x := Exchange{Method: "EVENT", Verb: "event", Path: f.call.info.Path, Resource: f.call.info.Resource, Response: line, Status: 200}
	kind := text(line, "type")
	x.Namespace, x.Name = text(line, "object", "metadata", "namespace"), text(line, "object", "metadata", "name")
	op := sim.Op{Kind: sim.Event, Class: "watch", Hurts: sim.Of(sim.Drop, sim.Gone)}
	op.Key = fmt.Sprintf("EVENT %s %s", kind, where(x.Resource, x.Namespace, x.Name, ""))
	if rv := text(line, "object", "metadata", "resourceVersion"); rv != "" {
		op.Key += " rv=" + rv
	}
	err := f.g.Pass(ctx, op, func(ctx context.Context) error {
		sim.Report(ctx, "delivered", x)
		_, err := f.to.Write(line)
		return err
	})
	if fault := (*sim.Fault)(nil); errors.As(err, &fault) && fault.Outcome == sim.Gone {
		_, _ = f.to.Write(expired())
	}
	return err == nil
}

// expired is the last event of a watch whose history is gone.
func expired() []byte {
	b, err := json.Marshal(metav1.WatchEvent{Type: "ERROR", Object: rawStatus(gone)})
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}
