package queue

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"sync"
)

// Points is the results of consecutive points: for each point some JSON, compressed by itself.
// A body that is too long for a NATS message is in the object store.
type Points struct {
	Body   []byte `json:",omitempty"`
	Object string `json:",omitempty"`
}

// BodyMax is, in base64, well below the message limit of a NATS server (1 MiB by default).
const BodyMax = 256 << 10

// Bundle prepares compressed points for the log. Name is the name of the object, if one is needed.
func (b *Bus) Bundle(ctx context.Context, name string, body []byte) (*Points, error) {
	if len(body) <= BodyMax {
		return &Points{Body: body}, nil
	}
	object, err := b.Store(ctx, name, body)
	return &Points{Object: object}, err
}

// Body returns the body that was given to Bundle.
func (b *Bus) Body(ctx context.Context, p *Points) ([]byte, error) {
	if p.Object == "" {
		return p.Body, nil
	}
	return b.Load(ctx, p.Object)
}

// Squeeze compresses a point. Compressed points can be concatenated, see Unsqueeze.
func Squeeze(point []byte) []byte {
	var b bytes.Buffer
	w := squeezers.Get().(*flate.Writer)
	defer squeezers.Put(w)
	w.Reset(&b)
	_, _ = w.Write(point) // to memory
	_ = w.Close()
	return b.Bytes()
}

// squeezers are reused, because each takes a megabyte.
var squeezers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // fails only for an unknown level
	return w
}}

// PointMax is far more than the size of a point: longer data is corrupt.
const PointMax = 64 << 20

// Unsqueeze decompresses the next point.
func Unsqueeze(r *bytes.Reader) ([]byte, error) {
	point, err := io.ReadAll(io.LimitReader(flate.NewReader(r), PointMax+1))
	if len(point) > PointMax {
		return nil, fmt.Errorf("longer than %d MiB", PointMax>>20)
	}
	return point, err
}
