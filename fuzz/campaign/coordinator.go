package campaign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/finding"
)

// coordinator plans shards and waits for their results. Results are in state; shards that are
// requested but not received are in asked.
type coordinator struct {
	Config
	*queue.Bus
	home    *home
	link    queue.Link
	state   *state
	workers *workerPool

	phase    queue.Phase
	asked    map[string]queue.Shard
	planned  map[int]*queue.Spans // seeds that are requested or done
	window   int                  // number of shards to request at a time
	skew     time.Duration        // of the server's clock
	born     time.Time
	deadline time.Time // end of shrinking; zero: not set yet
	rate     rate
	weighed  float64           // weight of the points that are done
	began    pace              // at the start of this coordinator
	latest   pace              // at the last result
	kept     map[string]string // object of a finding's file in the directory, by fingerprint
	drawn    time.Time         // when index.html was written
	done     bool              // the results are final
	why      string            // the reason why the campaign ended
}

// run runs the coordinator. ctx ends when the user interrupts, linkCtx when the connection closes.
func (c *coordinator) run(ctx, linkCtx context.Context) (*Outcome, error) {
	log, err := c.recover(linkCtx)
	if err != nil {
		return nil, err
	}
	if c.workers, err = newWorkerPool(linkCtx, c.link, c.Workers, c.Say); err != nil {
		return nil, err
	}
	defer c.workers.stopAll()
	why, err := c.explore(ctx, linkCtx, log)
	if err == nil && !c.Spec.Plan() {
		err = c.finish(ctx, linkCtx, log)
		if ctx.Err() != nil {
			why = interrupted
		}
	}
	// The log distinguishes an end from a crash.
	if why == interrupted {
		why = "" // the campaign can be resumed
	} else if e := c.end(linkCtx, why); err == nil {
		err = e
	}
	if e := c.Announce(linkCtx, queue.Entry{Build: c.Spec.Build, Name: c.Spec.Names(), Epoch: c.state.epoch, Phase: queue.Over}); err == nil {
		err = e
	}
	c.done, c.why = true, why
	last := c.save
	if c.Spec.Plan() {
		last = c.deliver
	}
	if e := last(linkCtx); err == nil {
		err = e
	}
	o := c.outcome(why)
	c.report()
	return o, err
}

// end records the end of the campaign for a later coordinator.
func (c *coordinator) end(ctx context.Context, why string) error {
	err := c.Write(ctx, "end", queue.Event{End: why})
	if err == nil && why != "" {
		err = write(c.home.path(overFile), []byte(why+"\n"))
	}
	return err
}

// interrupted is the reason when the user stops the campaign.
const interrupted = "interrupted"

// recover reads the log, and takes over with a new epoch.
func (c *coordinator) recover(ctx context.Context) (<-chan queue.Logged, error) {
	if err := c.Begin(ctx, c.Spec); err != nil {
		return nil, err
	}
	last, err := c.Last(ctx)
	if err != nil {
		return nil, err
	}
	log, err := c.Read(ctx)
	if err != nil {
		return nil, err
	}
	for seq := uint64(0); seq < last; {
		l, ok := <-log
		if !ok {
			return nil, ctx.Err()
		}
		c.state.apply(l.Event, l.At)
		seq = l.Seq
	}
	if c.Spec.Whole() { // the position in the exploration was in the worker process only
		epoch := c.state.epoch
		c.state = newState()
		c.state.epoch = epoch
	} else {
		c.reportResumed()
	}
	epoch := c.state.epoch + 1
	if err := c.Write(ctx, "epoch", queue.Event{Epoch: &epoch}); err != nil {
		return nil, err
	}
	for l := range log { // results of the previous epoch may still arrive
		if c.state.apply(l.Event, l.At); l.Epoch != nil && *l.Epoch == epoch {
			c.skew = time.Until(l.At)
			break
		}
	}
	c.asked, c.planned, c.kept = map[string]queue.Shard{}, map[int]*queue.Spans{}, map[string]string{}
	for n, done := range c.state.sources {
		copied := slices.Clone(*done)
		c.planned[n] = &copied
	}
	for _, p := range c.state.parts {
		c.weigh(p.Span)
	}
	c.began = pace{time.Now(), c.weighed}
	c.latest = c.began
	c.window = 2 * max(1, c.Workers)
	if c.Time > 0 {
		c.deadline = c.born.Add(max(0, c.Time-c.state.before))
	}
	c.rate.begin(c.state.runs, time.Now())
	return log, c.Announce(ctx, queue.Entry{Build: c.Spec.Build, Name: c.Spec.Names(), Epoch: epoch})
}

