package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

const rowFormat = "%-4s %-58s %6s %6s %6s %6s %6s  %s\n"

// report runs everything, prints a row for each topology and each timing as soon
// as it is there, and what differed, then the sums, and returns the exit code.
func (b bench) report(ctx context.Context, o options, stdout io.Writer) int {
	start := time.Now()
	fmt.Fprintf(stdout, rowFormat, "", "topology", "pairs", "agreed", "lost", "either", "s", "")
	var s sums
	for row := range b.rows(ctx, o) {
		if ctx.Err() == nil {
			row.print(stdout)
			row.add(&s)
		}
	}
	if ctx.Err() != nil {
		fmt.Fprintln(stdout, "lab: interrupted")
		return exitCannot
	}
	fmt.Fprintf(stdout, "lab: %d run, 0 SKIPPED; %d of %d pairs agree, %d of %d timings; %.1f s\n",
		s.run, s.agreed, s.pairs, s.within, s.timings, time.Since(start).Seconds())
	for i, f := range s.of {
		fmt.Fprintf(stdout, "lab: %s: %d topologies, %d of %d tables and %d of %d pairs agree\n",
			[...]string{"IPv4", "IPv6"}[i], f.run, f.tables-f.tablesDiffer, f.tables, f.agreed, f.pairs)
	}
	if s.mute > 0 {
		fmt.Fprintf(stdout, "SKIP lab: this kernel has no IP-in-IP: %d pairs were not pinged, the tables were compared\n", s.mute)
	}
	if s.again > 0 {
		fmt.Fprintf(stdout, "lab: %d run twice, since the first run differed\n", s.again)
	}
	if s.failed > 0 {
		fmt.Fprintf(stdout, "lab: %d FAILED\n", s.failed)
		return exitDiffered
	}
	return exitAgreed
}

// row is a result or a timing.
type row interface {
	print(io.Writer)
	add(*sums)
}

type sums struct {
	run, pairs, agreed, mute, again, timings, within, failed int

	of [2]struct{ run, tables, tablesDiffer, pairs, agreed int } // IPv4 and IPv6
}

// rows starts everything in order, some at a time, and sends what is ready.
func (b bench) rows(ctx context.Context, o options) <-chan row {
	rows := make(chan row)
	turn := make(chan struct{}, o.parallel)
	var running sync.WaitGroup
	start := func(run func() row) {
		turn <- struct{}{}
		running.Go(func() {
			defer func() { <-turn }()
			if ctx.Err() == nil {
				rows <- run()
			}
		})
	}
	go func() {
		defer close(rows)
		if o.slow { // minutes of waiting: they take no turn
			for i, e := range events() {
				if e.slow {
					running.Go(func() { rows <- b.time(ctx, e, fmt.Sprintf("t%d", i)) })
				}
			}
		}
		for _, t := range o.chosen() {
			start(func() row { return b.twice(ctx, t) })
		}
		for i, e := range events() {
			if !e.slow && o.times() {
				start(func() row { return b.time(ctx, e, fmt.Sprintf("t%d", i)) })
			}
		}
		running.Wait()
	}()
	return rows
}

func (r result) add(s *sums) {
	s.run++
	s.pairs += r.pairs
	s.agreed += r.agreed
	s.mute += r.mute
	f := &s.of[0]
	if len(r.topology.facts.Pools) > 0 && isSix(&r.topology.facts) {
		f = &s.of[1]
	}
	f.run++
	f.tables, f.tablesDiffer = f.tables+r.machines, f.tablesDiffer+r.tablesDiffer
	f.pairs, f.agreed = f.pairs+r.pairs, f.agreed+r.agreed
	if r.again {
		s.again++
	}
	if r.differs() {
		s.failed++
	}
}

func (m measured) add(s *sums) {
	s.timings++
	if m.within() {
		s.within++
	} else {
		s.failed++
	}
}

// print writes a timing's row: median, least and most.
func (m measured) print(w io.Writer) {
	if m.err == nil && len(m.took) == 0 {
		m.err = errors.New("nothing was measured")
	}
	if m.err != nil {
		fmt.Fprintf(w, "time %-58s FAILED: %v\n", m.event.name, m.err)
		return
	}
	verdict := ""
	if !m.within() {
		verdict = fmt.Sprintf("  DIFFERS by more than %v", m.event.give)
	}
	fmt.Fprintf(w, "time %-58s %8v, %d times from %v to %v; the model says %v%s\n", m.event.name,
		round(m.median()), len(m.took), round(m.took[0]), round(m.took[len(m.took)-1]), m.event.model, verdict)
}

// round leaves three digits.
func round(d time.Duration) time.Duration {
	for unit := time.Nanosecond; ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}

// print writes a result's row, and below it what differed.
func (r result) print(w io.Writer) {
	verdict := ""
	switch {
	case r.err != nil:
		verdict = "FAILED: " + r.err.Error()
	case r.pairs+r.mute == 0:
		verdict = "FAILED: nothing was pinged"
	case r.tablesDiffer > 0, r.agreed < r.pairs:
		verdict = "DIFFERS"
	case r.mute > 0:
		verdict = fmt.Sprintf("SKIP %d pairs: no IP-in-IP here", r.mute)
	case r.again:
		verdict = "agrees in a second run"
	}
	n := func(i int) string { return fmt.Sprint(i) }
	fmt.Fprintf(w, rowFormat, r.topology.id, r.topology.title, n(r.pairs), n(r.agreed), n(r.lost), n(r.either),
		fmt.Sprintf("%.1f", r.took.Seconds()), verdict)
	for _, d := range r.differences {
		fmt.Fprintln(w, "     ", d)
	}
	for _, l := range r.tables {
		fmt.Fprintln(w, "     ", l)
	}
}
