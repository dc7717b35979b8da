package campaign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"ipamsim/fuzz/space"
	"ipamsim/reports/index"
)

// Files in a campaign's directory, in addition to its findings.
const (
	FindingsFile = "findings.json"
	IndexFile    = "index.html"
)

// index writes findings.json and the campaign's page.
func (c *coordinator) index() error {
	out := []index.Finding{}
	for _, r := range c.rows() {
		out = append(out, r.line())
	}
	body, err := json.MarshalIndent(out, "", "  ")
	if err == nil {
		err = write(filepath.Join(c.Dir, FindingsFile), append(body, '\n'))
	}
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	c.drawn = time.Time{}
	return c.draw()
}

// line returns the entry in findings.json.
func (r *Row) line() index.Finding {
	base := func(path string) string {
		if path == "" {
			return ""
		}
		return filepath.Base(path)
	}
	return index.Finding{
		Fingerprint: r.Fingerprint, Invariant: r.Invariant, Severity: r.Severity, Died: r.Died, Upstream: r.Upstream, Sentence: r.Sentence,
		Trigger: string(r.Cause.Trigger), Known: r.Known, Real: string(r.Real.Verdict), Cause: r.Cause.Lines()[1:],
		File: base(r.File), History: base(r.History), Issue: base(r.Issue), Page: base(r.Page), Count: r.Count, FirstRun: r.First, FirstAfter: r.FirstAfter.Seconds(),
		Pods: r.Pods, Switches: r.Switches, Faults: r.Faults, Steps: r.Steps,
		Repeated: r.Repeated, Small: !r.Rough, ShrinkRuns: r.ShrinkRuns, ShrinkSeconds: r.ShrinkSeconds, Sampled: r.Sampled, Failing: r.Failing, Also: r.Also, Keys: r.Keys,
	}
}

// drawEvery is the interval in which the campaign's page is written.
const drawEvery = 10 * time.Second

// draw writes the page if it is older than that.
func (c *coordinator) draw() error {
	if c.Spec.Plan() || time.Since(c.drawn) < drawEvery {
		return nil
	}
	c.drawn = time.Now()
	x := c.page()
	if err := drawTo(filepath.Join(c.Dir, IndexFile), x); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if c.HTML == "" {
		return nil
	}
	x.Dir = c.HTMLDir
	if err := drawTo(c.HTML, x); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}

func drawTo(path string, x *index.Campaign) error {
	var b bytes.Buffer
	if err := index.Write(&b, x.Index()); err != nil {
		return err
	}
	return write(path, b.Bytes())
}

// page returns the content of the page.
func (c *coordinator) page() *index.Campaign {
	o := c.outcome(c.why)
	x := &index.Campaign{
		Name: c.Spec.Names(), Running: !c.done, Every: drawEvery, AsOf: time.Now(), Ended: o.Why, Elapsed: o.Elapsed, Left: o.Left,
		Runs: o.Runs, Unknown: o.Unknown, States: o.States, Allocators: o.Allocators, Pairs: o.Pairs, Open: o.Open,
		UnseenStates: o.UnseenStates.String(), UnseenAllocators: o.UnseenAllocators.String(),
		Defects: o.Defects, Defective: o.Defective, Caught: o.Caught, Canaries: o.Canaries, Repeated: o.Repeated, Series: c.state.series.all,
		Worlds: o.Worlds.Worlds, Quiet: o.Worlds.Quiet,
	}
	for _, d := range space.Classes() {
		x.Lacking = append(x.Lacking, index.Lacking{Class: string(d), Worlds: o.Worlds.Without[d]})
	}
	for _, r := range o.Rows {
		x.Findings = append(x.Findings, r.line())
	}
	for _, d := range o.Deaths {
		x.Deaths = append(x.Deaths, fmt.Sprintf("the run of seed %d died once, but not when it was repeated: %s", d.Seed, d.Cause))
	}
	return x
}