// reportResumed reports to the user that the campaign is resumed.
func (c *coordinator) reportResumed() {
	s := c.state
	if s.epoch == 0 || c.Say == nil {
		return
	}
	how := "stopped"
	if s.ended != "" {
		how = "ended"
	}
	if c.Spec.Plan() && s.runs == c.Runs {
		c.Say(fmt.Sprintf("%s has all %d points already", c.Dir, c.Runs))
		return
	} else if c.Spec.Plan() {
		c.Say(fmt.Sprintf("resuming the plan in %s: it %s after %d of %d points, which are not done again", c.Dir, how, s.runs, c.Runs))
		return
	}
	c.Say(fmt.Sprintf("resuming the campaign in %s: it %s after %d runs with %d findings, which are not run again",
		c.Dir, how, s.runs, len(s.findings)))
}

// explore runs until the time is up, all work is done, or ctx ends.
func (c *coordinator) explore(ctx, linkCtx context.Context, log <-chan queue.Logged) (why string, err error) {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		if err := c.plan(linkCtx); err != nil {
			return "", err
		}
		select {
		case l := <-log:
			if err := c.take(linkCtx, l); err != nil {
				return "", err
			}
		case <-tick.C:
			c.report()
			if err := errors.Join(c.widen(linkCtx), c.draw()); err != nil {
				return "", err
			}
		case err := <-c.workers.failed:
			return "", err
		case <-ctx.Done():
			return interrupted, c.windDown(linkCtx, log)
		}
		switch {
		case c.state.refused != "":
			return "", fmt.Errorf("%w: %s", ErrRefused, c.state.refused)
		case c.Spec.Whole() && len(c.asked) == 0 && c.state.allOver(len(c.Spec.Sources)):
			return "nothing is left to explore", nil
		case c.Time > 0 && time.Until(c.deadline) < c.reserve():
			return "time is up", c.windDown(linkCtx, log)
		case c.Spec.Plan() && c.state.runs >= c.Runs:
			return "all points are done", nil
		case !c.Spec.Plan() && c.Runs > 0 && c.state.runs >= c.Runs && c.state.canary:
			return "all runs are done", nil
		}
	}
}

const tickEvery = 200 * time.Millisecond

// take handles one event of the log.
func (c *coordinator) take(ctx context.Context, l queue.Logged) error {
	if !c.state.apply(l.Event, l.At) || l.Result == nil {
		return nil
	}
	r := l.Result
	delete(c.asked, r.Shard.Key())
	if r.Shard.Kind == queue.Plan {
		c.weigh(queue.Span{From: r.Shard.From, To: r.Shard.From + r.Done})
		c.latest = pace{time.Now(), c.weighed}
	}
	if r.Shard.Kind == queue.Explore || r.Shard.Kind == queue.Plan {
		c.rate.add(c.state.runs, time.Now())
		if r.Done < r.Shard.Runs && !r.Shard.Whole {
			c.forget(r.Shard) // plan the other seeds again
		}
	}
	if len(r.Kept)+len(r.Deaths) > 0 {
		return c.save(ctx)
	}
	return nil
}

// forget removes the seeds of a shard from the planned ones, except those that are done.
func (c *coordinator) forget(s queue.Shard) {
	var left queue.Spans
	for _, x := range *c.planned[s.Source] {
		left.Add(queue.Span{From: x.From, To: min(x.To, max(s.From, x.From))})
		left.Add(queue.Span{From: max(x.From, s.From+s.Runs), To: x.To})
	}
	for _, x := range *c.state.sources[s.Source] {
		left.Add(x)
	}
	c.planned[s.Source] = &left
}

// save writes new and shorter findings to the directory.
func (c *coordinator) save(ctx context.Context) error {
	for _, fp := range slices.Sorted(maps.Keys(c.state.findings)) {
		f := c.state.findings[fp]
		if c.kept[fp] == f.Objects[finding.File(fp)] {
			continue
		}
		if err := c.placeAll(ctx, fp, f.Objects); err != nil {
			return err
		}
		c.kept[fp] = f.Objects[finding.File(fp)]
	}
	for fp := range c.state.dropped {
		if err := c.placeAll(ctx, fp, nil); err != nil {
			return err
		}
	}
	return c.index()
}

// placeAll writes the files of a finding that have an object, and removes the others.
func (c *coordinator) placeAll(ctx context.Context, fingerprint string, objects map[string]string) error {
	var errs []error
	for _, name := range finding.Files(fingerprint) {
		errs = append(errs, c.place(ctx, filepath.Join(c.Dir, name), objects[name]))
	}
	return errors.Join(errs...)
}

// place writes an object to a file. Without an object it removes the file.
func (c *coordinator) place(ctx context.Context, path, object string) error {
	var err error
	if object == "" {
		if err = os.Remove(path); errors.Is(err, os.ErrNotExist) {
			return nil
		}
	} else {
		var body []byte
		if body, err = c.Load(ctx, object); err != nil {
			return err
		}
		err = write(path, body)
	}
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

func (c *coordinator) report() {
	if c.OnProgress != nil {
		c.OnProgress(c.progress())
	}
}
