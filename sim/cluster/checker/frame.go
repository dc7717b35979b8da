package checker

import (
	"context"
	"iter"

	"ipamsim/model"
	"ipamsim/model/recording"
	"ipamsim/sim/cluster/recorder"
)

// StartRecording begins a recording. Its first frame is the state before the first step, when
// the record has not been read yet.
func (c *Checker) StartRecording() error {
	record, err := c.cfg.Observe(context.Background())
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var routes func(recorder.PutRoute)
	if c.routing != nil {
		routes = c.routing.net.Watch()
	}
	c.recording = recorder.New(c.cfg.Networks, routes)
	c.recording.Frame(c.sceneLocked(&record, -1), 0, 0)
	return nil
}

// frame records the state after the last step.
func (c *Checker) frame() {
	if c.recording == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recording.Frame(c.sceneLocked(&c.recorded, c.revision), len(c.w.Trace().Steps), c.w.Now())
}

// Film is the recording so far; nil if none was started. It must not be changed.
func (c *Checker) Film() *recording.Recording {
	if c.recording == nil {
		return nil
	}
	return c.recording.Film()
}

// sceneLocked is what there is to be recorded, with the record at a revision. Called with
// mu held, and used before it is released.
func (c *Checker) sceneLocked(record *model.Snapshot, revision int64) recorder.View {
	v := recorder.View{
		Record: record, Revision: revision, Networks: record.Networks,
		Sandboxes: c.sortedSandboxes(), Pods: c.storedPods(), Edition: c.cache.edition,
		Machines: c.machines, Calls: c.eachCall(),
	}
	if v.Networks == nil {
		v.Networks = c.cfg.Networks
	}
	if c.routing != nil {
		v.Losses = c.routing.net.Losses()
	}
	return v
}

func (c *Checker) eachCall() iter.Seq2[string, recorder.Call] {
	return func(yield func(string, recorder.Call) bool) {
		for id, b := range c.calls {
			if !yield(id, recorder.Call{Busy: b.Busy, Network: b.Call.Network}) {
				return
			}
		}
	}
}

// Still is the first snapshot of a recording that begins now: the complete state, with the routes
// of the routing tables. Call it on the root goroutine.
func (c *Checker) Still() (recording.Snapshot, error) {
	record, err := c.cfg.Observe(context.Background())
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var routes func(recorder.PutRoute)
	if c.routing != nil {
		routes = c.eachRoute
	}
	r := recorder.New(c.cfg.Networks, routes)
	r.Frame(c.sceneLocked(&record, 0), 0, 0)
	return r.Film().At(0), nil
}

func (c *Checker) eachRoute(put recorder.PutRoute) {
	c.routing.net.Each(put)
}
