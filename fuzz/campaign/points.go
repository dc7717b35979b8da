package campaign

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"ipamsim/fuzz/campaign/queue"
)

// part is a range of points with their results.
type part struct {
	queue.Span
	*queue.Points
}

// addPoints adds the results of points. The ranges of two results never overlap: points that are
// planned again were not done.
func (s *state) addPoints(r *queue.Result) {
	s.ran(r)
	if r.Done == 0 || r.Points == nil {
		return
	}
	p := part{queue.Span{From: r.Shard.From, To: r.Shard.From + r.Done}, r.Points}
	at, _ := slices.BinarySearchFunc(s.parts, p.From, func(x part, from uint64) int { return int(int64(x.From - from)) })
	s.parts = slices.Insert(s.parts, at, p)
}

// deliver passes the results of all points to Config.Point, in the order of their numbers.
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

// firstOf returns the first points of a gap, as many as take a worker pointsTime, estimated from
// their weights and the time of the points that are done.
func (c *coordinator) firstOf(g queue.Span) queue.Span {
	if c.weighed == 0 {
		g.To = min(g.To, g.From+1) // for a first estimate
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

// weight returns the weight of a point.
func (c *coordinator) weight(n uint64) float64 {
	if n < uint64(len(c.Weights)) {
		return c.Weights[n]
	}
	return 1
}

// left estimates the time for the points that are not done; 0 is unknown. Between two results it
// counts down: the open points are partly done.
func (c *coordinator) left(now time.Time) time.Duration {
	sum := -c.weighed
	for n := range c.Runs {
		sum += c.weight(n)
	}
	speed := float64(max(1, c.Workers)) // by weight, until points are done
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

// pace is the weight of the points that were done by a time.
type pace struct {
	at     time.Time
	weight float64
}

// weigh adds the weight of points that are done.
func (c *coordinator) weigh(s queue.Span) {
	for n := s.From; n < s.To; n++ {
		c.weighed += c.weight(n)
	}
}
