package queue

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"sync"
)

// Points is what came of points that follow each other: for each some JSON, squeezed
// by itself. What is too long for a message of anybody's NATS lies in the object
// store.
type Points struct {
	Body   []byte `json:",omitempty"`
	Object string `json:",omitempty"`
}

// BodyMax is well below the megabyte that a server takes by default, in base64.
const BodyMax = 256 << 10

// Bundle for the log what was squeezed. Name is what the object is called, if there
// is one.
func (b *Bus) Bundle(ctx context.Context, name string, body []byte) (*Points, error) {
	if len(body) <= BodyMax {
		return &Points{Body: body}, nil
	}
	object, err := b.Store(ctx, name, body)
	return &Points{Object: object}, err
}

// Body is what bundle was given.
func (b *Bus) Body(ctx context.Context, p *Points) ([]byte, error) {
	if p.Object == "" {
		return p.Body, nil
	}
	return b.Load(ctx, p.Object)
}

// Squeeze a point. Two that are put together are read one after the other.
func Squeeze(point []byte) []byte {
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

// PointMax is far more than a point comes to: what is longer is no point of ours.
const PointMax = 64 << 20

// Unsqueeze the next point.
func Unsqueeze(r *bytes.Reader) ([]byte, error) {
	point, err := io.ReadAll(io.LimitReader(flate.NewReader(r), PointMax+1))
	if len(point) > PointMax {
		return nil, fmt.Errorf("longer than %d MiB", PointMax>>20)
	}
	return point, err
}
