package campaign

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"ipamsim/fuzz/campaign/queue"
)

// part is a stretch of points with what came of them.
type part struct {
	queue.Span
	*queue.Points
}

// lived adds what came of points. Those of two results never overlap: what is
// planned again was not done.
func (s *state) lived(r *queue.Result) {
	s.ran(r)
	if r.Done == 0 || r.Points == nil {
		return
	}
	p := part{queue.Span{From: r.Shard.From, To: r.Shard.From + r.Done}, r.Points}
	at, _ := slices.BinarySearchFunc(s.parts, p.From, func(x part, from uint64) int { return int(int64(x.From - from)) })
	s.parts = slices.Insert(s.parts, at, p)
}

// deliver the points that are done, in the order of their numbers, whenever and by
// whomever they were done.
func (c *coordinator) deliver(ctx context.Context) error {
	if c.Point == nil {
		return nil
	}
	for _, p := range c.state.parts {
		body, err := c.Body(ctx, p.Points)
		if err != nil {
			return err
		}
		r := bytes.NewReader(body)
		for n := p.From; n < p.To; n++ {
			point, err := queue.Unsqueeze(r)
			if err == nil {
				err = c.Point(n, point)
			}
			if err != nil {
				return fmt.Errorf("campaign: point %d: %w", n, err)
			}
		}
	}
	return nil
}

// some of the points of a gap, as many as take a worker pointsTime by what they
// weigh and what those weighed that are done.
func (c *coordinator) some(g queue.Span) queue.Span {
	if c.weighed == 0 {
		g.To = min(g.To, g.From+1) // so that something is known soon
		return g
	}
	per := float64(c.state.busy) / c.weighed
	sum := 0.
	for n := g.From; n < g.To; n++ {
		if sum += c.weight(n) * per; n > g.From && sum > float64(pointsTime) {
			g.To = n
		}
	}
	return g
}

// weight of a point beside the others.
func (c *coordinator) weight(n uint64) float64 {
	if n < uint64(len(c.Weights)) {
		return c.Weights[n]
	}
	return 1
}

// left is how long the points take that are not done, as far as one can tell; 0 if
// one cannot. Between two results it counts down: what is under way is part of it.
func (c *coordinator) left(now time.Time) time.Duration {
	sum := -c.weighed
	for n := range c.Runs {
		sum += c.weight(n)
	}
	speed := float64(max(1, c.Workers)) // before anything is done, as its weight says
	if took := c.latest.at.Sub(c.began.at); took > 0 {
		speed = (c.latest.weight - c.began.weight) / took.Seconds()
	} else if c.Weights == nil {
		return 0
	}
	if speed <= 0 {
		return 0
	}
	return max(0, time.Duration(sum/speed*float64(time.Second))-now.Sub(c.latest.at))
}

// pace is what the points weighed that were done at a time.
type pace struct {
	at     time.Time
	weight float64
}

// weigh what is done.
func (c *coordinator) weigh(s queue.Span) {
	for n := s.From; n < s.To; n++ {
		c.weighed += c.weight(n)
	}
}
