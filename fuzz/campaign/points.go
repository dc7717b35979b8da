package campaign

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// points is what came of points that follow each other: for each some JSON, squeezed
// by itself. What is too long for a message of anybody's NATS lies in the object
// store.
type points struct {
	Body   []byte `json:",omitempty"`
	Object string `json:",omitempty"`
}

// bodyMax is well below the megabyte that a server takes by default, in base64.
const bodyMax = 256 << 10

// bundle for the log what was squeezed. Name is what the object is called, if there
// is one.
func (b *bus) bundle(ctx context.Context, name string, body []byte) (*points, error) {
	if len(body) <= bodyMax {
		return &points{Body: body}, nil
	}
	object := name + "-" + digest(body)
	_, err := b.objects.PutBytes(ctx, object, body)
	return &points{Object: object}, b.wrap(err)
}

// body is what bundle was given.
func (b *bus) body(ctx context.Context, p *points) ([]byte, error) {
	if p.Object == "" {
		return p.Body, nil
	}
	body, err := b.objects.GetBytes(ctx, p.Object)
	return body, b.wrap(err)
}

// squeeze a point. Two that are put together are read one after the other.
func squeeze(point []byte) []byte {
	var b bytes.Buffer
	w := squeezers.Get().(*flate.Writer)
	defer squeezers.Put(w)
	w.Reset(&b)
	_, _ = w.Write(point) // to memory
	_ = w.Close()
	return b.Bytes()
}

// squeezers are a megabyte each.
var squeezers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // which is a level that there is
	return w
}}

// pointMax is far more than a point comes to: what is longer is no point of ours.
const pointMax = 64 << 20

// unsqueeze the next point.
func unsqueeze(r *bytes.Reader) ([]byte, error) {
	point, err := io.ReadAll(io.LimitReader(flate.NewReader(r), pointMax+1))
	if len(point) > pointMax {
		return nil, fmt.Errorf("longer than %d MiB", pointMax>>20)
	}
	return point, err
}

// part is a stretch of points with what came of them.
type part struct {
	span
	*points
}

// lived adds what came of points. Those of two results never overlap: what is
// planned again was not done.
func (s *state) lived(r *Result) {
	s.ran(r)
	if r.Done == 0 || r.Points == nil {
		return
	}
	p := part{span{r.Shard.From, r.Shard.From + r.Done}, r.Points}
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
		body, err := c.body(ctx, p.points)
		if err != nil {
			return err
		}
		r := bytes.NewReader(body)
		for n := p.From; n < p.To; n++ {
			point, err := unsqueeze(r)
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
func (c *coordinator) some(g span) span {
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
func (c *coordinator) weigh(s span) {
	for n := s.From; n < s.To; n++ {
		c.weighed += c.weight(n)
	}
}
